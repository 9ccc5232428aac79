// The list of activations where the disk does not give it, or has no room for it: no whole bundle is hidden, no order is lost.

import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { openBundleStore } from '#bundle/store/store.ts';
import { type StoreDisk, systemDisk } from '#bundle/store/store-disk.ts';
import { putBundle } from '../../../support/store-builder.ts';
import { failing, putThreeVersions, versionOf } from './three-versions.ts';

let dir = '';
let digests: readonly string[] = [];
beforeEach(async () => {
  ({ dir, digests } = await putThreeVersions());
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A disk that does not give the list of activations, or not the copy of the list either. */
function withoutList(isLost: (path: string) => boolean): StoreDisk {
  return {
    ...systemDisk,
    readText: (path) => (isLost(path) ? failing('EUCLEAN') : systemDisk.readText(path)),
  };
}

test('a list that the disk does not give is read from its copy, and replaced', async () => {
  let isLost = true;
  const disk = withoutList((path) => isLost && path.endsWith('current'));
  const store = await openBundleStore(dir, {
    keep: 4,
    disk: {
      ...disk,
      rename: async (from, to) => {
        await disk.rename(from, to);
        if (to.endsWith('current')) isLost = false;
      },
    },
  });
  await assert.rejects(store.lastGood(), { code: 'StoreUnavailable' });
  assert.equal(await versionOf(store.lastGood(true)), 'v2');
  assert.equal(await versionOf(store.lastGoodAtStart(true)), 'v2');
  assert.equal(await store.dropFormer(digests.slice(1)), 1);
  await store.activate(digests[1] ?? '', { version: 'v1', activatedAt: 9 });
  assert.equal(await versionOf(store.lastGood()), 'v1');
  assert.deepEqual(await store.former(), digests.slice(2));
});

test('with an empty copy of the list, a whole bundle is found and none is removed', async () => {
  await writeFile(join(dir, 'current.copy'), '[]');
  const store = await openBundleStore(dir, {
    keep: 4,
    disk: withoutList((path) => path.endsWith('current')),
  });
  const bundle = await store.lastGood(true);
  await bundle?.close();
  assert.ok(digests.includes(bundle?.index.digest ?? ''));
  assert.equal(await store.dropFormer([]), 0);
  assert.deepEqual((await readdir(join(dir, 'bundles'))).sort(), [...digests].sort());
});

test('where the folder of bundles cannot be listed, the copy of the list still leads to one', async () => {
  const lost = withoutList((path) => path.endsWith('current'));
  const disk: StoreDisk = {
    ...lost,
    list: (path) => (path.endsWith('bundles') ? failing('EIO') : systemDisk.list(path)),
  };
  const store = await openBundleStore(dir, { keep: 4, disk });
  assert.equal(await versionOf(store.lastGood(true)), 'v2');
});

test('a bundle without pages that only the list may name is looked for again', async () => {
  for (const digest of digests) await rm(join(dir, 'bundles', digest), { recursive: true });
  const { digest } = await putBundle(dir, { 'style.css': 'body {}' });
  const whole = await openBundleStore(dir, { keep: 4 });
  await whole.activate(digest, { version: 'v3', activatedAt: 9 });
  const store = await openBundleStore(dir, {
    keep: 4,
    disk: withoutList((path) => path.includes('current')),
  });
  await assert.rejects(store.lastGood(true), { code: 'StoreUnavailable' });
  assert.equal(await versionOf(whole.lastGood()), 'v3');
});

test('the copy of the list is never older than the list', async () => {
  const [digest = ''] = digests;
  const disk: StoreDisk = {
    ...systemDisk,
    rename: (from, to) => (to.endsWith('current') ? failing('EROFS') : systemDisk.rename(from, to)),
  };
  const store = await openBundleStore(dir, { keep: 4, disk });
  await assert.rejects(store.activate(digest, { version: 'v0', activatedAt: 9 }), {
    code: 'StoreUnavailable',
  });
  const [first] = JSON.parse(await readFile(join(dir, 'current.copy'), 'utf8'));
  assert.equal(first.digest, digest);
  assert.equal(await versionOf(store.lastGood()), 'v2');
});

test('after a momentary fault of the list and its copy the order is read again', async () => {
  let reads = 0;
  const disk = withoutList((path) => {
    if (path.includes('current')) reads += 1;
    return path.includes('current') && reads <= 2;
  });
  const store = await openBundleStore(dir, { keep: 4, disk });
  assert.equal(await versionOf(store.lastGood(true)), 'v2');
});

test('without the list and its copy any whole bundle is found, and the order is not replaced', async () => {
  const disk = withoutList((path) => path.includes('current'));
  const store = await openBundleStore(dir, { keep: 4, disk });
  const bundle = await store.lastGood(true);
  await bundle?.close();
  assert.ok(digests.includes(bundle?.index.digest ?? ''));
  await assert.rejects(store.activate(digests[0] ?? '', { version: 'v0', activatedAt: 9 }), {
    code: 'StoreUnavailable',
  });
  assert.equal(await versionOf((await openBundleStore(dir, { keep: 4 })).lastGood()), 'v2');
});

test('a list that can be read only once gives the bundle its version', async () => {
  let reads = 0;
  const disk = withoutList((path) => {
    if (path.includes('current')) reads += 1;
    return path.includes('current') && reads > 1;
  });
  const store = await openBundleStore(dir, { keep: 4, disk });
  assert.equal(await versionOf(store.lastGood()), 'v2');
});

/** A volume with room for one more list once the copy of the list is gone. */
function fullVolume(): StoreDisk {
  return {
    ...systemDisk,
    writeText: async (path, text) => {
      const isFull = (await readdir(dir)).includes('current.copy');
      return isFull ? failing('ENOSPC') : systemDisk.writeText(path, text);
    },
  };
}

test('on a full volume the copy of the list gives its room to the list', async () => {
  const store = await openBundleStore(dir, { keep: 4, disk: fullVolume() });
  await store.activate(digests[0] ?? '', { version: 'v0', activatedAt: 9 });
  assert.equal(await versionOf(store.lastGood()), 'v0');
  assert.ok((await readdir(dir)).includes('current.copy'));
});

test('on a volume without room for the copy the list alone is enough', async () => {
  let writes = 0;
  const disk: StoreDisk = {
    ...fullVolume(),
    writeText: async (path, text) => {
      writes += 1;
      const isFull = writes > 4 || (await readdir(dir)).includes('current.copy');
      return isFull ? failing('ENOSPC') : systemDisk.writeText(path, text);
    },
  };
  const store = await openBundleStore(dir, { keep: 4, disk });
  await store.activate(digests[0] ?? '', { version: 'v0', activatedAt: 9 });
  assert.equal(await versionOf(store.lastGood()), 'v0');
});

test('on a full volume the copy of a damaged list stays', async () => {
  await writeFile(join(dir, 'current'), 'damaged');
  const store = await openBundleStore(dir, { keep: 4, disk: fullVolume() });
  await assert.rejects(store.activate(digests[0] ?? '', { version: 'v0', activatedAt: 9 }), {
    code: 'StoreFull',
  });
  assert.equal(await versionOf(store.lastGood()), 'v2');
});
