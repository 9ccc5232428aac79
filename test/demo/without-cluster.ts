// The demo on a machine that cannot run a control plane: the program's own `demo`, from its sources. Owns the choice between
// the two, and the end of the process that it starts.

import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const program = join(import.meta.dirname, '../../src/bin/static-export.ts');
/** As for the build of the control plane. */
const usualGo = '/usr/local/go/bin';

/** Why the demo with a cluster cannot run; `undefined` if it can. */
export function missingForCluster(
  context: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  isExecutable: (file: string) => boolean = canExecute,
): string | undefined {
  if (context !== undefined || (env['KUBEBUILDER_ASSETS'] ?? '') !== '') return undefined;
  const folders = [...(env['PATH'] ?? '').split(delimiter), usualGo].filter((folder) => folder !== '');
  if (folders.some((folder) => isExecutable(join(folder, 'go')))) return undefined;
  return 'Go is not installed: this demo runs without a cluster. With Go 1.25 or newer, or with KUBEBUILDER_ASSETS, it runs on a real API server.';
}

function canExecute(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Resolves with the exit code. The child has the terminal, and so gets its Ctrl-C itself. */
export function runWithoutCluster(isOnce: boolean): Promise<number> {
  const child = spawn(process.execPath, [program, 'demo', ...(isOnce ? ['--once'] : [])], {
    stdio: 'inherit',
  });
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}
