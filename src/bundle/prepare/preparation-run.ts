// The thread's side of a preparation: download → read → check the digest → write pack and index to the store. Owns:
// restarts after an interrupted download, and the removal of its work folder when it ends by itself. Invariant: when it
// resolves with a store, the bundle is committed there. What is offered before was verified, and may yet not be stored.

import { join } from 'node:path';
import type { ProxySettings } from '#platform/http/proxy-settings.ts';
import { makeFolder } from '#platform/runtime/folder.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { readArchive } from '../archive/archive-reader.ts';
import { type Assembly, createAssembly } from '../archive/assembly.ts';
import type { BundleFile, BundleIndex } from '../bundle-index.ts';
import { type OnWritten, type ProgressContext, throttleProgress } from '../bundle-task.ts';
import { watch } from '../byte-stream.ts';
import { fetchArchive } from '../fetch/fetching.ts';
import { oddAnswer, refusal } from '../refusal.ts';
import { commitBundle } from '../store/commit.ts';
import { isHiddenFile } from '../store/hidden-files.ts';
import { createCountingSink, createPackWriter, type PackSink } from '../store/pack.ts';
import { freeBytesOf, removeQuietly, type StoreDisk, systemDisk } from '../store/store-disk.ts';
import { inStore, storeFull } from '../store/store-fault.ts';
import { bundleFolder, packName } from '../store/store-layout.ts';
import type { PrepareTask, StoringTask } from './preparation.ts';

export interface PrepareContext extends ProgressContext {
  readonly proxy: ProxySettings;
  readonly disk?: StoreDisk;
  /** Of the store's file system, see `freeBytesOf`. */
  readonly freeBytes?: (folder: string) => Promise<number | undefined>;
  /** Receives what was read and verified while the disk syncs it, unless the store had the content before. */
  readonly offer?: OnWritten | undefined;
}

type StoreContext = Pick<PrepareContext, 'disk' | 'offer'>;

const maxStarts = 3;

/** Gives a pack to what reads the content. The work folder is removed afterwards. */
export type KeepContent = (
  task: StoringTask,
  context: StoreContext,
  readInto: (pack: PackSink) => Promise<BundleIndex>,
) => Promise<BundleIndex>;

/**
 * @param keep called again where the download starts again
 * @returns the index of what was prepared; with `storeDir`, of what lies in the store now
 * @throws {PublishableError} see `prepareInWorker`
 */
export async function runPreparation(
  task: PrepareTask,
  context: PrepareContext,
  keep: KeepContent = storeContent,
): Promise<BundleIndex> {
  for (let starts = 1; ; starts += 1) {
    try {
      return await keep(task, context, (pack) => read(task, context, pack));
    } catch (error) {
      const isBroken = error instanceof PublishableError && error.code === 'DownloadInterrupted';
      if (!isBroken || starts >= maxStarts) throw error;
    } finally {
      await removeQuietly(task.workDir);
    }
  }
}

/**
 * Commits what `readInto` puts into the pack. Without a store only reads it.
 *
 * @returns the index of what lies in the store now
 * @throws {PublishableError} of the store; what `readInto` throws
 */
export async function storeContent(
  task: StoringTask,
  { disk = systemDisk, offer = async () => {} }: StoreContext,
  readInto: (pack: PackSink) => Promise<BundleIndex>,
): Promise<BundleIndex> {
  const { storeDir } = task;
  if (storeDir === undefined) return readInto(createCountingSink());
  const staged = join(task.workDir, 'bundle');
  await inStore(makeFolder(staged));
  const packPath = join(staged, packName);
  const pack = createPackWriter(packPath);
  try {
    const index = await readInto(pack);
    const isKept = ({ path }: BundleFile): boolean => !isHiddenFile(path, task.serveDotfiles);
    const kept = task.keepsHiddenFiles === true ? index.files : index.files.filter(isKept);
    const compacted = pack.compact(index, kept);
    pack.flush();
    const isNew = await disk.list(bundleFolder(storeDir, index.digest)).then(
      (names) => names.length === 0,
      () => false,
    );
    // The pack moves with its folder, so it must be open by then.
    await Promise.all([pack.commit(), isNew ? offer(compacted, packPath) : undefined]);
    return await inStore(commitBundle(storeDir, staged, compacted, pack.position, disk));
  } finally {
    pack.abandon();
  }
}

async function read(task: PrepareTask, context: PrepareContext, pack: PackSink): Promise<BundleIndex> {
  const { limits } = task;
  const { clock, proxy } = context;
  const link = Link.parse(task.link)?.validUntil(task.linkExpiresAt).ofBytes(task.linkBytes);
  if (link === undefined) throw oddAnswer('InvalidRedirect');
  const admit = (archiveBytes: number): Promise<void> => requireRoom(task.storeDir, archiveBytes, context);
  const giveUp = new AbortController();
  const assembly = createAssembly(limits, pack, task);
  try {
    const bytes = fetchArchive(link, { ...task, clock, proxy, admit }, giveUp.signal);
    const report = throttleProgress(context);
    let receivedBytes = 0;
    const reportProgress = (): void => report({ receivedBytes, files: assembly.files });
    const counted = watch(bytes, (chunk) => {
      receivedBytes += chunk.length;
      reportProgress();
    });
    // A zip is unpacked after its last byte has arrived, so each file is progress too.
    const beginFile: Assembly['beginFile'] = (name, size) => {
      reportProgress();
      return assembly.beginFile(name, size);
    };
    await readArchive(counted, { ...assembly, beginFile }, limits, join(task.workDir, 'spool'));
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
export async function requireRoom(
  storeDir: string | undefined,
  archiveBytes: number,
  { freeBytes = freeBytesOf }: Pick<PrepareContext, 'freeBytes'>,
): Promise<void> {
  const free = storeDir === undefined ? undefined : await freeBytes(storeDir);
  if (storeDir === undefined || free === undefined || free >= archiveBytes) return;
  throw storeFull({ folder: storeDir, neededBytes: archiveBytes, freeBytes: free, isJudgedByFree: true });
}
