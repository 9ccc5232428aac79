// An asset of another host, as it was fetched, and what it loads itself. Refuses a page: that is what hosts answer in place of an
// asset. Invariant: what an asset loads is known before it is placed.

import { type BodyKind, bodyKind } from '#site/references/body-links.ts';
import type { CrawlSpool, StoredBody } from '../spool.ts';
import { type AssetSource, hasOwnLoads, readAssetLoads } from './asset-bodies.ts';
import type { AssetAnswer } from './asset-fetcher.ts';

export interface FetchedAsset {
  readonly href: string;
  readonly role: BodyKind;
  readonly body: StoredBody;
  readonly contentType: string;
  /** Where it came from in the end: what its addresses are relative to. */
  readonly url: URL;
  /** Addresses that it loads. */
  readonly loads: readonly string[];
}

/** @returns `undefined` for a page. @throws {CrawlError} SpoolFailed */
export function describeAsset(
  href: string,
  { body, contentType, url }: Extract<AssetAnswer, { kind: 'stored' }>,
  spool: CrawlSpool,
): FetchedAsset | undefined {
  const role = bodyKind(contentType, url.pathname);
  if (role === 'document') return undefined;
  const loads = hasOwnLoads(role, body.sizeBytes) ? readAssetLoads(sourceOf({ role, body, url }, spool)) : [];
  return { href, role, body, contentType, url, loads };
}

/** The asset as text. @throws {CrawlError} SpoolFailed */
export function sourceOf(
  { role, body, url }: Pick<FetchedAsset, 'role' | 'body' | 'url'>,
  spool: CrawlSpool,
): AssetSource {
  return { role, source: Buffer.from(spool.head(body, body.sizeBytes)).toString('latin1'), url };
}
