// Reads an archive by the same worker, limits and rules as the operator and the servers. Keeps its files in a work
// folder of its own while a command needs them. Invariant: the work folder is removed, however the command ends.

import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { BundleError } from '../../bundle/bundle-error.ts';
import type { BundleIndex } from '../../bundle/bundle-index.ts';
import { defaultLimits } from '../../bundle/limits.ts';
import { prepareInWorker } from '../../bundle/prepare/preparation.ts';
import { removeQuietly } from '../../bundle/store/store-disk.ts';
import { bundleFolder, packName } from '../../bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '../../bundle/store/stored-bundle.ts';
import { userAgent } from '../../runtime/version.ts';
import { Link } from '../../wire/link.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';

export interface SizeLimits {
  readonly maxArchiveSize: number;
  readonly maxBundleSize: number;
}

type ReadingContext = Pick<CliContext, 'bundleWorker' | 'clock' | 'random' | 'signal' | 'progress'>;

/** The index alone; nothing is kept. @throws {BundleError} {CliError} `ArchiveUnreadable` */
export async function readIndex(
  path: string,
  sizes: SizeLimits,
  context: ReadingContext,
): Promise<BundleIndex> {
  return prepare(path, sizes, undefined, context);
}

/**
 * The archive with its files, while `work` runs.
 *
 * @throws {BundleError} {CliError} `ArchiveUnreadable`, and what `work` throws
 */
export async function withArchive<T>(
  path: string,
  sizes: SizeLimits,
  context: ReadingContext,
  work: (bundle: StoredBundle) => Promise<T>,
): Promise<T> {
  const storeDir = join(tmpdir(), `static-export-${context.random.uuid()}`);
  try {
    const index = await prepare(path, sizes, storeDir, context);
    const bundle = await openPack(join(bundleFolder(storeDir, index.digest), packName), index, undefined);
    try {
      return await work(bundle);
    } finally {
      await bundle.close();
    }
  } finally {
    await removeQuietly(storeDir);
  }
}

async function prepare(
  path: string,
  { maxArchiveSize, maxBundleSize }: SizeLimits,
  storeDir: string | undefined,
  { bundleWorker, clock, random, signal, progress }: ReadingContext,
): Promise<BundleIndex> {
  const link = Link.parse(pathToFileURL(resolve(path)).href);
  if (link === undefined) throw unreadable(undefined);
  progress.phase('Reading the archive');
  const indexes: BundleIndex[] = [];
  const request = {
    link,
    storeDir,
    expectedDigest: undefined,
    limits: { ...defaultLimits, maxArchiveBytes: maxArchiveSize, maxTotalBytes: maxBundleSize },
    allowPrivateLinks: false,
    allowFileLinks: true,
    keepsHiddenFiles: true,
    extraCaPem: undefined,
    userAgent,
  };
  try {
    await prepareInWorker(bundleWorker, request, {
      signal,
      clock,
      random,
      onProgress: ({ files }) => progress.advance(undefined, `${files} files`),
      handOver: { pause: async () => {}, take: (index) => void indexes.push(index) },
    });
  } catch (error) {
    throw localError(error);
  } finally {
    progress.end();
  }
  const [index] = indexes;
  if (index === undefined) throw new Error('the thread handed over no index');
  return index;
}

/** The same errors of a download say "retrying" and "link"; a file of the user's is what it is. */
function localError(error: unknown): unknown {
  if (!(error instanceof BundleError)) return error;
  if (error.kind === 'expired-link') return unreadable(error);
  if (error.code !== 'UnknownArchiveType') return error;
  const message = 'the file is none of tar, tar.gz, tar.zst and zip';
  return new BundleError('rejected', error.code, message, { cause: error });
}

function unreadable(cause: unknown): CliError {
  const message = 'the archive does not exist or cannot be read; check its path and permissions';
  return new CliError('usage', 'ArchiveUnreadable', message, { cause });
}
