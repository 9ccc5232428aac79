// Framing of a watch: any chunks give the same events, and any invalid bytes give a ClusterError.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readWatchEvents, type WatchEvent } from '#operator/kube/watch/watch-stream.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import * as fc from '../../../../support/properties.ts';

async function* chunksOf(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  let at = 0;
  for (const size of [...sizes, bytes.length]) {
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function read(text: string, sizes: readonly number[] = []): Promise<readonly WatchEvent[]> {
  const events: WatchEvent[] = [];
  for await (const event of readWatchEvents(chunksOf(Buffer.from(text), sizes))) events.push(event);
  return events;
}

const line = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;

test('property: events do not depend on where the stream is cut, in the middle of a character either', async () => {
  const lines = fc.array(
    fc.record({
      type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'),
      note: fc.string({ unit: 'grapheme' }),
    }),
    { maxLength: 6 },
  );
  await fc.assertAsync(
    fc.asyncProperty(lines, fc.array(fc.nat(40), { maxLength: 20 }), async (all, sizes) => {
      const text = all.map(({ type, note }) => line(type, { note })).join('');
      const events = await read(text, sizes);
      assert.deepEqual(
        events,
        all.map(({ type, note }) => ({ type, object: { note } })),
      );
    }),
    { numRuns: 200 },
  );
});

test('a bookmark yields its resourceVersion; an unknown type and a blank line yield nothing', async () => {
  const text = `\n${line('BOOKMARK', { metadata: { resourceVersion: '7' } })}${line('NEWS', {})}`;
  assert.deepEqual(await read(text), [{ type: 'BOOKMARK', resourceVersion: '7' }]);
});

test('an event of an object with too many fields is left out, and those around it are not', async () => {
  const labels = Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`l${at}`, '']));
  const text = [{ a: 1 }, { labels }, { a: 2 }].map((object) => line('MODIFIED', object)).join('');
  let leftOut = 0;
  const events: WatchEvent[] = [];
  const chunks = chunksOf(Buffer.from(text), [100_000, 100_000]);
  for await (const event of readWatchEvents(chunks, () => (leftOut += 1))) events.push(event);
  assert.deepEqual(events, [
    { type: 'MODIFIED', object: { a: 1 } },
    { type: 'MODIFIED', object: { a: 2 } },
  ]);
  assert.equal(leftOut, 1);
});

test('a line that was cut off is not an event', async () => {
  assert.deepEqual(await read(`${line('ADDED', {})}{"type":"ADDED","obj`), [{ type: 'ADDED', object: {} }]);
});

test('an event of the largest object that etcd keeps is read, and one without end is dropped', async () => {
  const note = 'x'.repeat(1_500_000);
  const sizes = Array<number>(200).fill(16_384);
  assert.deepEqual(await read(line('MODIFIED', { note }), sizes), [{ type: 'MODIFIED', object: { note } }]);
  let givenMiB = 0;
  // No longer than this, so that a reader without a bound fails instead of taking all memory.
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (; givenMiB < 64; givenMiB += 1) yield Buffer.alloc(1024 * 1024, 'x');
  }
  await assert.rejects(
    readWatchEvents(endless()).next(),
    (error) => error instanceof ClusterError && /longer than 16 MiB/.test(error.message),
  );
  assert.ok(givenMiB <= 16, `${givenMiB} MiB were taken`);
});

const failures: readonly (readonly [name: string, text: string, code: string])[] = [
  ['an ERROR event with 410', line('ERROR', { kind: 'Status', code: 410, message: 'too old' }), 'Gone'],
  ['an ERROR event of another kind', line('ERROR', { kind: 'Status', code: 500 }), 'Unavailable'],
  ['HTML', '<html>\n', 'Unavailable'],
  ['a list', '[1]\n', 'Unavailable'],
];
for (const [name, text, code] of failures) {
  test(`${name} is ${code}`, async () => {
    await assert.rejects(read(text), (error) => error instanceof ClusterError && error.code === code);
  });
}

test('property: no bytes make it throw anything but a ClusterError', async () => {
  await fc.assertAsync(
    fc.asyncProperty(
      fc.string({ unit: fc.constantFrom('{', '}', '"', 'type', ':', 'ERROR', '\n', 'object', ',') }),
      async (text) => {
        await read(text).catch((error: unknown) => assert.ok(error instanceof ClusterError));
      },
    ),
  );
});
