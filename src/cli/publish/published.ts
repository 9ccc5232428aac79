// Downloads and checks an archive once, and writes what it kept to a folder or an archive. Refuses: another attempt where
// only a change of the command helps. The caller removes the work folder.

import { join } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import { bundleFolder, packName } from '#bundle/store/store-layout.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import { openCaFile } from '#platform/http/ca-certificates.ts';
import type { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { readLinkContent, type SizeLimits } from '../bundle/reading.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { counted } from '../output/amounts.ts';
import type { Place } from './destinations.ts';
import { placeBundle } from './site-writer.ts';

export interface KeptDownloadOptions extends SizeLimits {
  readonly workDir: string;
  readonly allowPrivateLinks: boolean;
  readonly extraCaFile: string | undefined;
  /** Makes the content to keep of what was downloaded, in the same work folder. Default: what was downloaded. */
  readonly remake?:
    | ((index: BundleIndex, workDir: string, signal: AbortSignal) => Promise<BundleIndex>)
    | undefined;
}

/**
 * Keeps the whole content in the work folder.
 *
 * @param digest required of it; without one, each is accepted
 * @throws {PublishableError} {CliError} `PrivateLink`, `StoreFull`, `StoreUnavailable`; the signal's reason
 */
export async function downloadInto(
  link: Link,
  digest: string | undefined,
  { workDir, allowPrivateLinks, extraCaFile, maxArchiveSize, maxBundleSize }: KeptDownloadOptions,
  context: CliContext,
  signal: AbortSignal,
): Promise<BundleIndex> {
  const extraCaPem = await (await openCaFile(extraCaFile, () => {})).current();
  const sizes = { maxArchiveSize, maxBundleSize };
  const options = { sizes, storeDir: workDir, digest, allowPrivateLinks, extraCaPem };
  return readLinkContent(link, options, context, signal).catch((error: unknown) => {
    throw error instanceof PublishableError ? (hopeless(error) ?? error) : error;
  });
}

/** Archives that are inspected once, and then written from what was kept. The caller removes the work folder. */
export interface KeptDownloads {
  /** As the loop's inspection. Of several archives, the last is kept. */
  inspect(link: Link, signal: AbortSignal): Promise<BundleIndex>;
  /** What was inspected last. */
  index(): BundleIndex | undefined;
  isWorking(): boolean;
  /** What another attempt would not change. */
  fault(): CliError | undefined;
  /** Resolves when nothing writes to the work folder. */
  ended(): Promise<void>;
}

export function keepDownloads(options: KeptDownloadOptions, context: CliContext): KeptDownloads {
  let index: BundleIndex | undefined;
  let fault: CliError | undefined;
  let working: Promise<unknown> | undefined;
  const download = async (link: Link, signal: AbortSignal): Promise<BundleIndex> => {
    await working?.catch(() => {});
    await removeQuietly(options.workDir);
    context.progress.phase('Downloading and checking');
    const downloaded = await downloadInto(link, undefined, options, context, signal);
    const { remake, workDir } = options;
    index = remake === undefined ? downloaded : await remake(downloaded, workDir, signal);
    return index;
  };
  return {
    inspect: async (link, signal) => {
      const own = download(link, signal);
      working = own;
      try {
        return await own;
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        fault = error;
        throw error.cause;
      } finally {
        if (working === own) working = undefined;
      }
    },
    index: () => index,
    isWorking: () => working !== undefined,
    fault: () => fault,
    ended: async () => {
      await working?.catch(() => {});
    },
  };
}

/** Of `PrivateLink`. */
export const privateLinkMessage =
  'the link leads to a loopback, link-local or private address; add --allow-private-links if that is intended; link-local and metadata addresses are never allowed';

/** Where another link or another attempt gives the same. */
function hopeless(cause: PublishableError): CliError | undefined {
  const { code } = cause;
  if (code === 'PrivateLink') return new CliError('usage', code, privateLinkMessage, { cause });
  const step = storeSteps.get(code);
  if (step === undefined) return undefined;
  const message = `${cause.message.replace(/\.$/, '')}. ${step}`;
  return new CliError('temporary', code, message, { cause });
}

const storeSteps: ReadonlyMap<string, string> = new Map([
  ['StoreFull', 'Or name another folder with --state'],
  ['StoreUnavailable', 'The store is in the state folder; name another one with --state'],
]);

/** Writes what `downloadInto` kept. @throws {CliError} `DestinationNotWritten` and its siblings */
export async function placeIndex(
  index: BundleIndex,
  place: Place,
  workDir: string,
  { progress }: Pick<CliContext, 'progress'>,
  signal: AbortSignal,
): Promise<void> {
  const pack = await openPack(join(bundleFolder(workDir, index.digest), packName), index, undefined);
  const leftOut = await placeBundle(pack, place.path, place, signal).finally(() => pack.close());
  if (leftOut > 0)
    progress.note(`Left out of the folder: ${counted(leftOut, 'file')} that a server must not show`);
}
