// Instants as services write them, as a table.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { readForeignInstant } from '#export-api/instants.ts';
import * as fc from '../../support/properties.ts';

const newYear = Date.UTC(2026, 0, 1);

test('an instant is read from every form that services use, and a missing zone is UTC', () => {
  const rows: readonly (readonly [unknown, number | undefined])[] = [
    ['2026-01-01T00:00:00Z', newYear],
    ['2026-01-01T00:00:00.000Z', newYear],
    ['2026-01-01T01:00:00+01:00', newYear],
    ['2026-01-01T00:00:00', newYear],
    ['2026-01-01 00:00:00', newYear],
    ['2026-01-01T00:00', newYear],
    ['2026-01-01', newYear],
    ['Thu, 01 Jan 2026 00:00:00 GMT', newYear],
    [newYear / 1000, newYear],
    [newYear, newYear],
    [String(newYear / 1000), newYear],
    [String(newYear), newYear],
    ['tomorrow', undefined],
    ['2026-13-45', undefined],
    ['1', undefined],
    ['', undefined],
    [0, undefined],
    [-5, undefined],
    [Number.NaN, undefined],
    [1e300, undefined],
    [null, undefined],
    [{}, undefined],
  ];
  for (const [value, at] of rows) assert.equal(readForeignInstant(value), at, inspect(value));
});

test('for any value an instant is undefined, or valid for a Date', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double(), fc.jsonValue()), (value) => {
      const at = readForeignInstant(value);
      assert.ok(at === undefined || !Number.isNaN(new Date(at).getTime()));
    }),
  );
});

const eleven = Date.UTC(2026, 10, 21, 11);

/** Each is 11:00 in UTC, said with a zone or without. */
const writtenEleven = [
  '2026-11-21T11:00:00',
  '2026-11-21t11:00:00',
  '2026-11-21t11:00:00z',
  '2026-11-21  11:00:00',
  '2026-11-21 11:00:00 UTC',
  '2026-11-21T11:00:00,000',
  '2026-11-21T06:00:00-05',
  '2026-11-21T06:00:00-0500',
  '2026-11-21 12:00:00 +01:00',
  'Sat, 21 Nov 2026 11:00:00',
  'Sat, 21 Nov 2026 11:00:00 GMT',
  'Sat, 21 Nov 2026 11:00:00 UT',
  'Sat, 21 Nov 2026 12:00:00 +0100',
  'Sat, 21 Nov 2026 12:00:00 GMT+0100 (Central European Standard Time)',
  'Sat, 21 Nov 2026 06:00:00 EST',
  'Saturday, 21-Nov-2026 11:00:00',
  'Saturday, 21-Nov-26 11:00:00 GMT',
  'Sat Nov 21 11:00:00 2026',
];
const openDay = ['2026-11-21', 'Saturday, 21-Nov-2026', 'Sat, 21 Nov 2026', 'Sat, 21 Nov 2026 ()'];

test("the machine's own zone changes no instant", () => {
  const strangeTexts = fc.sample(
    fc
      .array(
        fc.constantFrom(...'Sat, |21|Nov|2026|-11-21|T|11:00|:00| |GMT|+0100|(|)|Z|PM|-|.5|CET'.split('|')),
      )
      .map((parts) => `${parts.length % 2 === 0 ? 'Sat, ' : '2026-11-21'}${parts.join('')}`),
    { numRuns: 2000, seed: 1 },
  );
  const module = (name: string): string => new URL(`../../../src/${name}.ts`, import.meta.url).href;
  const script = `
    import { readForeignInstant } from '${module('export-api/instants')}';
    import { serverDateOf } from '${module('platform/http/exchange')}';
    const texts = JSON.parse(await new Response(process.stdin).text());
    const answered = serverDateOf({ headers: { date: 'Sat, 21 Nov 2026 11:00:00' } });
    process.stdout.write(JSON.stringify([...texts.map((text) => readForeignInstant(text) ?? null), answered]));
  `;
  const texts = [...writtenEleven, ...openDay, ...strangeTexts];
  const read = (zone: string): unknown =>
    JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
        env: { ...process.env, TZ: zone },
        input: JSON.stringify(texts),
        encoding: 'utf8',
      }),
    );
  const expected = [...writtenEleven.map(() => eleven), ...openDay.map(() => Date.UTC(2026, 10, 21))];
  const [west, east] = [read('America/New_York'), read('Asia/Kolkata')];
  assert.ok(Array.isArray(west));
  for (const [index, at] of expected.entries()) assert.equal(west[index], at, texts[index]);
  assert.equal(west.at(-1), eleven, 'a Date header without its zone');
  assert.deepEqual(west, east);
});
