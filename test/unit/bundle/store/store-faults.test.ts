// The store on a volume that fails in parts: what can only be read, cannot be listed or cannot be removed hides no copy
// that can be served, and costs no other one.

import assert from 'node:assert/strict';
import { mkdir, readdir, rm } from 'node:fs/promises';
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

/** A disk where these operations fail on paths that hold this text. */
function faulty(names: readonly (keyof StoreDisk)[], text: string, code: string): StoreDisk {
  const fails = (name: keyof StoreDisk, path: string): boolean => names.includes(name) && path.includes(text);
  return {
    ...systemDisk,
    list: (path) => (fails('list', path) ? failing(code) : systemDisk.list(path)),
    readText: (path) => (fails('readText', path) ? failing(code) : systemDisk.readText(path)),
    rename: (from, to) => (fails('rename', from) ? failing(code) : systemDisk.rename(from, to)),
    remove: (path) => (fails('remove', path) ? failing(code) : systemDisk.remove(path)),
  };
}

test('a leftover that cannot be removed is told, and the store opens', async () => {
  await mkdir(join(dir, '.incoming-of a killed run'));
  await mkdir(join(dir, '.outgoing-y'));
  const told: unknown[] = [];
  const store = await openBundleStore(dir, {
    keep: 2,
    disk: faulty(['remove'], 'of a killed run', 'EROFS'),
    onLeftover: (error) => told.push(error),
  });
  assert.equal(told.length, 1);
  assert.equal(await versionOf(store.lastGood()), 'v2');
  assert.deepEqual(
    (await readdir(dir)).filter((name) => name.startsWith('.')),
    ['.incoming-of a killed run'],
  );
});

const faults: readonly {
  readonly name: string;
  readonly operation: keyof StoreDisk;
  readonly code: string;
}[] = [
  { name: 'whose folder cannot be listed', operation: 'list', code: 'EIO' },
  { name: 'that the file system calls broken', operation: 'readText', code: 'EUCLEAN' },
];
for (const { name, operation, code } of faults) {
  for (const search of ['lastGood', 'lastGoodAtStart'] as const) {
    test(`the version before a copy ${name} is found: ${search}`, async () => {
      const disk = faulty([operation], digests[2] ?? '', code);
      const store = await openBundleStore(dir, { keep: 4, disk, isNeeded: () => true });
      if (code === 'EUCLEAN') await assert.rejects(store[search](), { code: 'StoreUnavailable' });
      assert.equal(await versionOf(store[search](true)), 'v1');
    });
  }
}

test('bad copies that cannot be removed are told, and the version before them is found', async () => {
  const bad: string[] = [];
  const damaged = digests.slice(1);
  const store = await openBundleStore(dir, {
    keep: 4,
    disk: faulty(['rename'], 'bundles', 'EROFS'),
    check: async (_folder, digest) => {
      if (damaged.includes(digest)) return undefined;
      const own = await (await openBundleStore(dir, { keep: 4 })).open(digest);
      await own?.close();
      return own?.index;
    },
    isNeeded: (digest) => digest === digests[2],
    onBadCopy: (_digest, outcome) => bad.push(outcome),
  });
  assert.equal(await versionOf(store.lastGood()), 'v0');
  assert.deepEqual(bad, ['stuck', 'stuck']);
});

test('where no copy is good, the fault of the disk is reported', async () => {
  const store = await openBundleStore(dir, { keep: 4, disk: faulty(['readText'], 'bundles', 'EUCLEAN') });
  await assert.rejects(store.lastGood(true), { code: 'StoreUnavailable' });
  await assert.rejects(store.lastGoodAtStart(true), { code: 'StoreUnavailable' });
});

test('what was set aside is served from where it is, if the volume can only be read', async () => {
  const first = await openBundleStore(dir, { keep: 4, isNeeded: () => true, check: async () => undefined });
  assert.equal(await first.lastGood(), undefined);
  const second = await openBundleStore(dir, { keep: 4, disk: faulty(['rename'], 'damaged-', 'EROFS') });
  assert.equal(await versionOf(second.lastGoodAtStart()), 'v2');
  assert.deepEqual(await readdir(join(dir, 'bundles')), []);
});

