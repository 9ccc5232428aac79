// The bundle server as it is shipped: built by the project's own script, to which what is compared is held.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../../..');

/** @returns the path of the program; its workers are beside it */
export function buildServer(outdir: string): string {
  const env = { ...process.env, OUT: outdir };
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit', env });
  return join(outdir, 'bundle-server.mjs');
}
