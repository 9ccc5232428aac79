// kill -9 of a child at file operations between an archive and its being the current bundle, and of the making of its
// variants and of a search. Whatever is left: the old bundle or the new one, whole, and a clean start. A whole run counts the operations;
// how many of them get a kill is the caller's.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { z } from 'zod';
import { openBundleStore } from '#bundle/store/store.ts';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { prepareFiles } from '#server/made/made-making.ts';
import { prepareVariants } from '#server/variants/variant-making.ts';
import { madeByLists } from '../../support/list-pages.ts';
import { noise } from '../../support/noise.ts';
import { spread } from '../../support/spread.ts';
import { putBundle, readText } from '../../support/store-builder.ts';
import { entry, tar } from '../../support/tar-builder.ts';

const stepsShape = z.object({ steps: z.number(), halves: z.array(z.number()) });

interface Ending {
  readonly signal: string | null;
  /** `undefined` of one that was killed. */
  readonly taken: z.infer<typeof stepsShape> | undefined;
}

interface Kill {
  readonly at: number;
  readonly moment: 'before' | 'amid' | 'after';
}

/** Before each step, amid those that have a middle, and after the last. */
function killsOf(taken: Ending['taken']): readonly Kill[] {
  assert.ok(taken !== undefined);
  const { steps, halves } = taken;
  return [
    ...Array.from({ length: steps }, (_, at) => ({ at, moment: 'before' }) as const),
    ...halves.map((at) => ({ at, moment: 'amid' }) as const),
    { at: steps - 1, moment: 'after' },
  ];
}

/** Three at a time. */
async function eachKill<T>(kills: readonly Kill[], crash: (kill: Kill) => Promise<T>): Promise<readonly T[]> {
  const found: T[] = [];
  const next = kills.values();
  const worker = async (): Promise<void> => {
    for (const kill of next) found.push(await crash(kill));
  };
  await Promise.all([worker(), worker(), worker()]);
  assert.equal(found.length, kills.length);
  return found;
}

function runChild(program: string, args: readonly string[]): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      process.execPath,
      [join(import.meta.dirname, program), ...args],
      (error, stdout, stderr) => {
        const { signalCode } = child;
        if (error !== null && signalCode !== 'SIGKILL') reject(new Error(stderr, { cause: error }));
        else {
          const taken = stdout === '' ? undefined : stepsShape.parse(JSON.parse(stdout));
          resolve({ signal: signalCode, taken });
        }
      },
    );
  });
}

