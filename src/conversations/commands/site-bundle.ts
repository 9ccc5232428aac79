// The site that visitors see, for `conversations gaps`: an archive, a link to one, or what a StaticExport publishes. Owns how
// `--bundle` is read, and from when on its version was served. A StaticExport is read by its link, or from its mirror where
// that fails. Refuses: printing a link, and loading the client of a cluster for anything but `sx/NAME`.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import { bundleFolder, packName } from '#bundle/store/store-layout.ts';
import type { MirrorValues } from '#cli/bundle/mirrored.ts';
import { type ContentOptions, readIndex, readLinkContent, type SizeLimits } from '#cli/bundle/reading.ts';
import { CliError } from '#cli/cli-error.ts';
import type { ClusterFlags } from '#cli/cluster/client.ts';
import type { CliContext } from '#cli/context.ts';
import { counted } from '#cli/output/amounts.ts';
import { openCaFile } from '#platform/http/ca-certificates.ts';
import { Link } from '#platform/wire/link.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type PageHashes, readPageHashes } from '../page-hashes.ts';

export interface SiteBundleFlags extends ClusterFlags, MirrorValues, SizeLimits {
  readonly bundle: string | undefined;
  readonly bundleVersion: string | undefined;
  readonly allowPrivateLinks: boolean;
}

export interface SiteBundle {
  readonly version: string;
  /** Epoch ms, as the version's name says it. */
  readonly publishedAt: number | undefined;
  readonly index: BundleIndex;
  readonly pageHashes: PageHashes;
}

interface NamedContent {
  readonly version: string | undefined;
  readonly index: BundleIndex;
}

/** @returns `undefined` without `--bundle`. @throws {CliError} {PublishableError} {ClusterError} */
export async function readSiteBundle(
  flags: SiteBundleFlags,
  context: CliContext,
): Promise<SiteBundle | undefined> {
  if (flags.bundle === undefined) return undefined;
  const storeDir = join(tmpdir(), `static-export-${context.random.uuid()}`);
  try {
    const { version, index } = await readContentOf(flags.bundle, flags, storeDir, context);
    const packPath = join(bundleFolder(storeDir, index.digest), packName);
    const pageHashes = await hashPagesOf(packPath, index, context);
    const name = printable(version ?? index.digest.slice(0, 12), 100);
    return { version: name, publishedAt: publicationTime(name), index, pageHashes };
  } finally {
    await removeQuietly(storeDir);
  }
}

async function readContentOf(
  bundle: string,
  flags: SiteBundleFlags,
  storeDir: string,
  context: CliContext,
): Promise<NamedContent> {
  const { bundleVersion: version } = flags;
  const [, name] = /^(?:sx|staticexports?)\/(.+)$/.exec(bundle) ?? [];
  if (name !== undefined) return readPublished(name, flags, storeDir, context);
  if (!/^https?:\/\//i.test(bundle))
    return { version, index: await readIndex(bundle, flags, context, 'Reading the bundle', storeDir) };
  const options = { sizes: flags, storeDir, allowPrivateLinks: true, extraCaPem: await extraCaOf(flags) };
  return { version, index: await download(linkOf(bundle), options, context) };
}

async function hashPagesOf(packPath: string, index: BundleIndex, context: CliContext): Promise<PageHashes> {
  const { pagesWorker, progress, signal } = context;
  progress.phase('Reading the pages');
  try {
    const onProgress = ({ pages }: { readonly pages: number }): void =>
      progress.advance(undefined, counted(pages, 'page'));
    return await readPageHashes(pagesWorker, { packPath, index }, { signal, onProgress });
  } finally {
    progress.end();
  }
}

/** A version's name begins with the time of its job: `20261126-144000-1f2e3d4c`. */
export function publicationTime(version: string): number | undefined {
  const [, ...parts] = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)-[0-9a-f]{8}$/.exec(version) ?? [];
  const [year, month, day, hour, minute, second] = parts;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? undefined : at;
}

function linkOf(text: string): Link {
  const link = Link.parse(text);
  if (link === undefined)
    throw new CliError('usage', 'WrongUsage', '--bundle is not a link that can be read');
  return link;
}

async function download(link: Link, options: ContentOptions, context: CliContext): Promise<BundleIndex> {
  context.progress.phase('Downloading the bundle');
  try {
    return await readLinkContent(link, options, context, context.signal);
  } finally {
    context.progress.end();
  }
}

async function readPublished(
  name: string,
  flags: SiteBundleFlags,
  storeDir: string,
  context: CliContext,
): Promise<NamedContent> {
  // The client of a cluster takes longer to load than all the rest.
  const { readPublishedSite } = await import('./published-site.ts');
  const { link, copy, digest, version } = await readPublishedSite(name, flags, context);
  if (link !== undefined) {
    const { allowPrivateLinks } = flags;
    const extraCaPem = await extraCaOf(flags);
    const options = { sizes: flags, storeDir, digest, allowPrivateLinks, extraCaPem };
    try {
      return { version, index: await download(link, options, context) };
    } catch (error) {
      context.signal.throwIfAborted();
      if (copy === undefined || !(error instanceof PublishableError) || error instanceof CliError)
        throw error;
      context.progress.note(`The link cannot be read (${error.code}). Reading the copy in the mirror`);
    }
  }
  if (copy === undefined) throw new Error('a published site has a link or a copy');
  const { readMirrored } = await import('#cli/bundle/mirrored.ts');
  const remedy = 'Or name an archive of the site: --bundle FILE.';
  return { version, index: await readMirrored({ ...copy, storeDir }, flags, remedy, context) };
}

const extraCaOf = async ({ extraCaFile }: SiteBundleFlags): Promise<string | undefined> =>
  (await openCaFile(extraCaFile, () => {})).current();
