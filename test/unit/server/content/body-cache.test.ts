// The memory for bodies: bounded, the oldest first to go, one read however many ask, and nothing written over a body
// that somebody sends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type BodyCache,
  type BodyPart,
  createBodyCache,
  defaultBodyBudget,
} from '#server/content/body-cache.ts';
import * as fc from '../../../support/properties.ts';

const mib = 1024 * 1024;

/** Twice, because what was asked for once only passes. */
function keep(cache: BodyCache, key: string, body: Buffer): void {
  for (const _ of [1, 2]) cache.loadAtOnce(key, body.length, (into) => void body.copy(into));
}

const textOf = (cache: BodyCache, key: string): string | undefined => cache.get(key)?.bytes.toString();

test('many requests at once cost one read, and a file requested again is kept', async () => {
  const cache = createBodyCache(1000);
  let reads = 0;
  const read = async (into: Buffer): Promise<void> => {
    reads += 1;
    into.write('body');
  };
  const bodies = await Promise.all([1, 2, 3].map(() => cache.load('a', 4, read)));
  for (const body of bodies) body.release();
  assert.equal(reads, 1);
  (await cache.load('a', 4, read)).release();
  assert.equal(textOf(cache, 'a'), 'body');
});

test('a read that fails is not remembered, waited for or not', async () => {
  const cache = createBodyCache(1000);
  await assert.rejects(
    cache.load('a', 1, () => Promise.reject(new Error('disk'))),
    /disk/,
  );
  assert.throws(
    () =>
      cache.loadAtOnce('a', 1, () => {
        throw new Error('disk');
      }),
    /disk/,
  );
  assert.equal(cache.get('a'), undefined);
  const body = await cache.load('a', 1, async (into) => void into.write('x'));
  assert.equal(body.bytes.toString(), 'x');
});

test('the oldest goes first, and what was asked for since stays', () => {
  const cache = createBodyCache(8);
  const put = (name: string): void => keep(cache, name, Buffer.from(name));
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) put(name);
  cache.get('a');
  put('i');
  const held = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].filter((name) => cache.get(name) !== undefined);
  assert.deepEqual(held, ['a', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
  for (const name of held) assert.equal(textOf(cache, name), name);
});

test('a file requested once is not kept, and is kept at the second request', () => {
  const cache = createBodyCache(mib);
  const load = (): string => cache.loadAtOnce('a', 1, (into) => void into.write('a')).bytes.toString();
  assert.equal(load(), 'a');
  assert.equal(cache.get('a'), undefined);
  assert.equal(cache.heldBytes(), 0);
  assert.equal(load(), 'a');
  assert.equal(textOf(cache, 'a'), 'a');
});

test('a crawler of the whole site evicts nothing', () => {
  const cache = createBodyCache(mib);
  keep(cache, 'hot', Buffer.alloc(1000, 'h'));
  for (let at = 0; at < 20_000; at += 1) cache.loadAtOnce(`${at}`, 1000, (into) => into.fill('2'));
  for (let at = 0; at < 20_000; at += 1) cache.loadAtOnce(`${at}`, 1000, (into) => into.fill('2'));
  assert.ok(cache.get('hot')?.bytes.equals(Buffer.alloc(1000, 'h')));
});

/** Requests each file once. @returns how many were in memory */
function requestAll(cache: BodyCache, files: number): number {
  let hits = 0;
  for (let at = 0; at < files; at += 1) {
    if (cache.get(`${at}`) === undefined) cache.loadAtOnce(`${at}`, 1000, (into) => into.fill('2'));
    else hits += 1;
  }
  return hits;
}

test('a large site that has room is kept whole, although no file comes again before all others', () => {
  const cache = createBodyCache(64 * mib);
  const hits = [1, 2, 3].map(() => requestAll(cache, 10_000));
  assert.deepEqual(hits, [0, 0, 10_000]);
});

test('of a site that has no room, requested in turn, a part stays instead of each file driving out the next', () => {
  const cache = createBodyCache(4 * mib);
  for (const _ of [1, 2, 3, 4]) requestAll(cache, 10_000);
  assert.ok(requestAll(cache, 10_000) > 3000);
});

test('a body that passes does not change while it is held', () => {
  const cache = createBodyCache(mib);
  const body = cache.loadAtOnce('a', 10, (into) => into.fill('a'));
  const { held } = body.toSend(0, 10);
  held.hold();
  const next = cache.loadAtOnce('b', 10, (into) => into.fill('b'));
  assert.equal(body.bytes.toString(), 'a'.repeat(10));
  assert.equal(next.bytes.toString(), 'b'.repeat(10));
  held.release();
});

test('a file larger than the most for one is refused', () => {
  const cache = createBodyCache(8);
  assert.throws(() => cache.loadAtOnce('a', cache.maxEntryBytes + 1, () => {}), RangeError);
});

test('a body that is held does not change, however much comes after it', async () => {
  const cache = createBodyCache(mib);
  (await cache.load('first', 1000, async () => {})).release();
  const body = await cache.load('first', 1000, async (into) => void into.fill('1'));
  const copy = Buffer.from(body.bytes);
  for (let at = 0; at < 3000; at += 1) keep(cache, `${at}`, Buffer.alloc(1000, '2'));
  assert.equal(cache.get('first'), undefined);
  assert.ok(body.bytes.equals(copy));
  body.release();
});

