// The worker's side of a preparation: download → read → check the digest → pack and index in the store.
// Owns: fresh starts after a broken download, and the removal of its work folder when it ends by itself.
// Invariant: it reports exactly one `done` or `failed`, last; before `done` the bundle is committed.

import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { makeFolder } from '../../runtime/folder.ts';
import { Link } from '../../wire/link.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { readArchive } from '../archive/archive-reader.ts';
import { type Assembly, createAssembly } from '../archive/assembly.ts';
import { BundleError } from '../bundle-error.ts';
import type { BundleIndex } from '../bundle-index.ts';
import { watch } from '../byte-stream.ts';
import { fetchArchive } from '../fetch/fetching.ts';
import type { ProxySettings } from '../fetch/link-agent.ts';
import { oddAnswer } from '../fetch/odd-answer.ts';
import { refusal } from '../refusal.ts';
import { commitBundle } from '../store/commit.ts';
import { createCountingSink, createPackWriter, type PackSink } from '../store/pack.ts';
import { freeBytesOf, removeQuietly, type StoreDisk, systemDisk } from '../store/store-disk.ts';
import { storeFault, storeFull } from '../store/store-fault.ts';
import { reportOf } from '../thread/thread-answer.ts';
import { summaryOf, type ThreadReport } from '../thread/thread-message.ts';
import type { PreparationOrder } from './preparation-message.ts';

export interface PreparationEdge {
  readonly clock: Clock;
  readonly proxy: ProxySettings;
  readonly report: (report: ThreadReport) => void;
  readonly disk?: StoreDisk;
  /** Of the store's file system, see `freeBytesOf`. */
  readonly freeBytes?: (folder: string) => Promise<number | undefined>;
}

const maxStarts = 3;
const reportEveryMs = 200;

/**
 * Does the order and reports how it went. Never rejects.
 *
 * @returns the index of what was prepared, for whoever asks for it; `undefined` when it failed
 */
export async function runPreparation(
  order: PreparationOrder,
  edge: PreparationEdge,
): Promise<BundleIndex | undefined> {
  try {
    const index = await prepare(order, edge);
    edge.report({ type: 'done', summary: summaryOf(index) });
    return index;
  } catch (error) {
    edge.report(reportOf(error instanceof BundleError ? error : unforeseen(error)));
    return undefined;
  }
}

async function prepare(order: PreparationOrder, edge: PreparationEdge): Promise<BundleIndex> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await attempt(order, edge);
    } catch (error) {
      const isBroken = error instanceof BundleError && error.code === 'DownloadInterrupted';
      if (!isBroken || starts >= maxStarts) throw error;
    } finally {
      await removeQuietly(order.workDir);
    }
  }
}

async function attempt(order: PreparationOrder, edge: PreparationEdge): Promise<BundleIndex> {
  const progress: Progress = { receivedBytes: 0, files: 0, lastReport: Number.NEGATIVE_INFINITY };
  const { storeDir } = order;
  if (storeDir === undefined) return read(order, edge, createCountingSink(), progress);
  const staged = join(order.workDir, 'bundle');
  await makeFolder(staged).catch((error: unknown) => {
    throw storeFault(error);
  });
  const pack = createPackWriter(join(staged, 'pack'));
  try {
    const index = await read(order, edge, pack, progress);
    return await whileBeating(progress, edge, order.limits.idleTimeoutMs, async () => {
      const compacted = pack.compact(index);
      await pack.commit();
      return commitBundle(storeDir, staged, compacted, pack.position, edge.disk ?? systemDisk);
    });
  } catch (error) {
    throw error instanceof BundleError ? error : storeFault(error);
  } finally {
    pack.abandon();
  }
}

async function read(
  order: PreparationOrder,
  edge: PreparationEdge,
  pack: PackSink,
  progress: Progress,
): Promise<BundleIndex> {
  const { limits } = order;
  const { clock, proxy } = edge;
  const link = Link.parse(order.link);
  if (link === undefined) throw oddAnswer('InvalidRedirect');
  const onRequest = (): void => {
    if (progress.receivedBytes === 0) return;
    progress.lastReport = Number.NEGATIVE_INFINITY;
    tell(progress, edge);
  };
  const admit = (archiveBytes: number): Promise<void> => requireRoom(order.storeDir, archiveBytes, edge);
  const giveUp = new AbortController();
  const assembly = createAssembly(limits, pack);
  try {
    const bytes = fetchArchive(link, { ...order, clock, proxy, admit, onRequest }, giveUp.signal);
    const counted = watch(bytes, (chunk) => {
      progress.receivedBytes += chunk.length;
      tell(progress, edge);
    });
    const telling: Assembly = {
      ...assembly,
      get files() {
        return assembly.files;
      },
      beginFile: (name, size) => {
        progress.files = assembly.files;
        tell(progress, edge);
        return assembly.beginFile(name, size);
      },
    };
    await readArchive(counted, telling, limits, join(order.workDir, 'spool'));
  } finally {
    giveUp.abort();
  }
  const index = assembly.finish();
  if (order.expectedDigest !== undefined && index.digest !== order.expectedDigest) {
    throw refusal('DigestMismatch');
  }
  return index;
}

/**
 * Gigabytes are not fetched only to find that there is no room for them. Unpacked they take more than packed, as
 * good as always, so the archive's own size is the least that must be free.
 */
async function requireRoom(
  storeDir: string | undefined,
  archiveBytes: number,
  { freeBytes = freeBytesOf }: PreparationEdge,
): Promise<void> {
  const free = storeDir === undefined ? undefined : await freeBytes(storeDir);
  if (free !== undefined && free < archiveBytes) throw storeFull();
}

/** What has moved so far, and a way to say so now and then: the starter tells work from a standstill by it. */
interface Progress {
  receivedBytes: number;
  files: number;
  lastReport: number;
}

function tell(progress: Progress, edge: PreparationEdge): void {
  const now = edge.clock.monotonic();
  if (now - progress.lastReport < reportEveryMs) return;
  progress.lastReport = now;
  edge.report({ type: 'progress', receivedBytes: progress.receivedBytes, files: progress.files });
}

/** Syncing gigabytes to a slow disk is silence, not a standstill: says so at every half of the idle limit. */
async function whileBeating<T>(
  progress: Progress,
  edge: PreparationEdge,
  idleMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const done = new AbortController();
  const beat = async (): Promise<void> => {
    for (;;) {
      await edge.clock.after(idleMs / 2, done.signal);
      tell(progress, edge);
    }
  };
  const beating = beat().catch(() => {}); // ends by the abort below
  try {
    return await work();
  } finally {
    done.abort();
    await beating;
  }
}

function unforeseen(cause: unknown): BundleError {
  const words = `preparing the bundle failed unexpectedly (${publishableCode(cause)}); it will be tried again`;
  return new BundleError('transient', 'PreparationFailed', words, { cause });
}
