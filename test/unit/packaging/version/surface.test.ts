// Names that are gone need a line of the changelog: tables of names before, names now and lines, with what is missing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseSurface, surfaceText, unexplainedRemovals } from '../../../../packaging/version/surface.ts';

const removed = (text: string) => ({ heading: 'Removed', area: undefined, text });
const changed = (text: string) => ({ heading: 'Changed', area: undefined, text });
const added = (text: string) => ({ heading: 'Added', area: undefined, text });

interface Row {
  readonly why: string;
  readonly before: readonly string[];
  readonly now: readonly string[];
  readonly lines?: readonly ReturnType<typeof removed>[];
  readonly missing?: readonly string[];
}

const flags: readonly Row[] = [
  { why: 'nothing changed', before: ['operator --a'], now: ['operator --a'] },
  { why: 'an added name needs no line', before: [], now: ['operator --a'] },
  { why: 'a removed one needs a line', before: ['operator --a'], now: [], missing: ['--a'] },
  { why: 'under Removed', before: ['operator --a'], now: [], lines: [removed('`--a` of `operator`.')] },
  { why: 'not under Added', before: ['operator --a'], now: [], lines: [added('`--a`')], missing: ['--a'] },
  {
    why: 'not a longer name',
    before: ['operator --a'],
    now: [],
    lines: [removed('`--a-b`')],
    missing: ['--a'],
  },
  {
    why: 'not the end of a name',
    before: ['operator --a'],
    now: [],
    lines: [removed('`x--a`')],
    missing: ['--a'],
  },
  {
    why: 'a renamed one may be under Changed, with its new name',
    before: ['operator --a'],
    now: ['operator --b'],
    lines: [changed('`--a` is `--b` now.')],
  },
  {
    why: 'Changed without the new name is not enough',
    before: ['operator --a'],
    now: ['operator --b'],
    lines: [changed('`--a` changes its default.')],
    missing: ['--a'],
  },
  {
    why: 'Changed with a name that was there before is not enough',
    before: ['operator --a', 'operator --b'],
    now: ['operator --b'],
    lines: [changed('`--a` works as `--b`.')],
    missing: ['--a'],
  },
  {
    why: 'a flag that another program still has needs a line too',
    before: ['operator --a', 'bundle-server --a'],
    now: ['operator --a'],
    missing: ['--a'],
  },
  {
    why: 'a removed command explains its flags',
    before: ['static-export kit send --to', 'static-export kit send --key', 'static-export kit read --to'],
    now: ['static-export kit read --to'],
    lines: [removed('`static-export kit send`: use `kit read`.')],
  },
  {
    why: 'a command that is still there explains nothing',
    before: ['static-export run --a', 'static-export run --b'],
    now: ['static-export run --b'],
    lines: [removed('An option of `static-export run`.')],
    missing: ['--a'],
  },
];

const paths: readonly Row[] = [
  { why: 'a removed field', before: ['spec.a.b', 'spec.a.c'], now: ['spec.a.c'], missing: ['spec.a.b'] },
  { why: 'with its path', before: ['spec.a.b'], now: [], lines: [removed('`.spec.a.b`')] },
  { why: 'with brackets of a list', before: ['spec.a.b'], now: [], lines: [removed('`spec.a[].b`')] },
  {
    why: 'by the object that is gone as a whole',
    before: ['spec.a.b', 'spec.a.c'],
    now: ['spec.d'],
    lines: [removed('`spec.a`')],
  },
  {
    why: 'not by an object that is still there',
    before: ['spec.a.b', 'spec.a.c'],
    now: ['spec.a.c'],
    lines: [removed('Parts of `spec.a`.')],
    missing: ['spec.a.b'],
  },
  {
    why: 'not by a path that goes on',
    before: ['spec.a'],
    now: [],
    lines: [removed('`spec.a.b`')],
    missing: ['spec.a'],
  },
  {
    why: 'not by the end of a path',
    before: ['a.b'],
    now: [],
    lines: [removed('`spec.a.b`')],
    missing: ['a.b'],
  },
  {
    why: 'a value of one chart',
    before: ['x image.tag', 'y image.tag'],
    now: ['y image.tag'],
    missing: ['image.tag'],
  },
];

for (const [kind, rows] of [
  ['flags', flags],
  ['fields', paths],
] as const) {
  for (const { why, before, now, lines = [], missing = [] } of rows) {
    test(`${kind}: ${why}: ${missing.length === 0 ? 'no fault' : `${missing} needs a line`}`, () => {
      const found = unexplainedRemovals(kind, before, now, lines);
      assert.deepEqual(
        found.map((fault) => /name (\S+) in a line under "### Removed"/.exec(fault)?.[1]),
        missing,
      );
    });
  }
}

test('a list is sorted, has each name once, and is read as it was written', () => {
  const text = surfaceText(['b', 'a', 'b']);
  assert.equal(text, 'a\nb\n');
  assert.deepEqual(parseSurface(text), ['a', 'b']);
  assert.deepEqual(parseSurface(surfaceText([])), []);
});
