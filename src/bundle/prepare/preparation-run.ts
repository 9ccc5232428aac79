// The thread's side of a preparation: download → read → check the digest → write pack and index to the store. Owns:
// restarts after an interrupted download, and the removal of its work folder when it ends by itself. Invariant: when it
// resolves with a store, the bundle is committed there.

import { join } from 'node:path';
import type { Clock } from '../../runtime/clock.ts';
import { makeFolder } from '../../runtime/folder.ts';
import { Link } from '../../wire/link.ts';
import { readArchive } from '../archive/archive-reader.ts';
import { createAssembly } from '../archive/assembly.ts';
import { BundleError } from '../bundle-error.ts';
import type { BundleIndex } from '../bundle-index.ts';
import type { BundleProgress } from '../bundle-task.ts';
import { watch } from '../byte-stream.ts';
import { fetchArchive } from '../fetch/fetching.ts';
import type { ProxySettings } from '../fetch/proxy-settings.ts';
import { oddAnswer, refusal } from '../refusal.ts';
import { commitBundle } from '../store/commit.ts';
import { createCountingSink, createPackWriter, type PackSink } from '../store/pack.ts';
import { freeBytesOf, removeQuietly, type StoreDisk, systemDisk } from '../store/store-disk.ts';
import { inStore, storeFull } from '../store/store-fault.ts';
import type { PrepareTask } from './preparation.ts';

export interface PrepareContext {
  readonly clock: Clock;
  readonly proxy: ProxySettings;
  readonly onProgress: (progress: BundleProgress) => void;
  readonly disk?: StoreDisk;
  /** Of the store's file system, see `freeBytesOf`. */
  readonly freeBytes?: (folder: string) => Promise<number | undefined>;
}

const maxStarts = 3;
const reportEveryMs = 200;

/**
 * @returns the index of what was prepared; with `storeDir`, of what lies in the store now
 * @throws {BundleError} see `prepareInWorker`
 */
export async function runPreparation(task: PrepareTask, context: PrepareContext): Promise<BundleIndex> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await attempt(task, context);
    } catch (error) {
      const isBroken = error instanceof BundleError && error.code === 'DownloadInterrupted';
      if (!isBroken || starts >= maxStarts) throw error;
    } finally {
      await removeQuietly(task.workDir);
    }
  }
}

async function attempt(task: PrepareTask, context: PrepareContext): Promise<BundleIndex> {
  const progress: Progress = { receivedBytes: 0, files: 0, lastReport: Number.NEGATIVE_INFINITY };
  const { storeDir } = task;
  if (storeDir === undefined) return read(task, context, createCountingSink(), progress);
  const staged = join(task.workDir, 'bundle');
  await inStore(makeFolder(staged));
  const pack = createPackWriter(join(staged, 'pack'));
  try {
    const index = await read(task, context, pack, progress);
    const compacted = pack.compact(index);
    await pack.commit();
    return await inStore(
      commitBundle(storeDir, staged, compacted, pack.position, context.disk ?? systemDisk),
    );
  } finally {
    pack.abandon();
  }
}

async function read(
  task: PrepareTask,
  context: PrepareContext,
  pack: PackSink,
  progress: Progress,
): Promise<BundleIndex> {
  const { limits } = task;
  const { clock, proxy } = context;
  const link = Link.parse(task.link);
  if (link === undefined) throw oddAnswer('InvalidRedirect');
  const admit = (archiveBytes: number): Promise<void> => requireRoom(task.storeDir, archiveBytes, context);
  const giveUp = new AbortController();
  const assembly = createAssembly(limits, pack);
  try {
    const bytes = fetchArchive(link, { ...task, clock, proxy, admit }, giveUp.signal);
    const counted = watch(bytes, (chunk) => {
      progress.receivedBytes += chunk.length;
      progress.files = assembly.files;
      reportProgress(progress, context);
    });
    await readArchive(counted, assembly, limits, join(task.workDir, 'spool'));
  } finally {
    giveUp.abort();
  }
  const index = assembly.finish();
  if (task.expectedDigest !== undefined && index.digest !== task.expectedDigest) {
    throw refusal('DigestMismatch');
  }
  return index;
}

/**
 * Checks free space before the download. An archive almost always takes more space unpacked, so its own size is the
 * least that must be free.
 */
async function requireRoom(
  storeDir: string | undefined,
  archiveBytes: number,
  { freeBytes = freeBytesOf }: PrepareContext,
): Promise<void> {
  const free = storeDir === undefined ? undefined : await freeBytes(storeDir);
  if (free !== undefined && free < archiveBytes) throw storeFull();
}

/** How far the preparation is. */
interface Progress {
  receivedBytes: number;
  files: number;
  lastReport: number;
}

function reportProgress(progress: Progress, context: PrepareContext): void {
  const now = context.clock.monotonic();
  if (now - progress.lastReport < reportEveryMs) return;
  progress.lastReport = now;
  context.onProgress({ receivedBytes: progress.receivedBytes, files: progress.files });
}
