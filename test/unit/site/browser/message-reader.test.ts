// Messages of a browser's pipe: whole ones, in whatever pieces they come, and none beyond the bound.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMessageReader } from '#site/browser/message-reader.ts';
import * as fc from '../../../support/properties.ts';

test('messages are the same in whatever pieces they come', () => {
  const message = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'));
  const bounds = fc.array(fc.nat(400), { maxLength: 10 });
  fc.assert(
    fc.property(fc.array(message, { maxLength: 10 }), bounds, (messages, cuts) => {
      const bytes = Buffer.from(messages.map((text) => `${text}\0`).join(''));
      const { read } = createMessageReader();
      const found: string[] = [];
      let from = 0;
      for (const cut of [...cuts.filter((one) => one < bytes.length).sort((a, b) => a - b), bytes.length]) {
        found.push(...read(bytes.subarray(from, cut)));
        from = cut;
      }
      assert.deepEqual(found, messages);
    }),
  );
});

test('a message beyond the bound is passed over, and the next one is read', () => {
  const { read } = createMessageReader(4);
  assert.deepEqual(read(Buffer.from(['12345', 'abcd', '123'].join('\0'))), ['abcd']);
  assert.deepEqual(read(Buffer.from('45')), []);
  assert.deepEqual(read(Buffer.from(['6', 'ok', ''].join('\0'))), ['ok']);
});
