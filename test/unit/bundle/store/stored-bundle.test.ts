// Reading from a pack whose files are still being checked: no byte is handed out that was not verified, and nothing is
// hashed twice.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { BundleFile, BundleIndex } from '#bundle/bundle-index.ts';
import {
  bundleDamaged,
  createRunningCheck,
  type RunningCheck,
  trustUnlessLost,
} from '#bundle/store/pending-check.ts';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { openPack, type PackedBytes, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import { putBundle } from '../../../support/store-builder.ts';

let dir: string;
let index: BundleIndex;
let pack: string;
let check: RunningCheck;
let bundle: StoredBundle;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'stored-'));
  index = await putBundle(dir, { 'a.html': 'the first', 'b.html': 'the second', 'c.html': 'the third' });
  pack = join(bundleFolder(dir, index.digest), 'pack');
  // The second file is damaged.
  await writeFile(pack, 'the firstthe s?condthe third');
  check = createRunningCheck();
  bundle = await openPack(pack, index, undefined, check);
});
afterEach(async () => {
  await bundle.close();
  await rm(dir, { recursive: true, force: true });
});

const fileAt = (at: number): BundleFile => index.files[at] ?? assert.fail();
const partOf = ({ offset, size }: BundleFile): PackedBytes => ({ offset: offset + 1, size: size - 1 });

/** Both ways of reading, which have to agree. */
async function read(file: PackedBytes): Promise<string> {
  const into = Buffer.alloc(file.size);
  const outcome = await bundle.readInto(file, into).then(
    () => into.toString(),
    (error: unknown) => error,
  );
  const again = Buffer.alloc(file.size);
  try {
    bundle.readIntoSync(file, again);
    assert.equal(again.toString(), outcome);
    return again.toString();
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error && outcome instanceof Error, String(outcome));
    assert.deepEqual(error, outcome);
    return String(error.code);
  }
}

test('before the check has come there, an intact file is read whole and a damaged one is not', async () => {
  assert.deepEqual(
    [await read(fileAt(0)), await read(fileAt(1)), await read(fileAt(2))],
    ['the first', 'BundleDamaged', 'the third'],
  );
});

test('the start of a file waits for no check, and may be what a damaged disk gives', async () => {
  const start = Buffer.alloc(3);
  await bundle.readStart(fileAt(0), start);
  assert.equal(start.toString(), 'the');
  await bundle.readStart(fileAt(1), start);
  await assert.rejects(bundle.readStart(fileAt(0), Buffer.alloc(fileAt(0).size + 1)), RangeError);
});

test('a part of a file waits for the check, because it has no hash of its own', async () => {
  const part = partOf(fileAt(0));
  assert.throws(() => bundle.readIntoSync(part, Buffer.alloc(part.size)), { code: 'BundleDamaged' });
  let isRead = false;
  const reading = read(part).then((text) => {
    isRead = true;
    return text;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(isRead, false);
  assert.notEqual(bundle.untilProven(fileAt(0)), undefined);
  check.advance(fileAt(1).offset);
  assert.equal(await reading, 'he first');
  assert.equal(bundle.untilProven(fileAt(0)), undefined);
  assert.notEqual(bundle.untilProven(fileAt(1)), undefined);
});

test('after damage was found, intact files are read and the damaged one and its parts never are', async () => {
  check.advance(fileAt(1).offset);
  check.fail(bundleDamaged());
  await assert.rejects(bundle.proven(), { code: 'BundleDamaged' });
  assert.deepEqual(
    [await read(fileAt(0)), await read(fileAt(1)), await read(fileAt(2)), await read(partOf(fileAt(1)))],
    ['the first', 'BundleDamaged', 'the third', 'BundleDamaged'],
  );
  await assert.rejects(bundle.untilProven(fileAt(2)) ?? assert.fail(), { code: 'BundleDamaged' });
});

test('a check that goes on behind damage gives back the intact files and their parts', async () => {
  check.damage(fileAt(1));
  check.advance(fileAt(2).offset + fileAt(2).size);
  check.fail(bundleDamaged());
  const parts = [0, 1, 2].map((at) => partOf(fileAt(at)));
  assert.deepEqual(await Promise.all(parts.map(read)), ['he first', 'BundleDamaged', 'he third']);
  assert.equal(await read(fileAt(1)), 'BundleDamaged');
  assert.equal(bundle.untilProven(fileAt(2)), undefined);
});

test('what the disk failed to store is hashed at each read', async () => {
  await bundle.close();
  const { promise, reject } = Promise.withResolvers<never>();
  bundle = await openPack(pack, index, undefined, trustUnlessLost(promise));
  assert.equal(await read(fileAt(1)), 'the s?cond');
  reject(bundleDamaged());
  await assert.rejects(bundle.proven(), { code: 'BundleDamaged' });
  assert.deepEqual([await read(fileAt(0)), await read(fileAt(1))], ['the first', 'BundleDamaged']);
});

test('what the check has proven is not hashed again', async () => {
  // Changed behind the check's back: only a second hash could tell.
  check.advance(fileAt(2).offset);
  assert.equal(await read(fileAt(1)), 'the s?cond');
  check.finish();
  await bundle.proven();
  assert.equal(await read(fileAt(1)), 'the s?cond');
  assert.equal(await read(partOf(fileAt(1))), 'he s?cond');
});

test('without a check the files are trusted, as those of a copy that was verified before', async () => {
  await bundle.close();
  bundle = await openPack(pack, index, undefined);
  await bundle.proven();
  assert.equal(bundle.untilProven(fileAt(1)), undefined);
  assert.equal(await read(fileAt(1)), 'the s?cond');
});
