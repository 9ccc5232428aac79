// The store on a real disk: what is committed, what is current, what is kept, and that every load proves it.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { BeginCheck } from '#bundle/store/checking.ts';
import { bundleDamaged, createRunningCheck } from '#bundle/store/pending-check.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import { checkBundle } from '#bundle/store/store-check.ts';
import { type StoreDisk, systemDisk } from '#bundle/store/store-disk.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import * as fc from '../../../support/properties.ts';
import { putBundle, readText } from '../../../support/store-builder.ts';
import { words } from '../../../support/words.ts';

/** A disk that really syncs takes minutes for the property's hundreds of steps when others sync too. */
const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
let dir = '';
beforeEach(async () => {
  dir = await mkdtemp(join(base, 'store-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const site = (word: string) => ({ 'index.html': `home ${word}`, 'a/b.css': 'b', 'empty.txt': '' });
const activation = (activatedAt: number) => ({ version: `v${activatedAt}`, activatedAt });

test('a bundle is found by its digest, and is current only after it was activated', async () => {
  const store = await openBundleStore(dir, { keep: 2 });
  assert.equal(await store.lastGood(), undefined);
  const index = await putBundle(dir, site('one'));
  const prepared = await store.open(index.digest);
  assert.deepEqual(prepared?.index, index);
  assert.equal(prepared?.activation, undefined);
  assert.equal(await store.lastGood(), undefined);

  await store.activate(index.digest, activation(5));
  const current = await store.lastGood();
  assert.deepEqual(current?.index, index);
  assert.deepEqual(current?.activation, activation(5));
  await Promise.all([prepared?.close(), current?.close()]);
});

test('a version may be unknown', async () => {
  const store = await openBundleStore(dir, { keep: 2 });
  const { digest } = await putBundle(dir, site('one'));
  await store.activate(digest, { version: undefined, activatedAt: 1 });
  const current = await store.lastGood();
  assert.deepEqual(current?.activation, { version: undefined, activatedAt: 1 });
  await current?.close();
});

test('a file is read whole into a buffer of its size, and not after the end', async () => {
  const store = await openBundleStore(dir, { keep: 2 });
  const index = await putBundle(dir, site('one'));
  const bundle = await store.open(index.digest);
  assert.ok(bundle !== undefined);
  const file = index.files.find(({ path }) => path === 'index.html');
  const empty = index.files.find(({ path }) => path === 'empty.txt');
  assert.ok(file !== undefined && empty !== undefined);
  assert.equal(readText(bundle, file), 'home one');
  assert.equal(readText(bundle, empty), '');
  await bundle.readInto(empty, Buffer.alloc(0));
  for (const size of [0, 7, 9]) {
    await assert.rejects(bundle.readInto(file, Buffer.alloc(size)), RangeError);
    assert.throws(() => bundle.readIntoSync(file, Buffer.alloc(size)), RangeError);
  }
  const part = Buffer.alloc(3);
  await bundle.readInto({ offset: file.offset + 5, size: 3 }, part);
  assert.equal(part.toString(), 'one');
  const whole = Buffer.alloc(file.size);
  const reading = bundle.readInto(file, whole);
  await bundle.close();
  await bundle.close();
  await reading;
  assert.equal(whole.toString(), 'home one');
  await assert.rejects(bundle.readInto(file, whole), /closed/);
  assert.throws(() => readText(bundle, file), /closed/);
});

test('a bundle that is being read survives its removal', async () => {
  const store = await openBundleStore(dir, { keep: 1 });
  const old = await putBundle(dir, site('old'));
  await store.activate(old.digest, activation(1));
  const reader = await store.lastGood();
  const next = await putBundle(dir, site('next'));
  await store.activate(next.digest, activation(2));
  await store.sweep();
  assert.deepEqual(await readdir(join(dir, 'bundles')), [next.digest]);
  const file = reader?.index.files.find(({ path }) => path === 'index.html');
  assert.ok(reader !== undefined && file !== undefined);
  assert.equal(readText(reader, file), 'home old');
  await reader.close();
});

test('sweep keeps the current bundle and the newest others, which are listed newest first', async () => {
  const store = await openBundleStore(dir, { keep: 3 });
  const digests: string[] = [];
  for (const [at, word] of ['a', 'b', 'c', 'd'].entries()) {
    const { digest } = await putBundle(dir, site(word));
    digests.push(digest);
    await store.activate(digest, activation(at + 1));
  }
  await putBundle(dir, site('never activated'));
  const [a = '', b = '', c = '', d = ''] = digests;
  await store.activate(b, activation(9));
  await store.sweep();
  assert.deepEqual((await readdir(join(dir, 'bundles'))).sort(), [b, c, d].sort());
  assert.deepEqual(await store.former(), [d, c]);
  assert.equal(await store.open(a), undefined);
});

test('where the current bundle is damaged, the newest of the others that is whole is the last good one', async () => {
  const removed: string[] = [];
  const store = await openBundleStore(dir, { keep: 4, onBadCopy: (digest) => removed.push(digest) });
  const digests: string[] = [];
  for (const [at, word] of ['one', 'two', 'three', 'four'].entries()) {
    const { digest } = await putBundle(dir, site(word));
    digests.push(digest);
    if (word !== 'four') await store.activate(digest, activation(at));
  }
  const [one = '', two = '', three = ''] = digests;
  const lastGood = async (): Promise<string | undefined> => {
    const bundle = await store.lastGood();
    await bundle?.close();
    return bundle?.index.digest;
  };
  assert.equal(await lastGood(), three);
  for (const digest of [three, two]) await writeFile(join(dir, 'bundles', digest, 'pack'), 'damaged');
  assert.equal(await lastGood(), one);
  assert.deepEqual(removed, [three, two]);
  await writeFile(join(dir, 'bundles', one, 'pack'), 'damaged');
  assert.equal(await lastGood(), undefined, 'a bundle that was never activated is not served');
});

/** Flips one bit. */
async function damage(digest: string): Promise<void> {
  const path = join(dir, 'bundles', digest, 'pack');
  const pack = await readFile(path);
  pack.writeUInt8(pack.readUInt8(2) ^ 1, 2);
  await writeFile(path, pack);
}

/** As a server begins: it is served when the index and the size are good. */
const begin: BeginCheck = async (folder, digest) => {
  const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<BeginCheck>>>();
  const check = createRunningCheck();
  const onIndex = async (index: BundleIndex): Promise<void> => resolve({ index, check });
  const steps = { onIndex, onProven: check.advance, onDamaged: check.damage };
  const found = await checkBundle(folder, digest, systemDisk, steps);
  if (found === undefined) check.fail(bundleDamaged());
  else check.finish();
  resolve(undefined);
  return promise;
};

const names = async (prefix: string): Promise<readonly string[]> =>
  (await readdir(dir)).filter((name) => name.startsWith(prefix));

test('a damaged copy that may be the last one is set aside, and a start without another bundle serves it', async () => {
  const bad: string[] = [];
  const reopen = () =>
    openBundleStore(dir, {
      keep: 2,
      begin,
      isNeeded: () => true,
      onBadCopy: (digest, outcome) => bad.push(`${outcome} ${digest}`),
    });
  const { digest } = await putBundle(dir, site('one'));
  const first = await reopen();
  await first.activate(digest, activation(1));
  await damage(digest);
  assert.equal(await first.open(digest), undefined);
  assert.equal(await first.open(digest), undefined, 'nothing is left to check');
  assert.deepEqual(bad, [`kept ${digest}`]);
  assert.deepEqual(await readdir(join(dir, 'bundles')), [], 'no other server is offered it');
  assert.equal(await first.dropFormer([]), 0, 'it may be the last one');

  const second = await reopen();
  assert.equal(await second.lastGood(), undefined, 'it is not good');
  const kept = await second.lastGoodAtStart();
  assert.deepEqual([kept?.index.digest, kept?.activation], [digest, activation(1)]);
  await assert.rejects(kept?.proven() ?? assert.fail(), { code: 'BundleDamaged' });
  await kept?.close();
  assert.equal(await second.lastGood(), undefined);
  assert.deepEqual(bad, [`kept ${digest}`, `kept ${digest}`]);

  const next = await putBundle(dir, site('two'));
  await second.activate(next.digest, activation(2));
  const good = await second.lastGoodAtStart();
  assert.equal(good?.index.digest, next.digest, 'a good one comes first');
  await good?.close();
  await second.sweep();
  assert.deepEqual(await names('damaged-'), []);
});

test('a copy that could not be read for a while is whole again at the next start', async () => {
  const { digest } = await putBundle(dir, site('one'));
  const first = await openBundleStore(dir, { keep: 2, isNeeded: () => true, check: async () => undefined });
  await first.activate(digest, activation(1));
  assert.equal(await first.open(digest), undefined);
  assert.deepEqual(await names('damaged-'), [`damaged-${digest}`]);
  const second = await openBundleStore(dir, { keep: 2 });
  const found = await second.lastGoodAtStart();
  assert.deepEqual([found?.index.digest, found?.activation], [digest, activation(1)]);
  await found?.close();
  assert.deepEqual(await names('damaged-'), []);
  assert.deepEqual(await readdir(join(dir, 'bundles')), [digest]);
});

test('of two copies that were set aside, the one that was activated last is put back', async () => {
  const store = await openBundleStore(dir, { keep: 2, begin, isNeeded: () => true });
  const digests = await Promise.all(
    ['one', 'two'].map(async (word) => (await putBundle(dir, site(word))).digest),
  );
  for (const current of digests) {
    await store.activate(current, activation(1));
    for (const digest of digests) await damage(digest);
    assert.equal(await store.lastGood(), undefined);
    const found = await store.lastGoodAtStart();
    assert.equal(found?.index.digest, current);
    await found?.close();
    for (const digest of digests) await putBundle(dir, site(digest === digests[0] ? 'one' : 'two'));
  }
});

test('a disk that refuses to set a copy aside is no fault of the search for another one', async () => {
  const refusing: StoreDisk = {
    ...systemDisk,
    rename: (from, to) => (to.includes('damaged-') ? Promise.reject(new Error('EROFS')) : rename(from, to)),
  };
  const bad: string[] = [];
  const onBadCopy = (digest: string, outcome: string) => void bad.push(`${outcome} ${digest}`);
  const store = await openBundleStore(dir, { keep: 2, disk: refusing, isNeeded: () => true, onBadCopy });
  const digests: string[] = [];
  for (const [at, word] of ['one', 'two'].entries()) {
    const { digest } = await putBundle(dir, site(word));
    await store.activate(digest, activation(at));
    digests.push(digest);
  }
  const [one = '', two = ''] = digests;
  await damage(two);
  const found = await store.lastGood();
  assert.equal(found?.index.digest, one);
  assert.deepEqual(bad, [`stuck ${two}`]);
  await found?.close();
});

test('a full store gives up what was set aside, if another bundle is current', async () => {
  const store = await openBundleStore(dir, { keep: 2, isNeeded: () => true });
  const { digest } = await putBundle(dir, site('one'));
  await damage(digest);
  assert.equal(await store.open(digest), undefined);
  const other = await putBundle(dir, site('two'));
  await mkdir(join(dir, 'damaged-by a person'));
  assert.equal(await store.dropFormer([other.digest]), 0, 'nothing is current yet');
  await store.activate(other.digest, activation(1));
  assert.equal(await store.dropFormer([other.digest]), 1);
  assert.deepEqual(await names('damaged-'), ['damaged-by a person']);
});

test('dropFormer removes all bundles but the current one and the served one', async () => {
  const store = await openBundleStore(dir, { keep: 4 });
  const digests: string[] = [];
  for (const [at, word] of ['a', 'b', 'c'].entries()) {
    const { digest } = await putBundle(dir, site(word));
    digests.push(digest);
    await store.activate(digest, activation(at + 1));
  }
  const [, served = '', current = ''] = digests;
  await putBundle(dir, site('never activated'));
  assert.equal(await store.dropFormer([served]), 2);
  assert.deepEqual((await readdir(join(dir, 'bundles'))).sort(), [served, current].sort());
  assert.equal(await store.dropFormer([served]), 0);
});

test('opening a store removes its own leftovers and nothing else', async () => {
  const first = await openBundleStore(dir, { keep: 2 });
  const { digest } = await putBundle(dir, site('one'));
  await first.activate(digest, activation(1));
  await mkdir(join(dir, '.incoming-x', 'bundle'), { recursive: true });
  await mkdir(join(dir, '.outgoing-y'));
  await mkdir(join(dir, 'bundles', 'half'));
  await mkdir(join(dir, 'lost+found'));
  await writeFile(join(dir, '.current-next'), '{');
  await writeFile(join(dir, 'notes.txt'), 'mine');

  const store = await openBundleStore(dir, { keep: 2 });
  assert.deepEqual((await readdir(dir)).sort(), words('bundles current current.copy lost+found notes.txt'));
  const current = await store.lastGood();
  assert.equal(current?.index.digest, digest);
  await current?.close();
});

test('preparing a stored bundle keeps a good copy and replaces a bad one', async () => {
  const store = await openBundleStore(dir, { keep: 2 });
  const { digest } = await putBundle(dir, site('one'));
  await store.activate(digest, activation(1));
  await putBundle(dir, site('one'));
  const kept = await store.open(digest);
  assert.deepEqual(kept?.activation, activation(1));
  await kept?.close();

  await writeFile(join(dir, 'bundles', digest, 'pack'), 'damaged');
  await putBundle(dir, site('one'));
  const replaced = await store.open(digest);
  assert.equal(replaced?.index.digest, digest);
  await replaced?.close();
});

test('one changed, missing or added byte in pack or index is found, and the copy removed', async () => {
  const change = fc.record({
    name: fc.constantFrom('pack', 'index'),
    at: fc.nat(),
    how: fc.oneof(
      fc.integer({ min: 1, max: 255 }).map((mask) => ({ mask })),
      fc.constantFrom('cut' as const, 'added' as const),
    ),
  });
  await fc.assertAsync(
    fc.asyncProperty(change, async ({ name, at, how }) => {
      const store = await openBundleStore(dir, { keep: 2 });
      const { digest } = await putBundle(dir, site('one'));
      await store.activate(digest, activation(1));
      const path = join(dir, 'bundles', digest, name);
      const bytes = await readFile(path);
      const position = at % bytes.length;
      if (how === 'cut') await writeFile(path, bytes.subarray(0, position));
      else if (how === 'added') await writeFile(path, Buffer.concat([bytes, Buffer.from('x')]));
      else {
        bytes.writeUInt8(bytes.readUInt8(position) ^ how.mask, position);
        await writeFile(path, bytes);
      }
      assert.equal(await store.lastGood(), undefined);
      assert.deepEqual(await readdir(join(dir, 'bundles')), []);
    }),
    { numRuns: 60 },
  );
});

const failing = (code: string): Error => Object.assign(new Error(code), { code });

test('a temporary fault of the machine is reported, and the copy stays', async () => {
  const { digest } = await putBundle(dir, site('one'));
  await (await openBundleStore(dir, { keep: 2 })).activate(digest, activation(1));
  for (const code of ['EMFILE', 'ENFILE', 'ENOMEM', 'EACCES', 'EPERM']) {
    const disks: readonly Partial<StoreDisk>[] = [
      { openFile: () => Promise.reject(failing(code)) },
      {
        readText: (path) =>
          path.endsWith('index') ? Promise.reject(failing(code)) : systemDisk.readText(path),
      },
    ];
    for (const disk of disks) {
      const store = await openBundleStore(dir, { keep: 2, disk: { ...systemDisk, ...disk } });
      await assert.rejects(store.lastGood(), (error) => {
        assert.ok(error instanceof PublishableError);
        assert.deepEqual([error.kind, error.code], ['retry', 'StoreUnavailable']);
        return true;
      });
    }
    const again = await (await openBundleStore(dir, { keep: 2 })).lastGood();
    assert.equal(again?.index.digest, digest, code);
    await again?.close();
  }
});

test('a copy that the disk can no longer read is as bad as a changed one', async () => {
  const { digest } = await putBundle(dir, site('one'));
  await (await openBundleStore(dir, { keep: 2 })).activate(digest, activation(1));
  const unreadable: StoreDisk = {
    ...systemDisk,
    openFile: async (path) => {
      const file = await systemDisk.openFile(path);
      return {
        stat: () => file.stat(),
        read: () => Promise.reject(failing('EIO')),
        close: () => file.close(),
      };
    },
  };
  const store = await openBundleStore(dir, { keep: 2, disk: unreadable });
  assert.equal(await store.lastGood(), undefined);
  assert.deepEqual(await readdir(join(dir, 'bundles')), []);
});

const files = (): readonly string[] => [join(dir, 'current'), join(dir, 'current.copy')];
const damages = ['', '[{"digest":', '{"digest":"x"}'];

test('a missing, damaged or unreadable list of activations is read from its copy', async () => {
  const writing = await openBundleStore(dir, { keep: 3 });
  const { digest } = await putBundle(dir, site('one'));
  await writing.activate(digest, activation(1));
  const [current = ''] = files();
  const unreadable: StoreDisk = {
    ...systemDisk,
    readText: (path) => (path === current ? Promise.reject(failing('EIO')) : systemDisk.readText(path)),
  };
  const holds = async (disk: StoreDisk, name: string): Promise<void> => {
    const good = await (await openBundleStore(dir, { keep: 3, disk })).lastGood();
    assert.equal(good?.index.digest, digest, name);
    assert.deepEqual(good.activation, activation(1), name);
    await good.close();
  };
  await holds(unreadable, 'unreadable');
  for (const text of damages) {
    await writeFile(current, text);
    await holds(systemDisk, text);
  }
  await rm(current);
  await holds(systemDisk, 'missing');
});

test('without the list and its copy, whole bundles with pages are served, and none is removed', async () => {
  const writing = await openBundleStore(dir, { keep: 3 });
  const empty = await putBundle(dir, { 'notes.txt': 'no page' });
  const { digest } = await putBundle(dir, site('one'));
  await writing.activate(digest, activation(1));
  for (const text of damages) {
    for (const file of files()) await writeFile(file, text);
    const store = await openBundleStore(dir, { keep: 1 });
    const good = await store.lastGood();
    assert.equal(good?.index.digest, digest, text);
    assert.equal(good.activation, undefined);
    assert.deepEqual(await store.former(), []);
    await good.close();
    await store.sweep();
    assert.equal(await store.dropFormer([]), 0);
    assert.deepEqual((await readdir(join(dir, 'bundles'))).sort(), [digest, empty.digest].sort());
  }
  const store = await openBundleStore(dir, { keep: 3 });
  const next = await putBundle(dir, site('two'));
  await store.activate(next.digest, activation(9));
  assert.deepEqual([...(await store.former())].sort(), [digest, empty.digest].sort());
  const current = await store.lastGood();
  assert.equal(current?.index.digest, next.digest);
  await current.close();
});

test('the order of activations decides which bundle is the former one, whatever the clock said', async () => {
  const store = await openBundleStore(dir, { keep: 2 });
  const digests: string[] = [];
  for (const [word, at] of [
    ['ahead', 900],
    ['b', 5],
    ['c', 6],
  ] as const) {
    const { digest } = await putBundle(dir, site(word));
    digests.push(digest);
    await store.activate(digest, activation(at));
  }
  await store.sweep();
  assert.deepEqual((await readdir(join(dir, 'bundles'))).sort(), digests.slice(1).sort());
});

test('an intact index of another bundle is refused', async () => {
  const store = await openBundleStore(dir, { keep: 2 });
  const one = await putBundle(dir, site('one'));
  const two = await putBundle(dir, site('two'));
  await rm(join(dir, 'bundles', one.digest), { recursive: true });
  await mkdir(join(dir, 'bundles', one.digest));
  for (const name of ['pack', 'index']) {
    await writeFile(
      join(dir, 'bundles', one.digest, name),
      await readFile(join(dir, 'bundles', two.digest, name)),
    );
  }
  assert.equal(await store.open(one.digest), undefined);
});

test('a name that is not a digest never becomes a path', async () => {
  const store = await openBundleStore(dir, { keep: 2 });
  for (const name of ['', '..', '../bundles', 'x'.repeat(64)]) {
    assert.equal(await store.open(name), undefined);
    await assert.rejects(store.activate(name, activation(1)), { code: 'NotStored' });
  }
});

test('a store that cannot be created is a transient error', async () => {
  const file = join(dir, 'file');
  await writeFile(file, '');
  await assert.rejects(openBundleStore(join(file, 'store'), { keep: 2 }), (error) => {
    assert.ok(error instanceof PublishableError);
    assert.deepEqual([error.kind, error.code], ['retry', 'StoreUnavailable']);
    assert.match(
      error.message,
      /is a file or lies below a file \(E(?:NOTDIR|XIST)\).*name a folder with --store/,
    );
    return true;
  });
});

test('a store on an impossible path is refused at once', async () => {
  // Where the system denies the name and not its parent, a recursive mkdir of Node tries for ever.
  for (const impossible of ['/proc/no-such-store', '/dev/null/store']) {
    await assert.rejects(openBundleStore(impossible, { keep: 2 }), (error) => {
      assert.ok(error instanceof PublishableError);
      assert.equal(error.code, 'StoreUnavailable');
      return true;
    });
  }
});
