import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eachNearTerm, positionOf, rangeOfPrefix } from '#site/search/term-lists.ts';
import * as fc from '../../../support/properties.ts';

const word = fc.string({ unit: fc.constantFrom(...'abcé漢'), maxLength: 7 });
const terms = fc
  .uniqueArray(word, { maxLength: 60 })
  .map((list): readonly string[] => list.toSorted((a, b) => (a < b ? -1 : 1)));

/** Letters that are added, left out or replaced, by the definition. */
function distanceBetween(one: string, other: string): number {
  if (one === '' || other === '') return one.length + other.length;
  const [first, second] = [one.slice(1), other.slice(1)];
  if (one[0] === other[0]) return distanceBetween(first, second);
  return (
    1 + Math.min(distanceBetween(first, second), distanceBetween(one, second), distanceBetween(first, other))
  );
}

test('a term is found where it stands, and the terms with a beginning are one range', () => {
  fc.assert(
    fc.property(terms, word, (list, wanted) => {
      assert.equal(positionOf(list, wanted), list.indexOf(wanted));
      const { from, to } = rangeOfPrefix(list, wanted);
      assert.deepEqual(
        list.slice(from, to),
        list.filter((term) => term.startsWith(wanted)),
      );
    }),
    { numRuns: 500 },
  );
});

test('the terms near a word are those within the distance', () => {
  fc.assert(
    fc.property(terms, word, fc.integer({ min: 1, max: 2 }), (list, wanted, most) => {
      const found: (readonly [string | undefined, number])[] = [];
      eachNearTerm(list, wanted, most, (at, distance) => found.push([list[at], distance]));
      assert.deepEqual(
        found,
        list
          .map((term) => [term, distanceBetween(term, wanted)] as const)
          .filter(([, distance]) => distance <= most),
      );
    }),
    { numRuns: 500 },
  );
});