test('what is read into late, after its block has gone, is sent and not remembered', async () => {
  const cache = createBodyCache(mib);
  const { promise, resolve } = Promise.withResolvers<void>();
  (await cache.load('late', 1000, async () => {})).release();
  const loading = cache.load('late', 1000, async (into) => {
    await promise;
    into.fill('l');
  });
  for (let at = 0; at < 3000; at += 1) keep(cache, `${at}`, Buffer.alloc(1000, '2'));
  resolve();
  const body = await loading;
  assert.ok(body.bytes.equals(Buffer.alloc(1000, 'l')));
  assert.equal(cache.get('late'), undefined);
  body.release();
});

test('for any sequence the budget holds, and a body is what was read', async () => {
  const step = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
    size: fc.nat(60),
    isWaited: fc.boolean(),
  });
  await fc.assertAsync(
    fc.asyncProperty(fc.nat(400), fc.array(step, { maxLength: 60 }), async (budget, steps) => {
      const cache = createBodyCache(budget);
      const sent: { readonly name: string; readonly bytes: Buffer }[] = [];
      for (const { name, size, isWaited } of steps) {
        const key = `${name}${size}`;
        if (size > cache.maxEntryBytes) {
          assert.equal(cache.get(key), undefined);
          continue;
        }
        const found = cache.get(key);
        const read = (into: Buffer): void => void into.fill(name);
        const body =
          found ??
          (isWaited
            ? await cache.load(key, size, async (into) => read(into))
            : cache.loadAtOnce(key, size, read));
        // Whoever came by waiting holds it to the end.
        if (found === undefined && isWaited) sent.push({ name, bytes: body.bytes });
        assert.ok(body.bytes.equals(Buffer.alloc(size, name)));
        assert.ok(cache.heldBytes() <= budget);
      }
      for (const { name, bytes } of sent) assert.ok(bytes.equals(Buffer.alloc(bytes.length, name)));
    }),
  );
});

/** All memory that is kept by these parts, once each. */
function keptBytes(parts: readonly Buffer[]): number {
  return [...new Set(parts.map(({ buffer }) => buffer))].reduce((sum, { byteLength }) => sum + byteLength, 0);
}

test('many slow readers keep half the budget of blocks, and beyond that what they requested', () => {
  const budget = 8 * mib;
  const cache = createBodyCache(budget);
  const size = 100_000;
  const readers: { readonly fill: number; readonly sent: BodyPart }[] = [];
  for (let at = 0; at < 300; at += 1) {
    for (let more = 0; more < 10; more += 1) keep(cache, `${at}/${more}`, Buffer.alloc(size, at));
    const sent = (cache.get(`${at}/9`) ?? assert.fail()).toSend(0, size);
    sent.held.hold();
    readers.push({ fill: at, sent });
  }
  const kept = keptBytes(readers.map(({ sent }) => sent.part));
  assert.ok(kept <= budget / 2 + readers.length * 128 * 1024, `${kept} bytes are kept`);
  for (const { fill, sent } of readers) assert.ok(sent.part.equals(Buffer.alloc(size, fill)));
  assert.ok(
    cache.heldBytes() <= budget && cache.heldBytes() > budget / 4,
    'and the memory goes on as before',
  );
  for (const { sent } of readers) sent.held.release();
  const body = cache.get('299/9') ?? assert.fail();
  assert.equal(body.toSend(0, size).part, body.bytes, 'once they have left, nothing is copied');
});

test('for any readers, what is sent to them does not change, and no more is kept for them than the bound', () => {
  const step = fc.record({
    name: fc.nat(255),
    size: fc.integer({ min: 1, max: 4000 }),
    start: fc.nat(3999),
    leaving: fc.option(fc.nat(), { freq: 2 }),
  });
  const budget = 16_000;
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 200 }), (steps) => {
      const cache = createBodyCache(budget);
      const readers: { readonly fill: number; readonly sent: BodyPart; readonly isCopy: boolean }[] = [];
      for (const { name, size, start: wanted, leaving } of steps) {
        const key = `${name}/${size}`;
        keep(cache, key, Buffer.alloc(size, name));
        const body = cache.get(key) ?? assert.fail();
        const start = wanted % size;
        const sent = body.toSend(start, size);
        sent.held.hold();
        readers.push({ fill: name, sent, isCopy: sent.part.buffer !== body.bytes.buffer });
        if (leaving !== null) readers.splice(leaving % readers.length, 1)[0]?.sent.held.release();
        const shared = readers.filter(({ isCopy }) => !isCopy).map(({ sent: { part } }) => part);
        assert.ok(keptBytes(shared) <= budget / 2);
        for (const reader of readers) {
          assert.ok(reader.sent.part.equals(Buffer.alloc(reader.sent.part.length, reader.fill)));
        }
      }
    }),
  );
});

test('without a flag the budget is a quarter of the memory, from 32 to 256 MiB', () => {
  const budgets = [64, 128, 512, 1024, 4096].map((limit) => defaultBodyBudget(limit * mib) / mib);
  assert.deepEqual(budgets, [32, 32, 128, 256, 256]);
});
