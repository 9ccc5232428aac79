// Reads an archive by the same worker, limits and rules as the operator and the servers. Keeps its files in a work
// folder of its own while a command needs them. Invariant: the work folder is removed, however the command ends.

import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { type BundleLimits, defaultLimits } from '#bundle/limits.ts';
import { type PrepareOptions, prepareInWorker } from '#bundle/prepare/preparation.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import { bundleFolder, packName } from '#bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import { sizeText } from '#platform/runtime/flags/flag-kinds.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { counted, sizeWords } from '../output/amounts.ts';

export interface SizeLimits {
  readonly maxArchiveSize: number;
  readonly maxBundleSize: number;
}

export const commandLimitsOf = ({ maxArchiveSize, maxBundleSize }: SizeLimits): BundleLimits => ({
  ...defaultLimits,
  maxArchiveBytes: maxArchiveSize,
  maxTotalBytes: maxBundleSize,
});

type ReadingContext = Pick<CliContext, 'bundleWorker' | 'clock' | 'random' | 'signal' | 'progress'>;

const defaultPhase = 'Reading the archive';

/** The index. @param phase as progress names it @param storeDir keeps the content; without it, nothing is kept @throws {PublishableError} {CliError} `ArchiveUnreadable`, `ArchiveIsFolder` */
export async function readIndex(
  path: string,
  sizes: SizeLimits,
  context: ReadingContext,
  phase = defaultPhase,
  storeDir?: string,
): Promise<BundleIndex> {
  return prepare(path, sizes, storeDir, context, phase);
}

/**
 * The archive with its files, while `work` runs.
 *
 * @throws {PublishableError} {CliError} `ArchiveUnreadable`, `ArchiveIsFolder`, and what `work` throws
 */
export async function withArchive<T>(
  path: string,
  sizes: SizeLimits,
  context: ReadingContext,
  work: (bundle: StoredBundle) => Promise<T>,
): Promise<T> {
  const bundle = await openArchive(path, sizes, context);
  try {
    return await work(bundle);
  } finally {
    await bundle.close();
  }
}

export interface UnpackedArchive {
  readonly packPath: string;
  readonly index: BundleIndex;
  /** Removed afterwards, with all that `work` writes there. */
  readonly workFolder: string;
}

/**
 * The pack of an archive, for a thread that opens it while `work` runs.
 *
 * @throws {PublishableError} {CliError} `ArchiveUnreadable`, `ArchiveIsFolder`, and what `work` throws
 */
export async function withPack<T>(
  path: string,
  sizes: SizeLimits,
  context: ReadingContext,
  work: (archive: UnpackedArchive) => Promise<T>,
): Promise<T> {
  const storeDir = join(tmpdir(), `static-export-${context.random.uuid()}`);
  try {
    const index = await prepare(path, sizes, storeDir, context, defaultPhase);
    const packPath = join(bundleFolder(storeDir, index.digest), packName);
    return await work({ packPath, index, workFolder: storeDir });
  } finally {
    await removeQuietly(storeDir);
  }
}

/**
 * The archive with its files, for a caller that closes it.
 *
 * @param phase as progress names it
 * @returns a bundle whose `close` also removes its work folder
 * @throws {PublishableError} {CliError} `ArchiveUnreadable`, `ArchiveIsFolder`
 */
export async function openArchive(
  path: string,
  sizes: SizeLimits,
  context: ReadingContext,
  phase = defaultPhase,
): Promise<StoredBundle> {
  const storeDir = join(tmpdir(), `static-export-${context.random.uuid()}`);
  try {
    const index = await prepare(path, sizes, storeDir, context, phase);
    const bundle = await openPack(join(bundleFolder(storeDir, index.digest), packName), index, undefined);
    const close = async (): Promise<void> => {
      await bundle.close();
      await removeQuietly(storeDir);
    };
    return { ...bundle, close };
  } catch (error) {
    await removeQuietly(storeDir);
    throw error;
  }
}

async function prepare(
  path: string,
  sizes: SizeLimits,
  storeDir: string | undefined,
  context: ReadingContext,
  phase: string,
): Promise<BundleIndex> {
  await requireFile(path);
  const link = Link.parse(pathToFileURL(resolve(path)).href);
  if (link === undefined) throw unreadable(undefined);
  const { progress } = context;
  progress.phase(phase);
  try {
    return await readLinkContent(link, { sizes, storeDir, allowFileLinks: true }, context, context.signal);
  } catch (error) {
    throw localError(error, sizes);
  } finally {
    progress.end();
  }
}

export interface ContentOptions {
  readonly sizes: SizeLimits;
  /** Keeps the whole content, hidden files included; `undefined`: keeps nothing. */
  readonly storeDir: string | undefined;
  /** Required of the content; without it, each digest is accepted. */
  readonly digest?: string | undefined;
  readonly allowFileLinks?: boolean;
  readonly allowPrivateLinks?: boolean;
  /** PEM of CA certificates to trust in addition to the system's. */
  readonly extraCaPem?: string | undefined;
}

