// Builds the programs into dist unless they are there already, built from exactly these sources: several stages of the tests
// need them. One process builds; others wait. `npm run build` removes the stamp before anything else.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { contentsOf } from '../extended/contents.ts';
import { whileLocked } from './file-lock.ts';

const root = resolve(import.meta.dirname, '../..');
const dist = join(root, 'dist');
const stamp = join(dist, 'built-from.json');
const sources = ['src', '.ci', 'package.json', 'package-lock.json', 'tsconfig.json'];

const now = JSON.stringify({ ...contentsOf(sources), node: process.version });
mkdirSync(dist, { recursive: true });
let isShown = false;
await whileLocked(
  join(dist, 'build.lock'),
  async () => {
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === now) return;
    const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
    if (status === 0) writeFileSync(stamp, now);
    process.exitCode = status ?? 1;
  },
  () => {
    if (!isShown) process.stderr.write('Another process is building the programs.\n');
    isShown = true;
  },
);