/** Before, amid or after steps of a commit: the old bundle or the new one, and a clean start. */
export async function killCommits(mostKills: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'crash-'));
  try {
    const before = join(folder, 'before');
    const archive = join(folder, 'new.tar.gz');
    // More than one block of the pack, and an entry that is replaced, so that the pack is compacted.
    const large = noise(1_200_000);
    const entries = [
      ['replaced.js', 'old'],
      ['.env', 'KEY=5ecret'],
      ['.git/config', 'token=5ecret'],
      ['large.js', large],
      ['index.html', 'home new'],
      ['replaced.js', 'b'],
    ] as const;
    await writeFile(archive, gzipSync(tar(...entries.map(([name, content]) => entry(name, content)))));
    const oldStore = await openBundleStore(before, { keep: 1 });
    const old = await putBundle(before, { 'index.html': 'home old', 'a/b.css': 'b' });
    await oldStore.activate(old.digest, { version: 'old', activatedAt: 1 });

    /** One kill in a copy of the store; says what the next process finds. */
    const crash = async ({ at, moment }: Kill): Promise<string> => {
      const where = `${moment} step ${at + 1}`;
      const store = join(folder, `${moment}-${at}`);
      await cp(before, store, { recursive: true });
      const { signal } = await runChild('crash-child.ts', [store, archive, `${at}`, moment]);
      assert.equal(signal, 'SIGKILL', where);
      const current = await (await openBundleStore(store, { keep: 1 })).lastGood();
      assert.ok(current !== undefined, `no bundle at all ${where}`);
      const home = current.index.files.find(({ path }) => path === 'index.html');
      assert.equal(home && readText(current, home), `home ${current.activation?.version}`, where);
      const pack = await readFile(join(bundleFolder(store, current.index.digest), 'pack'));
      assert.ok(!pack.includes('5ecret'), `hidden bytes ${where}`);
      const version = current.activation?.version ?? 'none';
      await current.close();
      assert.deepEqual((await readdir(store)).sort(), ['bundles', 'current', 'current.copy'], where);
      await rm(store, { recursive: true });
      return version;
    };
    const whole = join(folder, 'whole');
    await cp(before, whole, { recursive: true });
    const { taken } = await runChild('crash-child.ts', [whole, archive, '1000', 'before']);
    const kills = killsOf(taken);
    assert.ok(kills.length > 25, `${kills.length} kills`);
    const found = await eachKill(spread(kills, mostKills), crash);
    assert.deepEqual([...new Set(found)].sort(), ['new', 'old']);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What is kept with a bundle: the program that makes it, and the same in this process. */
interface Addition {
  /** Arguments: folder of the bundle, digest, steps to let through, the moment of the kill. */
  readonly child: string;
  /** @returns whether it was on disk */
  readonly prepare: (folder: string, digest: string) => Promise<boolean>;
  readonly names: readonly string[];
}

/** At steps of making variants: the bundle is whole, and the next start has correct variants. */
export function killVariants(mostKills: number): Promise<void> {
  const prepare = async (folder: string, digest: string): Promise<boolean> => {
    const encodings = ['br', 'gzip'] as const;
    const task = { folder, digest, encodings, cpuPercent: 100, maxBytes: 2 ** 30 };
    return (await prepareVariants(task, systemClock)).isFound;
  };
  const names = ['variants', 'variants-index'];
  return killAddition({ child: 'variant-crash-child.ts', prepare, names }, mostKills);
}

/** At steps of making the files of a search: the bundle is whole, and the next start has them whole. */
export function killMadeFiles(mostKills: number): Promise<void> {
  const prepare = async (folder: string, digest: string): Promise<boolean> => {
    const task = { folder, digest, basePath: '', cpuPercent: 100, maxBytes: 2 ** 30 };
    const features = ['search'] as const;
    return (await prepareFiles({ ...task, features }, madeByLists, systemClock)).isFound;
  };
  return killAddition({ child: 'made-crash-child.ts', prepare, names: ['made', 'made-index'] }, mostKills);
}

async function killAddition({ child, prepare, names }: Addition, mostKills: number): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'crash-forms-'));
  try {
    const before = join(folder, 'before');
    const store = await openBundleStore(before, { keep: 1 });
    const page = `<head></head>${'a page with enough text in it. '.repeat(60)}`;
    const { digest } = await putBundle(before, {
      'index.html': page,
      'a.css': `${page}a`,
      'b.js': `${page}b`,
    });
    await store.activate(digest, { version: 'v1', activatedAt: 1 });

    /** @returns whether it was found by the next run */
    const crash = async ({ at, moment }: Kill): Promise<boolean> => {
      const where = `${moment} step ${at + 1}`;
      const dir = join(folder, `${moment}-${at}`);
      await cp(before, dir, { recursive: true });
      const own = join(dir, 'bundles', digest);
      const { signal } = await runChild(child, [own, digest, `${at}`, moment]);
      assert.equal(signal, 'SIGKILL', where);
      const current = await (await openBundleStore(dir, { keep: 1 })).lastGood();
      assert.equal(current?.index.digest, digest, where);
      await current?.close();
      const isFound = await prepare(own, digest);
      assert.equal(await prepare(own, digest), true, where);
      assert.deepEqual((await readdir(own)).sort(), ['index', ...names, 'pack'].sort(), where);
      await rm(dir, { recursive: true });
      return isFound;
    };
    const whole = join(folder, 'whole');
    await cp(before, whole, { recursive: true });
    const args = [join(whole, 'bundles', digest), digest, '1000', 'before'];
    const { taken } = await runChild(child, args);
    const found = await eachKill(spread(killsOf(taken), mostKills), crash);
    assert.deepEqual([...new Set(found)].sort(), [false, true], 'some kills come after it was kept');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
