// Builds the programs into dist unless they are there already, built from exactly these sources: several stages of the tests
// need them.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { contentsOf } from '../extended/contents.ts';

const root = resolve(import.meta.dirname, '../..');
const stamp = join(root, 'dist/built-from.json');
const sources = ['src', '.ci', 'package.json', 'package-lock.json', 'tsconfig.json'];

const now = JSON.stringify({ ...contentsOf(sources), node: process.version });
if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== now) {
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
  if (status === 0) writeFileSync(stamp, now);
  process.exitCode = status ?? 1;
}
