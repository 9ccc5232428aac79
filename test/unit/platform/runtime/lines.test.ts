// Lines of a stream of bytes, wherever it is cut into chunks.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLines } from '#platform/runtime/lines.ts';
import * as fc from '../../../support/properties.ts';

async function* chunksOf(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
}
const refuse = (lineNumber: number): Error => new Error(`line ${lineNumber}`);

test('the lines of a text do not depend on its chunks, and text after the last newline is not a line', async () => {
  await fc.assertAsync(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 6 }),
      fc.array(fc.nat(9), { maxLength: 20 }),
      async (texts, sizes) => {
        const bytes = Buffer.from(texts.join('\n'));
        const expected = bytes.toString().split('\n').slice(0, -1);
        assert.deepEqual(await Array.fromAsync(readLines(chunksOf(bytes, sizes), 1000, refuse)), expected);
      },
    ),
  );
});

test('a line at the limit is read, and a longer line is refused with its number', async () => {
  const read = (text: string): Promise<string[]> =>
    Array.fromAsync(readLines(chunksOf(Buffer.from(text), [2, 2]), 4, refuse));
  assert.deepEqual(await read('a\nabcd\n'), ['a', 'abcd']);
  await assert.rejects(read('a\nabcde\n'), { message: 'line 2' });
});