test('a bad copy that cannot be moved does not hide one of the same content that was set aside', async () => {
  const first = await openBundleStore(dir, { keep: 4, isNeeded: () => true, check: async () => undefined });
  const [digest = ''] = digests;
  assert.equal(await first.open(digest), undefined);
  await putBundle(dir, { 'index.html': 'v0' });
  for (const one of digests) await rm(join(dir, 'bundles', one, 'pack'));
  const disk = faulty(['rename'], 'bundles', 'EROFS');
  const second = await openBundleStore(dir, { keep: 4, disk, isNeeded: () => true });
  const served = await second.lastGoodAtStart();
  assert.equal(served?.activation?.version, 'v0');
  await second.forgetDamaged(digest);
  await second.activate(digest, { version: 'v0', activatedAt: 9 });
  await second.sweep();
  await served?.close();
  assert.equal(await versionOf(second.lastGoodAtStart()), 'v0', 'it is still there');
});

test('a copy is opened although the list of activations cannot be read', async () => {
  const store = await openBundleStore(dir, { keep: 4, disk: faulty(['readText'], 'current', 'EUCLEAN') });
  const [digest = ''] = digests;
  const bundle = await store.open(digest);
  assert.equal(bundle?.index.digest, digest);
  await bundle.close();
});

test('what was set aside stays until a start would find the proven bundle', async () => {
  const store = await openBundleStore(dir, {
    keep: 4,
    isNeeded: () => true,
    check: async () => undefined,
  });
  assert.equal(await store.lastGood(), undefined);
  const aside = async (): Promise<number> =>
    (await readdir(dir)).filter((name) => name.startsWith('damaged-')).length;
  const { digest } = await putBundle(dir, { 'index.html': 'v3' });
  await store.forgetDamaged(digest);
  assert.equal(await aside(), 3, 'it is not recorded');
  await store.activate(digest, { version: 'v3', activatedAt: 9 });
  await store.forgetDamaged(digest);
  assert.equal(await aside(), 0);
});

test('a copy that cannot be removed keeps no other one in a full store', async () => {
  const disk = faulty(['rename'], digests[0] ?? '', 'EIO');
  const store = await openBundleStore(dir, { keep: 1, disk });
  assert.equal(await store.dropFormer(digests.slice(2)), 1);
  await assert.rejects(store.dropFormer(digests.slice(2)), { code: 'StoreUnavailable' });
  await assert.rejects(store.sweep(), { code: 'StoreUnavailable' });
  assert.deepEqual((await readdir(join(dir, 'bundles'))).sort(), [digests[0], digests[2]].sort());
});

for (const { name, operation, code } of faults) {
  test(`content takes the place of a copy of it ${name}`, async () => {
    const [digest = ''] = digests;
    const broken = join('bundles', digest);
    let isBroken = true;
    const disk = faulty([operation], broken, code);
    await putBundle(
      dir,
      { 'index.html': 'v0' },
      {
        ...disk,
        rename: async (from, to) => {
          await systemDisk.rename(from, to);
          if (from.endsWith(broken)) isBroken = false;
        },
      },
    );
    assert.equal(isBroken, false, 'the copy that cannot be read is out of the way');
    const store = await openBundleStore(dir, { keep: 4 });
    assert.equal(await versionOf(store.open(digest)), 'v0');
  });
}

test('new content is committed although the bad copy of it cannot be removed', async () => {
  const [digest = ''] = digests;
  await rm(join(dir, 'bundles', digest, 'pack'));
  await putBundle(dir, { 'index.html': 'v0' }, faulty(['rename', 'remove'], 'damaged-', 'EIO'));
  const store = await openBundleStore(dir, { keep: 4 });
  assert.equal(await versionOf(store.open(digest)), 'v0');
});
