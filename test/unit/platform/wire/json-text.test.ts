// Text that may be JSON: its value, or undefined. JSON for others: every reader of UTF-8 takes it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonText, readJson, wellFormedText } from '#platform/wire/json-text.ts';
import * as fc from '../../../support/properties.ts';

test('JSON text gives its value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.deepEqual(readJson(text), JSON.parse(text));
    }),
  );
});

test('text that is not JSON, and absent text, give undefined', () => {
  for (const text of [undefined, '', '{', 'nul', '\u0000', "{'a':1}"]) {
    assert.equal(readJson(text), undefined, String(text));
  }
});

test('a name with a half of a surrogate pair is written as UTF-8, too', () => {
  assert.equal(jsonText({ 'a\ud83d': 'b\ud83d', '\\ud83d': 1 }), '{"a\ufffd":"b\ufffd","\\\\ud83d":1}');
});

test('texts of any code units are written as UTF-8 would have them, and others as JSON writes them', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\ud83d', '\ude00', '\\', 'ud83d', '\n', '"', 'é') });
  fc.assert(
    fc.property(
      fc.array(fc.record({ text, more: fc.array(text) })),
      fc.constantFrom(undefined, 2),
      (value, indent) => {
        const written = jsonText(value, indent);
        const read: unknown = JSON.parse(written);
        assert.deepEqual(read, JSON.parse(Buffer.from(JSON.stringify(value)).toString(), wellFormedText));
        assert.equal(JSON.stringify(read, undefined, indent), written);
        // Escapes alone: a backslash of the text is written twice.
        assert.doesNotMatch(written.replaceAll('\\\\', ''), /\\ud/);
        if (!JSON.stringify(value).includes('\\ud'))
          assert.equal(written, JSON.stringify(value, undefined, indent));
      },
    ),
  );
});
