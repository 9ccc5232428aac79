// The crawler's README names every code and reason that a user can meet, and none that do not exist.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import * as traps from '../../../fixtures/sites/trap-site.ts';

const folder = resolve(import.meta.dirname, '../../../../src/export-service/crawler');
const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const source = readdirSync(folder, { encoding: 'utf8', recursive: true })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n');

/** Names in the first cells of the tables under a heading. */
function listed(heading: string): readonly string[] {
  const section = readme.split(`## ${heading}`)[1]?.split('\n## ')[0] ?? '';
  const cells = [...section.matchAll(/^\| ([^|]*) \|/gm)].map(([, cell = '']) => cell);
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)(?:<n>)?`/g)].map(([, name = '']) => name));
}

test('every error code is in the table of ends, and nothing else is', () => {
  const union = /type CrawlErrorCode =([\s\S]*?);/.exec(source)?.[1] ?? '';
  const codes = [...union.matchAll(/'(\w+)'/g)].map(([, code = '']) => code);
  assert.ok(codes.length > 10);
  assert.deepEqual(listed('What ends it').toSorted(), codes.toSorted());
});

test('every reason to leave something out is in its table, and the source knows each of the table’s', () => {
  const reasons = listed('What is left out, by name');
  const used = source.matchAll(/(?:reason: |reason(?:: string)? = |leaveOut\((?:[^,]+, )?)'(\w+)'/g);
  for (const [, reason = ''] of used) assert.ok(reasons.includes(reason), reason);
  for (const [, reason] of traps.skipped) assert.ok(reasons.includes(reason), reason);
  for (const reason of reasons) {
    assert.ok(source.includes(`'${reason}'`) || source.includes(`\`${reason}$`), reason);
  }
});
