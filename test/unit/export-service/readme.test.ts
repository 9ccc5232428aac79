// The README's table has every flag of the program with its default, and no others.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { exportServiceProgram } from '#export-service/program.ts';
import { flagName } from '#platform/runtime/flags/flags.ts';

const readme = readFileSync(join(import.meta.dirname, '../../../src/export-service/README.md'), 'utf8');

/** Flags and defaults of the table; a row may hold several of both. */
const documented = new Map(
  [...readme.matchAll(/^\| (`--[^|]+) \| ([^|]+) \|/gm)].flatMap(([, flags = '', defaults = '']) => {
    const values = defaults.split(',').map((text) => text.trim());
    return [...flags.matchAll(/`--([a-z-]+)`/g)].map(
      ([, flag = ''], index) => [flag, values[index] ?? ''] as const,
    );
  }),
);

test('the table has every flag of the program and no others', () => {
  const flags = [...Object.keys(exportServiceProgram.flags).map(flagName), 'log-level'];
  assert.deepEqual([...documented.keys()].toSorted(), flags.toSorted());
});

test('the table has each default', () => {
  for (const [key, flag] of Object.entries(exportServiceProgram.flags)) {
    const said = documented.get(flagName(key));
    if (flag.isRequired) assert.equal(said, 'required', key);
    else if (flag.defaultText) assert.equal(said, `\`${flag.defaultText}\``, key);
    else assert.doesNotMatch(said ?? '', /`|required/, key);
  }
});
