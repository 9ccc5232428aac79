// The bundles on this machine's disk: which are whole, which one is current, which may be removed. Owns the order of
// writes: a kill at any instant leaves the old or the new bundle, never neither. Refuses to hand out a copy whose bytes
// are neither verified nor verified as they are read. A bad copy is removed like a bad download, but one that may be the
// last stays until another bundle is current. One process writes to a store at a time.

import { join } from 'node:path';
import type { BundleIndex } from '../bundle-index.ts';
import { type ActivationList, passBy, readActivations, writeActivation } from './activation-list.ts';
import type { BeginCheck, CheckCopy } from './checking.ts';
import { listSetAside, putBack, removeCopy, setAside } from './copy-moves.ts';
import { firstGood, type Search } from './good-copy.ts';
import type { PendingCheck } from './pending-check.ts';
import { checkBundle, ifReadable } from './store-check.ts';
import { type StoreDisk, systemDisk } from './store-disk.ts';
import { inStore, rethrowFolderFault, storeFault } from './store-fault.ts';
import {
  bundleFolder,
  bundlesFolder,
  damagedFolder,
  digestPattern,
  incomingPrefix,
  nextCurrentName,
  outgoingPrefix,
  packName,
} from './store-layout.ts';
import { type Activation, openPack, type StoredBundle } from './stored-bundle.ts';

export interface BundleStore {
  /**
   * The first of `current` that is whole; any whole bundle where `current` is damaged.
   *
   * @param passesFaults whether one behind a fault of the disk is taken; by default the fault is thrown, for it may pass
   * @throws {PublishableError} the first fault of the disk, if nothing is returned
   */
  lastGood(passesFaults?: boolean): Promise<StoredBundle | undefined>;
  /**
   * The same at a start. Of the first whose index is good the files are still being checked: see `StoredBundle.proven`. A
   * copy that proves damaged stays until it is checked again. If there is no other, a copy that was set aside is put
   * back and returned.
   */
  lastGoodAtStart(passesFaults?: boolean): Promise<StoredBundle | undefined>;
  /** Returns `undefined` for a bad copy. Removes it, or sets it aside if it may be the last. */
  open(digest: string): Promise<StoredBundle | undefined>;
  /** Digests of the other activated bundles, newest first. */
  former(): Promise<readonly string[]>;
  /** Makes a stored bundle the current one. @throws {PublishableError} `NotStored` */
  activate(digest: string, activation: Activation): Promise<void>;
  /** Makes room: removes all but the current bundle and those that are needed. @returns how many went */
  dropFormer(neededDigests: readonly string[]): Promise<number>;
  /** Removes what was set aside, once this bundle is proven and the next start will find it. */
  forgetDamaged(provenDigest: string): Promise<void>;
  /** Removes all but the current bundle and the most recently activated others, `keep` in all, and what was set aside. */
  sweep(): Promise<void>;
}

/** A bad copy was set aside, was removed, or could not be moved. */
export type BadCopyOutcome = 'kept' | 'removed' | 'stuck';

/** A check that went to its end, or one that goes on. */
type OpenCheck = (
  folder: string,
  digest: string,
) => Promise<{ readonly index: BundleIndex; readonly check: PendingCheck | undefined } | undefined>;

/**
 * Makes the folder if needed and removes what a killed process left half done. Of the folder's other content
 * nothing is touched, so a volume's `lost+found` or a wrong path costs nothing.
 *
 * @param options.keep bundles that stay at a sweep, the current one included
 * @param options.check of a copy, before it is handed out; in this thread by default
 * @param options.begin of a copy that is handed out at a start; without it, each is checked before
 * @param options.onBadCopy receives each copy that does not match its digest, and what became of it
 * @param options.onLeftover receives why something that a killed process left cannot be removed; the copies may be good
 * @param options.isNeeded whether a bad copy may be the last one; none is by default
 * @throws {PublishableError} `StoreUnavailable` when the folder cannot be made or read
 */
