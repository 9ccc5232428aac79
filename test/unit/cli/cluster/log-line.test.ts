// Log lines as a person reads them, and lines from a stream of bytes that is cut anywhere.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLogLine, programLogLines, readLogLine } from '#cli/cluster/log-line.ts';
import * as fc from '../../../support/properties.ts';

const line = (fields: object) =>
  JSON.stringify({ level: 'warn', time: '2026-11-22T19:21:23.456Z', msg: 'refresh failed', ...fields });

test('a line is shown with its time, level, message and fields', () => {
  const read = readLogLine(line({ object: 'docs/docs', reason: 'ServerError', count: 3, message: 'a b' }));
  assert.equal(read?.object, 'docs/docs');
  assert.equal(
    read && formatLogLine(read),
    '2026-11-22T19:21:23Z WARN  refresh failed reason=ServerError count=3 message="a b"',
  );
});

test('a line of another form is not shown', () => {
  for (const text of ['', 'node:internal/modules', '{}', '[]', 'null', '{"time":1}', line({ msg: 5 })]) {
    assert.equal(readLogLine(text), undefined);
  }
});

test('hidden characters are escaped', () => {
  const read = readLogLine(
    line({ object: 'docs/docs', msg: 'a\u001b[2Jb', domain: 'x\u202ey', 'f\u0007': '\u0000' }),
  );
  assert.ok(read);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that must not be there.
  assert.doesNotMatch(formatLogLine(read), /[\u0000-\u001f\u202e]/);
});

test('property: lines do not depend on where the stream is cut', async () => {
  const texts = fc.array(
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', ' ')),
    {
      minLength: 1,
    },
  );
  await fc.assertAsync(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 7 }), async (lines, step) => {
      const bytes = Buffer.from(`${lines.join('\n')}\n`);
      async function* chunks() {
        for (let at = 0; at < bytes.length; at += step) yield bytes.subarray(at, at + step);
      }
      assert.deepEqual(await Array.fromAsync(programLogLines(chunks())), lines);
    }),
  );
});

test('a line longer than 1 MiB is dropped, and the next line is read', async () => {
  async function* chunks() {
    for (let at = 0; at < 40; at += 1) yield Buffer.alloc(64 * 1024, 'x');
    yield Buffer.from('end\nnext\n');
  }
  assert.deepEqual(await Array.fromAsync(programLogLines(chunks())), ['next']);
});
