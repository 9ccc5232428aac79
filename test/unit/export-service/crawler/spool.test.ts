// Bodies on disk: the stored bytes are read back, or an error.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { createSpool } from '#export-service/crawler/spool.ts';
import * as fc from '../../../support/properties.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const textOf = async (chunks: AsyncIterable<Uint8Array>): Promise<string> =>
  Buffer.concat(await Array.fromAsync(chunks)).toString();
const mib = 1024 * 1024;

/** Chunks of one mebibyte, one after the other; `seen` is called before each is made. */
async function* mebibytes(count: number, seen: (at: number) => void = () => {}): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 1) {
    seen(at);
    yield Buffer.alloc(mib, at % 256);
  }
}

test('a body is written to disk as it arrives, and is not kept in memory', async (t) => {
  const folder = temporaryFolder(t);
  const spool = createSpool(folder);
  const onDisk: number[] = [];
  const body = await spool.take(
    mebibytes(20, () => {
      const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
      onDisk.push(sizes.reduce((sum, size) => sum + size, 0) / mib);
    }),
  );
  assert.equal(body.sizeBytes, 20 * mib);
  // All earlier chunks are on the disk when the next one is requested.
  assert.deepEqual(
    onDisk,
    Array.from({ length: 20 }, (_, at) => at),
  );
  assert.deepEqual(readdirSync(folder), [body.sha256]);
  assert.equal(spool.head(body, 3 * mib + 1).at(-1), 3);
  let largest = 0;
  for await (const chunk of spool.read(body)) largest = Math.max(largest, chunk.byteLength);
  assert.ok(largest <= mib);
});

test('a body has its bytes and its hash, however it arrives, also while others do', async (t) => {
  const spool = createSpool(temporaryFolder(t));
  // Around what is held in memory, and beyond it.
  const length = fc.constantFrom(0, 1, 100_000, 256 * 1024 - 1, 256 * 1024, 256 * 1024 + 1, 600_000);
  const cut = fc.integer({ min: 1, max: 300_000 });
  const bodies = fc.array(fc.tuple(length, cut, fc.integer({ min: 0, max: 255 })), {
    minLength: 2,
    maxLength: 4,
  });
  async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += size) {
      await Promise.resolve();
      yield bytes.subarray(at, at + size);
    }
  }
  const property = fc.asyncProperty(bodies, async (shapes) => {
    const wanted = shapes.map(([size, , fill]) => Buffer.alloc(size, fill));
    const taken = await Promise.all(
      wanted.map((bytes, at) => spool.take(inPieces(bytes, shapes[at]?.[1] ?? 1))),
    );
    for (const [at, body] of taken.entries()) {
      const bytes = wanted[at] ?? Buffer.alloc(0);
      assert.deepEqual(body, { sizeBytes: bytes.length, sha256: hash('sha256', bytes, 'hex') });
      assert.ok(bytes.equals(spool.head(body, bytes.length)));
    }
  });
  await fc.assertAsync(property, { numRuns: 30 });
});

test('the head of a small body is all of it', async (t) => {
  const spool = createSpool(temporaryFolder(t));
  const body = await spool.take(mebibytes(1));
  assert.equal(spool.head(body, 2 * mib).byteLength, mib);
});

test('the limit on all bodies ends a body in its middle, and a body that failed does not count', async (t) => {
  const folder = temporaryFolder(t);
  const spool = createSpool(folder, 10 * mib);
  let asked = 0;
  const taking = spool.take(mebibytes(1000, () => (asked += 1)));
  await assert.rejects(taking, { code: 'TooManyBytes' });
  assert.equal(asked, 11);
  async function* breaking(): AsyncGenerator<Uint8Array> {
    yield* mebibytes(9);
    throw new Error('cut off');
  }
  await assert.rejects(spool.take(breaking()), { message: 'cut off' });
  assert.deepEqual(readdirSync(folder), []);
  await spool.take(mebibytes(10));
  await assert.rejects(spool.take(mebibytes(1)), { code: 'TooManyBytes' });
});

test('the same bytes stored twice at once are one file, and can be read', async (t) => {
  const folder = join(temporaryFolder(t), 'created', 'when-needed');
  const spool = createSpool(folder);
  const bodies = await Promise.all([spool.put(Buffer.from('x')), spool.put(Buffer.from('x'))]);
  assert.deepEqual(bodies[0], bodies[1]);
  assert.equal(readdirSync(folder).length, 1);
  assert.equal(await textOf(spool.read(bodies[0])), 'x');
});

test('a body that changed or is missing on the disk is an error with the reason', async (t) => {
  const folder = temporaryFolder(t);
  const spool = createSpool(folder);
  const body = await spool.put(Buffer.from('x'));
  writeFileSync(join(folder, body.sha256), 'y');
  await assert.rejects(textOf(spool.read(body)), { code: 'SpoolFailed', message: /\(its bytes changed\)/ });
  writeFileSync(join(folder, body.sha256), 'xx');
  await assert.rejects(textOf(spool.read(body)), { code: 'SpoolFailed', message: /\(its bytes changed\)/ });
  rmSync(join(folder, body.sha256));
  await assert.rejects(textOf(spool.read(body)), { code: 'SpoolFailed', message: /\(ENOENT\)/ });
  assert.throws(() => spool.head(body, 1), { code: 'SpoolFailed', message: /\(ENOENT\)/ });
});

test('a folder that cannot be made is an error with the system’s code', async (t) => {
  const file = join(temporaryFolder(t), 'file');
  writeFileSync(file, '');
  await assert.rejects(createSpool(join(file, 'below')).put(Buffer.from('x')), {
    code: 'SpoolFailed',
    message: /\(ENOTDIR\)/,
  });
});

test('a body of another crawl is taken without its bytes being written again, and counts', async (t) => {
  const [from, folder] = [temporaryFolder(t), temporaryFolder(t)];
  const body = await createSpool(from).put(Buffer.from('0123456789'));
  const spool = createSpool(folder, 25);
  assert.equal(await spool.takeAgain(body, from), true);
  assert.equal(statSync(join(folder, body.sha256)).ino, statSync(join(from, body.sha256)).ino);
  assert.equal(await spool.takeAgain(body, from), true);
  assert.deepEqual(readdirSync(folder), [body.sha256]);
  rmSync(join(folder, body.sha256));
  writeFileSync(join(folder, body.sha256), 'damaged');
  assert.equal(await createSpool(folder).takeAgain(body, from), true);
  assert.deepEqual(readdirSync(folder), [body.sha256]);
  rmSync(join(from, body.sha256));
  assert.equal(await textOf(spool.read(body)), '0123456789');
  await assert.rejects(spool.takeAgain(body), { code: 'TooManyBytes' });
});

test('a body that is missing or has other bytes is not taken, and does not count', async (t) => {
  const [from, folder] = [temporaryFolder(t), temporaryFolder(t)];
  const body = await createSpool(from).put(Buffer.from('0123456789'));
  const spool = createSpool(folder, 10);
  for (const bytes of ['012345678', '01234567890', '012345678x']) {
    writeFileSync(join(from, body.sha256), bytes);
    assert.equal(await spool.takeAgain(body, from), false, bytes);
  }
  rmSync(join(from, body.sha256));
  assert.equal(await spool.takeAgain(body, from), false);
  assert.equal(await spool.takeAgain(body), false);
  assert.deepEqual(readdirSync(folder), []);
  assert.deepEqual(await spool.take(Readable.from([Buffer.from('0123456789')])), body);
});
