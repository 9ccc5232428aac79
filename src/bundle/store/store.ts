// The bundles on this machine's disk: which are whole, which one is current, which may be removed. Owns the order of
// writes: a kill at any instant leaves the old or the new bundle, never neither. Refuses to hand out a copy that was
// not verified byte by byte. A bad copy is removed like a bad download. One process writes to a store at a time.

import { join } from 'node:path';
import { z } from 'zod';
import { readJson } from '../../wire/json-text.ts';
import { BundleError } from '../bundle-error.ts';
import type { CheckCopy } from './checking.ts';
import { checkBundle, isOfCopy } from './store-check.ts';
import { type StoreDisk, systemDisk } from './store-disk.ts';
import { storeFault } from './store-fault.ts';
import {
  bundleFolder,
  bundlesFolder,
  currentFile,
  digestPattern,
  factsName,
  incomingPrefix,
  nextCurrentName,
  outgoingPrefix,
} from './store-layout.ts';
import { type BundleFacts, openPack, type StoredBundle } from './stored-bundle.ts';

export interface BundleStore {
  /** What `current` names; where that is missing or damaged, the newest of the others that is whole. */
  lastGood(): Promise<StoredBundle | undefined>;
  /** A bad copy is removed and answers `undefined`. */
  open(digest: string): Promise<StoredBundle | undefined>;
  /** The other bundles that were once activated, newest first. */
  recent(): Promise<readonly StoredBundle[]>;
  /** Makes a stored bundle the current one; `current` is written last. @throws {BundleError} `NotStored` */
  activate(digest: string, facts: BundleFacts): Promise<void>;
  /** Makes room: removes all but the current bundle and the one being served. @returns how many went */
  dropFormer(servedDigest: string | undefined): Promise<number>;
  /** Removes all but the current bundle and the most recently activated others, `keep` in all. */
  sweep(): Promise<void>;
}

const pointer = z.object({ digest: z.string().regex(digestPattern) });
const factsDocument = z.object({
  version: z.string().optional(),
  activatedAt: z.number(),
  /** Counts activations: a clock may be set back, and must not decide which bundle is the former one. */
  sequence: z.int().nonnegative().default(0),
});

/** The facts as they lie on disk. */
type StoredFacts = z.infer<typeof factsDocument>;

/**
 * Makes the folder if needed and removes what a killed process left half done. Of the folder's other content
 * nothing is touched, so a volume's `lost+found` or a wrong path costs nothing.
 *
 * @param options.keep bundles that stay at a sweep, the current one included
 * @param options.check of a copy, before it is handed out; in this thread by default
 * @param options.onBadCopy receives each copy that was removed because it does not match its digest
 * @throws {BundleError} `StoreUnavailable` when the folder cannot be made or written
 */
export async function openBundleStore(
  dir: string,
  options: {
    readonly keep: number;
    readonly disk?: StoreDisk;
    readonly check?: CheckCopy;
    readonly onBadCopy?: (digest: string) => void;
  },
): Promise<BundleStore> {
  const disk = options.disk ?? systemDisk;
  const check: CheckCopy =
    options.check ?? (async (folder, digest) => (await checkBundle(folder, digest, disk))?.index);
  await guarded(async () => {
    await disk.makeFolder(bundlesFolder(dir));
    await removeLeftovers(dir, disk);
  });
  const removeBundle = (digest: string): Promise<void> => withdraw(dir, digest, disk);

  const open = async (digest: string): Promise<StoredBundle | undefined> => {
    if (!digestPattern.test(digest)) return undefined;
    const folder = bundleFolder(dir, digest);
    if ((await disk.list(folder)).length === 0) return undefined;
    const index = await check(folder, digest);
    if (index !== undefined)
      return openPack(join(folder, 'pack'), index, factsOf(await readFacts(folder, disk)));
    await removeBundle(digest);
    options.onBadCopy?.(digest);
    return undefined;
  };

  const removeAllBut = async (kept: ReadonlySet<string | undefined>): Promise<number> => {
    const gone = (await disk.list(bundlesFolder(dir))).filter((digest) => !kept.has(digest));
    for (const digest of gone) await removeBundle(digest);
    return gone.length;
  };

  const currentDigest = async (): Promise<string | undefined> =>
    parsePointer(await readUnlessDamaged(currentFile(dir), disk));

  const activations = async (): Promise<readonly Activation[]> => {
    const found = await Promise.all(
      (await disk.list(bundlesFolder(dir))).map(async (digest) => {
        const facts = await readFacts(bundleFolder(dir, digest), disk);
        return facts === undefined ? [] : [{ digest, facts }];
      }),
    );
    return found.flat();
  };

  /** Digests that were activated, the current one first, then the one activated last. */
  const activated = async (): Promise<readonly string[]> => {
    const current = await currentDigest();
    const others = (await activations())
      .filter(({ digest }) => digest !== current)
      .toSorted((a, b) => b.facts.sequence - a.facts.sequence || byTime(a, b))
      .map(({ digest }) => digest);
    // The pointer is written last and alone says what is current, whatever became of its facts.
    return current === undefined ? others : [current, ...others];
  };

  return {
    open: (digest) => guarded(() => open(digest)),
    lastGood: () =>
      guarded(async () => {
        for (const digest of await activated()) {
          const bundle = await open(digest);
          if (bundle !== undefined) return bundle;
        }
        return undefined;
      }),
    recent: () =>
      guarded(async () => {
        const current = await currentDigest();
        const digests = (await activated()).filter((digest) => digest !== current);
        return openAll(digests, open);
      }),
    activate: (digest, facts) =>
      guarded(async () => {
        const sequence = Math.max(0, ...(await activations()).map((one) => one.facts.sequence)) + 1;
        await activate(dir, digest, { ...facts, sequence }, disk);
      }),
    dropFormer: (servedDigest) =>
      guarded(async () => removeAllBut(new Set([await currentDigest(), servedDigest]))),
    sweep: () =>
      guarded(async () => {
        await removeAllBut(new Set((await activated()).slice(0, Math.max(1, options.keep))));
      }),
  };
}

