// Documents kept in step with what they describe: commands that exist, links that lead somewhere, and no word
// about the machine or the place where this was written.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { test } from 'node:test';

const root = resolve(import.meta.dirname, '../..');
const tracked = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter(Boolean);
const documents = tracked.filter((file) => file.endsWith('.md') && existsSync(join(root, file)));
const read = (file: string): string => readFileSync(join(root, file), 'utf8');

test('every npm command a document names is a script', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'));
  const missing = documents.flatMap((file) =>
    [...read(file).matchAll(/\bnpm run ([a-z0-9:-]+)/g)]
      .filter(([, script = '']) => scripts[script] === undefined)
      .map(([command]) => `${file}: ${command}`),
  );
  assert.deepEqual(missing, []);
});

test('every relative link in a document leads to a file or folder', () => {
  const broken = documents.flatMap((file) =>
    [...read(file).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)/g)]
      .filter(([, target = '']) => !existsSync(join(root, dirname(file), target)))
      .map(([, target]) => `${file}: ${target}`),
  );
  assert.deepEqual(broken, []);
});

test('every program has its row in the README, and every row its program', () => {
  const programs = tracked
    .filter((file) => /^src\/bin\/.*\.ts$/.test(file) && !/(-worker|-commands|entrypoint)\.ts$/.test(file))
    .map((file) => file.slice('src/bin/'.length, -3));
  const rows = [...read('README.md').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(rows.sort(), programs.sort());
});
