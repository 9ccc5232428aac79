// The site that visitors see, for `conversations gaps`: its index, the hash of each page, and from when on its version was
// served. The content itself is read by the command line, and is removed afterwards.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { CliContext } from '#cli/context.ts';
import { counted } from '#cli/output/amounts.ts';
import { type SiteContent, type SiteContentFlags, withSiteContent } from '#cli/site/site-content.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { type PageHashes, readPageHashes } from '../page-hashes.ts';

export interface SiteBundle {
  readonly version: string;
  /** Epoch ms, as the version's name says it. */
  readonly publishedAt: number | undefined;
  readonly index: BundleIndex;
  readonly pageHashes: PageHashes;
}

/** @returns `undefined` without `--bundle`. @throws {CliError} {PublishableError} {ClusterError} */
export function readSiteBundle(
  flags: SiteContentFlags,
  context: CliContext,
): Promise<SiteBundle | undefined> {
  return withSiteContent(flags, context, async (content) => {
    const { version, index } = content;
    const pageHashes = await hashPagesOf(content, context);
    const name = printable(version ?? index.digest.slice(0, 12), 100);
    return { version: name, publishedAt: publicationTime(name), index, pageHashes };
  });
}

async function hashPagesOf({ packPath, index }: SiteContent, context: CliContext): Promise<PageHashes> {
  const { siteWorker, progress, signal } = context;
  progress.phase('Reading the pages');
  try {
    const onProgress = ({ pages }: { readonly pages: number }): void =>
      progress.advance(undefined, counted(pages, 'page'));
    return await readPageHashes(siteWorker, { packPath, index }, { signal, onProgress });
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