/** All of them that are whole; where one cannot be opened, those before it are closed again. */
async function openAll(
  digests: readonly string[],
  open: (digest: string) => Promise<StoredBundle | undefined>,
): Promise<readonly StoredBundle[]> {
  const opened: StoredBundle[] = [];
  try {
    for (const digest of digests) {
      const bundle = await open(digest);
      if (bundle !== undefined) opened.push(bundle);
    }
    return opened;
  } catch (error) {
    await Promise.allSettled(opened.map((bundle) => bundle.close()));
    throw error;
  }
}

/** Facts first, then the pointer: each written under another name, synced, renamed, and its folder synced. */
async function activate(dir: string, digest: string, facts: StoredFacts, disk: StoreDisk): Promise<void> {
  const folder = bundleFolder(dir, digest);
  if (!digestPattern.test(digest) || (await disk.list(folder)).length === 0) {
    throw new BundleError(
      'transient',
      'NotStored',
      'the bundle to activate is not in the store; prepare it again',
    );
  }
  const nextFacts = join(folder, `.${factsName}-next`);
  await disk.writeText(nextFacts, JSON.stringify(facts));
  await disk.rename(nextFacts, join(folder, factsName));
  await disk.syncFolder(folder);
  const nextCurrent = join(dir, nextCurrentName);
  await disk.writeText(nextCurrent, JSON.stringify({ digest }));
  await disk.rename(nextCurrent, currentFile(dir));
  await disk.syncFolder(dir);
}

async function removeLeftovers(dir: string, disk: StoreDisk): Promise<void> {
  const isOurs = (name: string): boolean =>
    name.startsWith(incomingPrefix) || name.startsWith(outgoingPrefix) || name === nextCurrentName;
  for (const name of (await disk.list(dir)).filter(isOurs)) await disk.remove(join(dir, name));
  for (const name of await disk.list(bundlesFolder(dir))) {
    if (!digestPattern.test(name)) await disk.remove(join(bundlesFolder(dir), name));
  }
}

async function withdraw(dir: string, digest: string, disk: StoreDisk): Promise<void> {
  const outgoing = join(dir, `${outgoingPrefix}${digest}`);
  await disk.remove(outgoing);
  await disk.rename(bundleFolder(dir, digest), outgoing);
  await disk.remove(outgoing);
}

interface Activation {
  readonly digest: string;
  readonly facts: StoredFacts;
}

/** For facts that an earlier program wrote, without a sequence. */
function byTime(a: Activation, b: Activation): number {
  return b.facts.activatedAt - a.facts.activatedAt;
}

async function readFacts(folder: string, disk: StoreDisk): Promise<StoredFacts | undefined> {
  return factsDocument.safeParse(readJson(await readUnlessDamaged(join(folder, factsName), disk))).data;
}

/** What the disk has lost is absent: one damaged note must not keep whole bundles from being served. */
async function readUnlessDamaged(path: string, disk: StoreDisk): Promise<string | undefined> {
  try {
    return await disk.readText(path);
  } catch (error) {
    if (isOfCopy(error)) return undefined;
    throw error;
  }
}

function factsOf(stored: StoredFacts | undefined): BundleFacts | undefined {
  return stored && { version: stored.version, activatedAt: stored.activatedAt };
}

function parsePointer(text: string | undefined): string | undefined {
  const parsed = pointer.safeParse(readJson(text));
  return parsed.success ? parsed.data.digest : undefined;
}

/** Turns the disk's errors into BundleErrors. */
async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof BundleError ? error : storeFault(error);
  }
}