export async function openBundleStore(
  dir: string,
  options: {
    readonly keep: number;
    readonly disk?: StoreDisk;
    readonly check?: CheckCopy;
    readonly begin?: BeginCheck;
    readonly onBadCopy?: (digest: string, outcome: BadCopyOutcome) => void;
    readonly onLeftover?: (error: unknown) => void;
    readonly isNeeded?: (digest: string) => boolean;
  },
): Promise<BundleStore> {
  const disk = options.disk ?? systemDisk;
  const check: CheckCopy =
    options.check ?? (async (folder, digest) => (await checkBundle(folder, digest, disk))?.index);
  const toTheEnd: OpenCheck = async (folder, digest) => {
    const index = await check(folder, digest);
    return index && { index, check: undefined };
  };
  await inStore(
    disk.makeFolder(bundlesFolder(dir)).catch((error: unknown) => rethrowFolderFault(dir, error)),
  );
  await inStore(removeLeftovers(dir, disk, options.onLeftover));

  const putAway = async (folder: string, digest: string): Promise<BadCopyOutcome> => {
    const [outcome, move] =
      options.isNeeded?.(digest) === true
        ? (['kept', setAside(dir, folder, digest, disk)] as const)
        : (['removed', removeCopy(dir, folder, digest, disk)] as const);
    // Where the disk refuses that, the copy stays where it is, and another one is looked for all the same.
    return move.then(
      () => outcome,
      () => 'stuck',
    );
  };

  const open = async (
    digest: string,
    begin = toTheEnd,
    { folder = bundleFolder(dir, digest), listed }: Known = {},
  ): Promise<StoredBundle | undefined> => {
    if (!digestPattern.test(digest)) return undefined;
    const names = await ifReadable(disk.list(folder));
    if (names?.length === 0) return undefined;
    const found = names && (await begin(folder, digest));
    if (found !== undefined) {
      // The copy is whole, also where the list cannot be read.
      const known = (listed ?? (await activations())).find((one) => one.digest === digest);
      const path = known?.basePath !== undefined && { basePath: known.basePath };
      const activation = known && { version: known.version, activatedAt: known.activatedAt, ...path };
      return openPack(join(folder, packName), found.index, activation, found.check);
    }
    const outcome = await putAway(folder, digest);
    options.onBadCopy?.(digest, outcome);
    return undefined;
  };

  /** Copies that are read where they were set aside. */
  const openedThere = new Set<string>();
  /** The one that was activated last comes first. */
  const setAsideInOrder = async (passesFaults: boolean): Promise<readonly string[]> => {
    const digests = (await ifReadable(listSetAside(dir, disk))) ?? [];
    const passFault = passesFaults ? passBy : undefined;
    const list = digests.length === 0 ? [] : await readActivations(dir, disk, passFault);
    const listed = (list ?? []).map(({ digest }) => digest);
    return [
      ...listed.filter((digest) => digests.includes(digest)),
      ...digests.filter((digest) => !listed.includes(digest)),
    ];
  };
  const lastGoodAtStart = async (passesFaults: boolean): Promise<StoredBundle | undefined> => {
    // Before the search below may set others aside.
    const damaged = await setAsideInOrder(passesFaults);
    const searchesOf = (digest: string): readonly Search[] => {
      let isPutBack = false;
      const openPutBack: Search = async () => {
        isPutBack = await putBack(dir, digest, disk);
        return open(digest, options.begin);
      };
      const openThere: Search = async () => {
        const folder = damagedFolder(dir, digest);
        const bundle = isPutBack ? undefined : await open(digest, options.begin, { folder });
        if (bundle !== undefined) openedThere.add(digest);
        return bundle;
      };
      return [openPutBack, openThere];
    };
    return firstGood(passesFaults, [
      () => lastGood(passesFaults, options.begin),
      ...damaged.flatMap(searchesOf),
    ]);
  };

  const copiesBut = async (kept: readonly string[]): Promise<readonly Copy[]> =>
    (await disk.list(bundlesFolder(dir)))
      .filter((digest) => !kept.includes(digest))
      .map((digest) => ({ digest, folder: bundleFolder(dir, digest) }));
  const copiesSetAside = async (kept: readonly string[] = []): Promise<readonly Copy[]> =>
    (await listSetAside(dir, disk))
      .filter((digest) => !kept.includes(digest) && !openedThere.has(digest))
      .map((digest) => ({ digest, folder: damagedFolder(dir, digest) }));
  /** One that cannot be removed keeps no other one. */
  const removeCopies = async (copies: readonly Copy[]): Promise<{ gone: number; fault: unknown }> => {
    const faults: unknown[] = [];
    for (const { folder, digest } of copies) {
      await removeCopy(dir, folder, digest, disk).catch((error: unknown) => faults.push(error));
    }
    return { gone: copies.length - faults.length, fault: faults[0] };
  };
  const removeAll = async (copies: readonly Copy[]): Promise<void> => {
    const { fault } = await removeCopies(copies);
    if (fault !== undefined) throw fault;
  };
  const sweep = async (): Promise<void> => {
    const kept = (await activatedDigests())?.slice(0, Math.max(1, options.keep));
    if (kept !== undefined) await removeAll([...(await copiesBut(kept)), ...(await copiesSetAside())]);
  };

  const activations = async (): Promise<ActivationList> => (await readActivations(dir, disk, passBy)) ?? [];
  const lastGood = async (passesFaults: boolean, begin?: OpenCheck): Promise<StoredBundle | undefined> => {
    let fault: unknown;
    const passFault = (error: unknown): void => {
      fault ??= error;
    };
    const read = () => readActivations(dir, disk, passesFaults ? passFault : undefined);
    let listed = await read();
    if (listed === undefined) {
      // A momentary fault of both files hides the order and the versions.
      fault = undefined;
      listed = await read();
    }
    const isLost = listed === undefined || fault !== undefined;
    const named = listed?.map(({ digest }) => digest) ?? [];
    const openOne = async (digest: string): Promise<StoredBundle | undefined> => {
      const bundle = await open(digest, begin, { listed });
      // Where the list is lost, an archive without pages may lie here that was never activated.
      if (bundle === undefined || bundle.activation !== undefined || bundle.index.pages > 0) return bundle;
      await bundle.close();
      if (fault !== undefined) throw fault;
      return undefined;
    };
    const searchesOf = (digests: readonly string[]): readonly Search[] =>
      digests.map((digest) => () => openOne(digest));
    const openOthers: Search = async () => {
      const stored = await disk.list(bundlesFolder(dir));
      const others = stored.filter((digest) => !named.includes(digest));
      return firstGood(passesFaults, searchesOf(others));
    };
    return firstGood(passesFaults, [...searchesOf(named), ...(isLost ? [openOthers] : [])]);
  };
  const activatedDigests = async (
    passFault?: (fault: unknown) => void,
  ): Promise<readonly string[] | undefined> => {
    const stored = await disk.list(bundlesFolder(dir));
    const listed = await readActivations(dir, disk, passFault);
    return listed?.map(({ digest }) => digest).filter((digest) => stored.includes(digest));
  };

  return {
    open: (digest) => inStore(open(digest)),
    lastGood: (passesFaults = false) => inStore(lastGood(passesFaults)),
    lastGoodAtStart: (passesFaults = false) => inStore(lastGoodAtStart(passesFaults)),
    former: async () => (await inStore(activatedDigests(passBy)))?.slice(1) ?? [],
    activate: (digest, activation) => inStore(writeActivation(dir, { digest, ...activation }, disk)),
    dropFormer: async (neededDigests) => {
      let isListRead = true;
      const digests = await inStore(
        activatedDigests(() => {
          isListRead = false;
        }),
      );
      // Without the list, any bundle may be the last good one.
      if (digests === undefined) return 0;
      const others = await inStore(copiesBut([...digests.slice(0, 1), ...neededDigests]));
      // What only the list may name stays as long as the disk does not give it.
      const former = others.filter(({ digest }) => isListRead || digests.includes(digest));
      const damaged = digests.length === 0 ? [] : await inStore(copiesSetAside(neededDigests));
      const { gone, fault } = await removeCopies([...former, ...damaged]);
      if (gone === 0 && fault !== undefined) throw storeFault(fault);
      return gone;
    },
    forgetDamaged: async (provenDigest) => {
      const isFoundAgain = (await inStore(activatedDigests()))?.includes(provenDigest);
      if (isFoundAgain === true) await inStore(copiesSetAside().then(removeAll));
    },
    sweep: () => inStore(sweep()),
  };
}

/** What the caller of a copy knows: where it lies, if not in its usual place, and the list of activations. */
interface Known {
  readonly folder?: string;
  readonly listed?: ActivationList | undefined;
}

interface Copy {
  readonly digest: string;
  readonly folder: string;
}

/** What stays costs only room, so that a volume which can only be read is served from. */
async function removeLeftovers(
  dir: string,
  disk: StoreDisk,
  onLeftover: (error: unknown) => void = () => {},
): Promise<void> {
  const isOurs = (name: string): boolean =>
    name.startsWith(incomingPrefix) || name.startsWith(outgoingPrefix) || name === nextCurrentName;
  const bundles = bundlesFolder(dir);
  const [others = [], stored = []] = [await ifReadable(disk.list(dir)), await ifReadable(disk.list(bundles))];
  const leftovers = [
    ...others.filter(isOurs).map((name) => join(dir, name)),
    ...stored.filter((name) => !digestPattern.test(name)).map((name) => join(bundles, name)),
  ];
  for (const path of leftovers) await disk.remove(path).catch(onLeftover);
}
