// Whose turn it is: the more urgent first, and in the end everybody's.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fairAfter, Turns } from '../../../../src/operator/queue/turns.ts';

const levels = ['first', 'second', 'third'] as const;
type Level = (typeof levels)[number];
const round = fairAfter + 1;

const play = (turns: Turns<Level>, waits: (level: Level) => boolean): Level | undefined => {
  const level = turns.next(waits);
  if (level !== undefined) turns.note(level, waits);
  return level;
};

test('where nobody waits nobody has a turn, and one who waits alone has all of them', () => {
  const turns = new Turns(levels);
  assert.equal(
    play(turns, () => false),
    undefined,
  );
  for (let turn = 0; turn < 3 * fairAfter; turn += 1)
    assert.equal(
      play(turns, (level) => level === 'second'),
      'second',
    );
  assert.equal(
    play(turns, () => true),
    'first',
    'turns that nobody waited below of owe nothing',
  );
});

test('eight turns of the most urgent, one of those below, and among these it is the same', () => {
  const turns = new Turns(levels);
  const taken = Array.from({ length: 2 * 81 }, () => play(turns, () => true));
  assert.deepEqual(
    taken.flatMap((level, index) => (level === 'first' ? [] : [index % round])),
    Array.from({ length: 18 }, () => fairAfter),
  );
  assert.deepEqual(
    taken.flatMap((level, index) => (level === 'third' ? [index] : [])),
    [80, 161],
  );
});

test('property: who waits all the while has a turn within 81, whoever else comes and goes', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...levels),
      fc.array(fc.subarray([...levels]), { minLength: 1, maxLength: 12 }),
      (patient, pattern) => {
        const turns = new Turns(levels);
        let since = 0;
        for (let turn = 0; turn < 500; turn += 1) {
          const others = pattern[turn % pattern.length] ?? [];
          since =
            play(turns, (level) => level === patient || others.includes(level)) === patient ? 0 : since + 1;
          assert.ok(since < round ** 2, `${patient} waited ${since} turns`);
        }
      },
    ),
  );
});
