// Downloads a published bundle once, checks that it has the published digest, and writes it to its destinations.
// Invariant: the work folder is removed, however this ends.

import { join } from 'node:path';
import type { BundleIndex } from '../../bundle/bundle-index.ts';
import type { PublishedBundle } from '../../bundle/published-bundle.ts';
import { removeQuietly } from '../../bundle/store/store-disk.ts';
import { bundleFolder, packName } from '../../bundle/store/store-layout.ts';
import { openPack } from '../../bundle/store/stored-bundle.ts';
import { openCaFile } from '../../runtime/http/ca-certificates.ts';
import type { Link } from '../../wire/link.ts';
import { readContent, type SizeLimits } from '../bundle/reading.ts';
import type { CliContext } from '../context.ts';
import type { Placement } from '../output/destination.ts';
import { placeBundle } from './place.ts';

export interface DownloadOptions extends SizeLimits {
  readonly workDir: string;
  readonly allowPrivateLinks: boolean;
  readonly extraCaFile: string | undefined;
}

/** @throws {BundleError} {CliError} `DestinationNotWritten` and its siblings. @returns the digest of what was written */
export async function placePublished(
  { bundleUrl, digest }: Pick<PublishedBundle, 'bundleUrl' | 'digest'>,
  places: readonly (Placement & { readonly path: string })[],
  options: DownloadOptions,
  context: CliContext,
  signal: AbortSignal,
): Promise<string> {
  context.progress.phase('Downloading and checking');
  try {
    const index = await downloadInto(bundleUrl, digest, options, context, signal);
    context.progress.phase('Writing');
    for (const place of places) await placeIndex(index, place, options.workDir, context, signal);
    return index.digest;
  } finally {
    await removeQuietly(options.workDir);
  }
}

/** Keeps the whole content in the work folder. @param digest required of it; without one, each is accepted */
export async function downloadInto(
  link: Link,
  digest: string | undefined,
  { workDir, allowPrivateLinks, extraCaFile, maxArchiveSize, maxBundleSize }: DownloadOptions,
  context: CliContext,
  signal: AbortSignal,
): Promise<BundleIndex> {
  const extraCaPem = await (await openCaFile(extraCaFile, () => {})).current();
  const sizes = { maxArchiveSize, maxBundleSize };
  const options = { sizes, storeDir: workDir, digest, allowPrivateLinks, extraCaPem };
  return readContent(link, options, context, signal);
}

/** Writes what `downloadInto` kept. */
export async function placeIndex(
  index: BundleIndex,
  place: Placement & { readonly path: string },
  workDir: string,
  { progress }: Pick<CliContext, 'progress'>,
  signal: AbortSignal,
): Promise<void> {
  const pack = await openPack(join(bundleFolder(workDir, index.digest), packName), index, undefined);
  const leftOut = await placeBundle(pack, place.path, place, signal).finally(() => pack.close());
  if (leftOut > 0) progress.note(`${leftOut} files that a server must not show were left out of the folder`);
}
