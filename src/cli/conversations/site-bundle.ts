// The site that visitors see, for `conversations gaps`: an archive, a link to one, or what a StaticExport publishes. Owns how
// `--bundle` is read, and from when on its version was served. A StaticExport is read by its link, or without one from its
// mirror. Refuses: printing a link, and loading the client of a cluster for anything but `sx/NAME`.

import type { BundleIndex } from '../../bundle/bundle-index.ts';
import { Link } from '../../wire/link.ts';
import { printable } from '../../wire/printable-text.ts';
import type { MirrorValues } from '../bundle/mirrored.ts';
import { readContent, readIndex, type SizeLimits } from '../bundle/reading.ts';
import { CliError } from '../cli-error.ts';
import type { ClusterFlags } from '../cluster/client.ts';
import type { CliContext } from '../context.ts';

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
}

/** @returns `undefined` without `--bundle`. @throws {CliError} {BundleError} {ClusterError} */
export async function readSiteBundle(
  flags: SiteBundleFlags,
  context: CliContext,
): Promise<SiteBundle | undefined> {
  const { bundle, bundleVersion } = flags;
  if (bundle === undefined) return undefined;
  const [, name] = /^(?:sx|staticexports?)\/(.+)$/.exec(bundle) ?? [];
  if (name !== undefined) return readPublished(name, flags, context);
  const index = /^https?:\/\//i.test(bundle)
    ? await download(linkOf(bundle), undefined, true, flags, context)
    : await readIndex(bundle, flags, context, 'Reading the bundle');
  return named(index, bundleVersion);
}

function named(index: BundleIndex, version: string | undefined): SiteBundle {
  const name = version ?? index.digest.slice(0, 12);
  return { version: printable(name, 100), publishedAt: publicationTime(name), index };
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

async function download(
  link: Link,
  digest: string | undefined,
  allowPrivateLinks: boolean,
  sizes: SizeLimits,
  context: CliContext,
): Promise<BundleIndex> {
  context.progress.phase('Downloading the bundle');
  try {
    const options = { sizes, storeDir: undefined, digest, allowPrivateLinks };
    return await readContent(link, options, context, context.signal);
  } finally {
    context.progress.end();
  }
}

async function readPublished(name: string, flags: SiteBundleFlags, context: CliContext): Promise<SiteBundle> {
  // The client of a cluster takes longer to load than all the rest.
  const { readPublishedSite } = await import('./published-site.ts');
  const { source, version } = await readPublishedSite(name, flags, context);
  if (source.link !== undefined) {
    const { link, digest } = source;
    return named(await download(link, digest, flags.allowPrivateLinks, flags, context), version);
  }
  const { readMirrored } = await import('../bundle/mirrored.ts');
  const remedy = 'Or name an archive of the site: --bundle FILE.';
  return named(await readMirrored(source, flags, remedy, context), version);
}
