// Parts of a long text: in a row they give the whole, each within its limit, and none breaks a character.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partOf } from '#site/mcp/page-part.ts';
import * as fc from '../../../support/properties.ts';

test('parts in a row give the whole text, each within its limit and of whole characters', () => {
  const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', 'é', '日', '😀', 'word '), maxLength: 400 });
  fc.assert(
    fc.property(text, fc.integer({ min: 2, max: 60 }), (whole, most) => {
      const parts: string[] = [];
      for (let from: number | undefined = 0; from !== undefined; ) {
        const part = partOf(whole, from, most);
        assert.equal(part.from, from);
        assert.ok(part.text.length <= most && part.text.isWellFormed());
        assert.ok(part.next === undefined || part.next > from);
        parts.push(part.text);
        from = part.next;
      }
      assert.equal(parts.join(''), whole);
    }),
    { numRuns: 1000 },
  );
});

test('a part ends behind a line where one ends near its limit, else behind a word', () => {
  assert.equal(partOf(`${'a'.repeat(90)}\n${'b'.repeat(50)}`, 0, 100).text, `${'a'.repeat(90)}\n`);
  assert.equal(partOf(`${'a'.repeat(90)} ${'b'.repeat(50)}`, 0, 100).text, `${'a'.repeat(90)} `);
  assert.equal(partOf(`a\n${'b'.repeat(150)}`, 0, 100).text.length, 100);
});

test('a position beyond the end gives an empty part, and one within a character begins before it', () => {
  assert.deepEqual(partOf('abc', 10, 5), { text: '', from: 3, next: undefined });
  assert.equal(partOf('a😀b', 2, 5).text, '😀b');
});
