// The world stops before or after each single file operation of a change of version, and never comes back.
// Whatever the step: the next process finds the old bundle or the new one as current, whole, and no leftovers.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { BeginCheck } from '#bundle/store/checking.ts';
import { createRunningCheck } from '#bundle/store/pending-check.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import { checkBundle } from '#bundle/store/store-check.ts';
import { type StoreDisk, systemDisk } from '#bundle/store/store-disk.ts';
import { putBundle, readText } from '../../../support/store-builder.ts';

/** The disk is told when to fail. One that really syncs takes minutes for hundreds of steps when others sync too. */
const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

class Stopped extends Error {}

/** Lets `steps` operations through; the one after that is cut before, in the middle of, or after its effect. */
function stoppingDisk(steps: number, moment: 'before' | 'amid' | 'after'): StoreDisk & { taken(): number } {
  let taken = 0;
  const step = async <T>(work: () => Promise<T>, half: () => Promise<unknown>): Promise<T> => {
    taken += 1;
    if (taken <= steps) return work();
    if (taken === steps + 1 && moment === 'amid') await half();
    if (taken === steps + 1 && moment === 'after') await work();
    throw new Stopped();
  };
  const nothing = async (): Promise<void> => {};
  return {
    taken: () => taken,
    makeFolder: (path) => step(() => systemDisk.makeFolder(path), nothing),
    list: (path) => step(() => systemDisk.list(path), nothing),
    readText: (path) => step(() => systemDisk.readText(path), nothing),
    openFile: systemDisk.openFile,
    writeText: (path, text) =>
      step(
        () => systemDisk.writeText(path, text),
        () => systemDisk.writeText(path, text.slice(0, text.length / 2)),
      ),
    rename: (from, to) => step(() => systemDisk.rename(from, to), nothing),
    syncFolder: (path) => step(() => systemDisk.syncFolder(path), nothing),
    remove: (path) =>
      step(
        () => systemDisk.remove(path),
        () => systemDisk.remove(join(path, 'pack')),
      ),
  };
}

const secret = 'hidden secret';
const site = (word: string) => ({
  '.env': secret,
  'a/.draft': secret,
  'a/b.css': 'b',
  'index.html': `home ${word}`,
});

/** Everything that a server does to its store when a new version comes. */
async function changeVersion(dir: string, disk: StoreDisk): Promise<void> {
  const store = await openBundleStore(dir, { keep: 1, disk });
  const { digest } = await putBundle(dir, site('new'), disk);
  const bundle = await store.open(digest);
  await bundle?.close();
  await store.activate(digest, { version: 'new', activatedAt: 2 });
  await store.sweep();
}

/** As a server begins: it serves before the files are proven, if the index and the size are good. */
const begin: BeginCheck = async (folder, digest) => {
  let begun: Awaited<ReturnType<BeginCheck>>;
  const onIndex = async (index: BundleIndex): Promise<void> => {
    begun = { index, check: createRunningCheck() };
  };
  await checkBundle(folder, digest, systemDisk, { onIndex });
  return begun;
};

async function prepareOld(): Promise<{ readonly dir: string; readonly digest: string }> {
  const dir = await mkdtemp(join(base, 'store-crash-'));
  const store = await openBundleStore(dir, { keep: 1 });
  const { digest } = await putBundle(dir, site('old'));
  await store.activate(digest, { version: 'old', activatedAt: 1 });
  return { dir, digest };
}

test('a stop at any step leaves the old or the new bundle, whole, and the next start cleans up', async () => {
  const outcomes = new Set<string | undefined>();
  for (const moment of ['before', 'amid', 'after'] as const) {
    for (let steps = 0, isDone = false; !isDone; steps += 1) {
      const { dir } = await prepareOld();
      const disk = stoppingDisk(steps, moment);
      try {
        await changeVersion(dir, disk);
        isDone = true;
      } catch (error) {
        const isStop = error instanceof Stopped || (error instanceof Error && error.cause instanceof Stopped);
        assert.ok(isStop, String(error));
      }
      const where = `${moment} step ${steps + 1}`;
      const store = await openBundleStore(dir, { keep: 1 });
      const current = await store.lastGood();
      assert.ok(current !== undefined, `no bundle at all ${where}`);
      outcomes.add(current.activation?.version);
      assert.match(current.activation?.version ?? '', /^(old|new)$/, where);
      const home = current.index.files.at(-1);
      assert.equal(home && readText(current, home), `home ${current.activation?.version}`, where);
      await current.close();
      assert.deepEqual((await readdir(dir)).sort(), ['bundles', 'current', 'current.copy'], where);

      await changeVersion(dir, systemDisk);
      const after = await (await openBundleStore(dir, { keep: 1 })).lastGood();
      assert.equal(after?.activation?.version, 'new', where);
      await after?.close();
      assert.equal((await readdir(join(dir, 'bundles'))).length, 1, where);
      await rm(dir, { recursive: true });
      assert.ok(steps < 100, 'the change never ends');
    }
  }
  assert.deepEqual([...outcomes].sort(), ['new', 'old']);
});

test('a stop at any step of replacing a damaged copy leaves that copy or the new bundle', async () => {
  const outcomes = new Set<string | undefined>();
  for (const moment of ['before', 'amid', 'after'] as const) {
    for (let steps = 0, isDone = false; !isDone; steps += 1) {
      const { dir, digest } = await prepareOld();
      const path = join(dir, 'bundles', digest, 'pack');
      await writeFile(path, Buffer.alloc((await stat(path)).size));
      const disk = stoppingDisk(steps, moment);
      try {
        const store = await openBundleStore(dir, { keep: 2, disk, isNeeded: (one) => one === digest });
        assert.equal(await store.open(digest), undefined);
        const next = await putBundle(dir, site('new'), disk);
        await store.activate(next.digest, { version: 'new', activatedAt: 2 });
        await store.sweep();
        isDone = true;
      } catch (error) {
        const isStop = error instanceof Stopped || (error instanceof Error && error.cause instanceof Stopped);
        assert.ok(isStop, String(error));
      }
      const where = `${moment} step ${steps + 1}`;
      const store = await openBundleStore(dir, { keep: 2, begin });
      const found = await store.lastGoodAtStart();
      const current = found?.index.digest === digest ? 'damaged' : found?.activation?.version;
      outcomes.add(current);
      assert.match(current ?? '', /^(damaged|new)$/, where);
      await found?.close();
      if (isDone) assert.deepEqual((await readdir(dir)).sort(), ['bundles', 'current', 'current.copy']);
      await rm(dir, { recursive: true });
      assert.ok(steps < 100, 'the change never ends');
    }
  }
  assert.deepEqual([...outcomes].sort(), ['damaged', 'new']);
});