/** Reads the archive behind a link, and reports progress. @throws {PublishableError} the signal's reason */
export async function readLinkContent(
  link: Link,
  { sizes, storeDir, digest, allowFileLinks = false, allowPrivateLinks = false, extraCaPem }: ContentOptions,
  context: ReadingContext,
  signal: AbortSignal,
): Promise<BundleIndex> {
  const limits = commandLimitsOf(sizes);
  const request = { link, storeDir, limits, allowPrivateLinks, allowFileLinks, extraCaPem, userAgent };
  const named = { ...request, expectedDigest: digest, keepsHiddenFiles: true };
  const read = (options: PrepareOptions) => prepareInWorker(context.bundleWorker, named, options);
  return indexOf(read, context, signal);
}

/**
 * The index that a thread hands over, with progress meanwhile.
 *
 * @param read starts the thread
 * @throws what `read` throws
 */
export async function indexOf(
  read: (options: PrepareOptions) => Promise<unknown>,
  { clock, random, progress }: Pick<CliContext, 'clock' | 'random' | 'progress'>,
  signal: AbortSignal,
): Promise<BundleIndex> {
  const indexes: BundleIndex[] = [];
  await read({
    signal,
    clock,
    random,
    onProgress: ({ receivedBytes, files }) =>
      progress.advance(undefined, `${sizeWords(receivedBytes)}, ${counted(files, 'file')}`),
    handOver: { pause: async () => {}, take: (index) => void indexes.push(index) },
  });
  const [index] = indexes;
  if (index === undefined) throw new Error('the thread handed over no index');
  return index;
}

/** A second download may fix such an error. A second read of the user's file gives the same bytes. */
const oddFiles: ReadonlyMap<string, string> = new Map([
  ['EmptyArchive', 'the file is empty; download it again'],
  ['HtmlInsteadOfArchive', 'the file is an HTML page, not an archive; check where it was downloaded from'],
  ['XmlInsteadOfArchive', 'the file is an XML document, not an archive; check where it was downloaded from'],
  [
    'UnknownArchiveType',
    'the file is none of tar, tar.gz, tar.zst and zip; unpack it, and pack the folder with bundle pack',
  ],
  ['EmptyBundle', 'the archive holds no file; pack the folder of the site, or export the site again'],
]);

function localError(error: unknown, { maxArchiveSize, maxBundleSize }: SizeLimits): unknown {
  if (!(error instanceof PublishableError)) return error;
  if (error.code === 'FileUnreadable') return unreadable(error);
  if (error.code === 'ArchiveTooLarge') return beyond(error, '--max-archive-size', maxArchiveSize);
  if (error.code === 'ContentTooLarge') return beyond(error, '--max-bundle-size', maxBundleSize);
  const message = oddFiles.get(error.code);
  return message === undefined
    ? error
    : new PublishableError(error.code, message, { kind: 'refused', cause: error });
}

const beyond = (error: PublishableError, flag: string, limit: number): PublishableError =>
  error.saying(`${error.message} (${flag} is ${sizeText(limit)}); raise ${flag} if you trust the archive`);

function unreadable(cause: unknown): CliError {
  const code = publishableCode(cause);
  const message =
    code === 'ENOENT'
      ? 'the archive does not exist; check its path'
      : `the archive cannot be read (${code}); check its path and permissions`;
  return new CliError('usage', 'ArchiveUnreadable', message, { cause });
}

/** Checked before a thread starts, so that the error names a folder or a device instead of an unreadable archive. */
async function requireFile(path: string): Promise<void> {
  if (/\.sxkit(?:\.\d{3})?$/.test(path)) {
    throw new CliError('usage', 'ArchiveIsKit', 'the file is a kit, not the archive of a site', {
      next: ['static-export kit verify KIT --key kit.pub  # checks a kit'],
    });
  }
  const stats = await stat(path).catch((cause: unknown) => {
    throw isLink(path) ? linkAsPath() : unreadable(cause);
  });
  if (stats.isFile()) return;
  if (stats.isDirectory()) {
    throw new CliError('usage', 'ArchiveIsFolder', 'the path is a folder, not an archive', {
      next: ['static-export bundle pack FOLDER ARCHIVE  # makes an archive of a folder'],
    });
  }
  const message = 'the path is neither a file nor a folder; save the archive to a file first';
  throw new CliError('usage', 'ArchiveUnreadable', message);
}

/** Such as `https://…`, which may be signed: no message shows it. */
export const isLink = (path: string): boolean => /^[a-z][a-z0-9+.-]*:\/\//i.test(path);

/** Without its cause, whose message has the link. */
export function linkAsPath(): CliError {
  const message = 'the path is a link, not an archive; download it first';
  return new CliError('usage', 'ArchiveIsLink', message, {
    next: ['curl -fsSL -o site.tar.gz LINK  # saves the archive to a file'],
  });
}
