// The store on a volume that fails in parts: what can only be read, cannot be listed or cannot be removed hides no copy
// that can be served, and costs no other one.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { type BundleStore, openBundleStore } from '../../../../src/bundle/store/store.ts';
import { type StoreDisk, systemDisk } from '../../../../src/bundle/store/store-disk.ts';
import { putBundle } from '../../../support/store-builder.ts';

let dir = '';
/** Digests of three bundles, activated one after another. */
let digests: readonly string[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'store-'));
  const store = await openBundleStore(dir, { keep: 4 });
  const put: string[] = [];
  for (const version of ['v0', 'v1', 'v2']) {
    const { digest } = await putBundle(dir, { 'index.html': version });
    await store.activate(digest, { version, activatedAt: put.length });
    put.push(digest);
  }
  digests = put;
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const failing = (code: string): Promise<never> => Promise.reject(Object.assign(new Error(code), { code }));

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

async function versionOf(found: ReturnType<BundleStore['lastGood']>): Promise<string | undefined> {
  const bundle = await found;
  await bundle?.close();
  return bundle?.activation?.version;
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

test('a fault of the list is reported where its copy leads to nothing, and what only the list may name stays', async () => {
  await writeFile(join(dir, 'current.copy'), '[]');
  const store = await openBundleStore(dir, {
    keep: 4,
    disk: withoutList((path) => path.endsWith('current')),
  });
  await assert.rejects(store.lastGood(true), { code: 'StoreUnavailable' });
  assert.equal(await store.dropFormer([]), 0);
  assert.deepEqual((await readdir(join(dir, 'bundles'))).sort(), [...digests].sort());
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

test('on a full volume the copy of a damaged list stays', async () => {
  await writeFile(join(dir, 'current'), 'damaged');
  const store = await openBundleStore(dir, { keep: 4, disk: fullVolume() });
  await assert.rejects(store.activate(digests[0] ?? '', { version: 'v0', activatedAt: 9 }), {
    code: 'StoreFull',
  });
  assert.equal(await versionOf(store.lastGood()), 'v2');
});
