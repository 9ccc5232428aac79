// The memory for bodies: bounded, least recently used first to go, one read however many ask.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { createBodyCache } from '../../../src/site/body-cache.ts';

test('many who ask at once cost one read, and the next one none', async () => {
  const cache = createBodyCache(1000);
  let reads = 0;
  const read = async (): Promise<Buffer> => {
    reads += 1;
    return Buffer.from('body');
  };
  await Promise.all([cache.load('a', read), cache.load('a', read), cache.load('a', read)]);
  assert.equal(reads, 1);
  assert.equal(cache.get('a')?.toString(), 'body');
});

test('a read that fails is not remembered', async () => {
  const cache = createBodyCache(1000);
  await assert.rejects(
    cache.load('a', () => Promise.reject(new Error('disk'))),
    /disk/,
  );
  assert.equal((await cache.load('a', async () => Buffer.from('x'))).toString(), 'x');
});

test('what was used longest ago goes first', async () => {
  const cache = createBodyCache(8);
  const put = (name: string): Promise<Buffer> => cache.load(name, async () => Buffer.alloc(2));
  for (const name of ['a', 'b', 'c', 'd']) await put(name);
  cache.get('a');
  await put('e');
  assert.deepEqual(
    ['a', 'b', 'c', 'd', 'e'].filter((name) => cache.get(name) !== undefined),
    ['a', 'c', 'd', 'e'],
  );
});

test('the budget holds for any sequence, and a large file is never held', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(100),
      fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e'), size: fc.nat(60) })),
      async (budget, loads) => {
        const cache = createBodyCache(budget);
        for (const { name, size } of loads) {
          await cache.load(`${name}${size}`, async () => Buffer.alloc(size));
          assert.ok(cache.heldBytes() <= budget);
          if (size > cache.maxEntryBytes) assert.equal(cache.get(`${name}${size}`), undefined);
        }
      },
    ),
  );
});
