// The site that visitors see, as `--bundle` names it: an archive, a link to one, or what a StaticExport publishes. A
// StaticExport is read by its link, or from its mirror where that fails. Refuses: printing a link, and loading the client of a
// cluster for anything but `sx/NAME`. Invariant: the content is removed when the work on it ends.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import { bundleFolder, packName } from '#bundle/store/store-layout.ts';
import { openCaFile } from '#platform/http/ca-certificates.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { MirrorValues } from '../bundle/mirrored.ts';
import { type ContentOptions, readIndex, readLinkContent, type SizeLimits } from '../bundle/reading.ts';
import { CliError } from '../cli-error.ts';
import type { ClusterFlags } from '../cluster/client.ts';
import type { CliContext } from '../context.ts';

export interface SiteContentFlags extends ClusterFlags, MirrorValues, SizeLimits {
  readonly bundle: string | undefined;
  readonly bundleVersion: string | undefined;
  readonly allowPrivateLinks: boolean;
}

interface NamedContent {
  readonly version: string | undefined;
  readonly index: BundleIndex;
}

/** The content, for a thread that opens its pack while `work` runs. */
export interface SiteContent extends NamedContent {
  readonly packPath: string;
}

/**
 * @returns `undefined` without `--bundle`
 * @throws {CliError} {PublishableError} {ClusterError} what `work` throws
 */
export async function withSiteContent<T>(
  flags: SiteContentFlags,
  context: CliContext,
  work: (content: SiteContent) => Promise<T>,
): Promise<T | undefined> {
  if (flags.bundle === undefined) return undefined;
  const storeDir = join(tmpdir(), `static-export-${context.random.uuid()}`);
  try {
    const { version, index } = await readContentOf(flags.bundle, flags, storeDir, context);
    return await work({ version, index, packPath: join(bundleFolder(storeDir, index.digest), packName) });
  } finally {
    await removeQuietly(storeDir);
  }
}

async function readContentOf(
  bundle: string,
  flags: SiteContentFlags,
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
  flags: SiteContentFlags,
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
  const { readMirrored } = await import('../bundle/mirrored.ts');
  const remedy = 'Or name an archive of the site: --bundle FILE.';
  return { version, index: await readMirrored({ ...copy, storeDir }, flags, remedy, context) };
}

const extraCaOf = async ({ extraCaFile }: SiteContentFlags): Promise<string | undefined> =>
  (await openCaFile(extraCaFile, () => {})).current();
