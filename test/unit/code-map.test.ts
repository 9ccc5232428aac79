// The two tables of src/mechanisms.md that name tests: a mechanism or a format whose test is gone has no proof.

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(import.meta.dirname, '../..');
const document = readFileSync(join(root, 'src/mechanisms.md'), 'utf8');
const files = globSync('test/**/*.ts', { cwd: root });
const simulated = globSync('test/simulation/**/*.ts', { cwd: root }).map((file) =>
  readFileSync(join(root, file), 'utf8'),
);

/** The names of tests in one column, counted from the end: `site/peers`, `fast-path/*`, or a trouble of the simulation. */
function namesIn(heading: string, column: number): readonly string[] {
  const section = document.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const rows = section
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| mechanism |'));
  return rows.flatMap((row) => {
    const cell = row.split(' | ').at(column) ?? '';
    return [...cell.matchAll(/`([\w/*-]+)`/g)].map(([, name = '']) => name);
  });
}

const isThere = (name: string): boolean => {
  const path = name.replace(/\/\*$/, '');
  const isFile = files.some((file) => `/${file}`.endsWith(`/${path}.test.ts`) || file.includes(`/${path}/`));
  return isFile || simulated.some((text) => new RegExp(`\\b${path}\\b`).test(text));
};

for (const [heading, column, least] of [
  ['Standard formats without a library', -1, 20],
  ['Ledger of mechanisms', -2, 80],
] as const) {
  test(`every test that "${heading}" names is there`, () => {
    const names = namesIn(heading, column);
    assert.ok(names.length >= least, `${names.length} names`);
    assert.deepEqual(
      names.filter((name) => !isThere(name)),
      [],
    );
  });
}
