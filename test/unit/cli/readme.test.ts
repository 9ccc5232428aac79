// The README of the command line names every command, exit code and kind of document, and nothing else.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { commands } from '../../../src/cli/commands.ts';
import { exitCodes } from '../../../src/cli/exit-code.ts';

const folder = resolve(import.meta.dirname, '../../../src/cli');
const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const rowsOf = (heading: string): readonly string[] =>
  (readme.split(`## ${heading}\n`)[1] ?? '')
    .split('\n## ')[0]
    ?.match(/^\|[^|]+(?=\|)/gm)
    ?.slice(2) ?? [];
const cells = (heading: string): readonly string[] =>
  rowsOf(heading).map((row) => row.replaceAll(/[|`]/g, '').trim());

test('every exit code has its row', () => {
  const listed = cells('Exit codes').flatMap((cell) => cell.split(', ').map(Number));
  assert.deepEqual(listed, Object.values(exitCodes));
});

test('every kind of document has its row', () => {
  const kinds = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [...readFileSync(join(folder, name), 'utf8').matchAll(/\bkind: '([A-Z][A-Za-z]+)'/g)])
    .map(([, kind]) => kind ?? '');
  assert.deepEqual(cells('Output').toSorted(), [...new Set(kinds)].sort());
});

test('every command of archives is named', () => {
  for (const { words } of commands) assert.ok(readme.includes(`\`${words}`), words);
});
