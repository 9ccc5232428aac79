// The README of the command line names every command, exit code and kind of document, and nothing else.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { commands } from '#bin/static-export-commands.ts';
import { exitCodes } from '#cli/exit-code.ts';
import { documentSchemasOf } from '#cli/output/document-schemas.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const documentSchemas = await documentSchemasOf(commands);
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

test('every kind of document has its row and its schema', () => {
  const kinds = globSync(join(folder, '../{cli,conversations}/**/*.ts'))
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bkind: '([A-Z][A-Za-z]+)'/g)])
    .map(([, kind]) => kind ?? '');
  assert.deepEqual(cells('Output').toSorted(), [...new Set(kinds)].sort());
  assert.deepEqual([...documentSchemas.keys()].sort(), [...new Set(kinds)].sort());
});

test('the row of a kind names every field of its schema', () => {
  const rows = readme.matchAll(/^\| `([A-Z][A-Za-z]+)` \|[^|]*\|([^|]*)\|$/gm);
  for (const [, kind = '', cell = ''] of rows) {
    const fields = Object.keys(documentSchemas.get(kind)?.shape ?? {}).slice(2);
    const named = [...cell.matchAll(/`([A-Za-z]+)`/g)].map(([, name]) => name);
    const isLikeItem = cell.includes('the fields of an item');
    assert.deepEqual(
      fields.filter((name) => !named.includes(name) && !isLikeItem),
      [],
      kind,
    );
  }
});

test('the lines that install completion work in an account without its folders', (t) => {
  const home = temporaryFolder(t);
  const lines = (readme.split('## Completion\n')[1] ?? '').split('```sh\n')[1]?.split('```')[0] ?? '';
  const script = `set -e\nstatic-export() { echo "script of $2"; }\n${lines}`;
  const { status, stderr } = spawnSync('bash', ['-c', script], { env: { ...process.env, HOME: home } });
  assert.equal(status, 0, String(stderr));
  for (const [shell, path] of [
    ['bash', '.local/share/bash-completion/completions/static-export'],
    ['zsh', '.zfunc/_static-export'],
    ['fish', '.config/fish/completions/static-export.fish'],
  ] as const)
    assert.equal(readFileSync(join(home, path), 'utf8'), `script of ${shell}\n`);
});

test('every command of archives is named', () => {
  for (const { words } of commands) assert.ok(readme.includes(`\`${words}`), words);
});
