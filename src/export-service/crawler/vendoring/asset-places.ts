// Where copied assets lie, and their bytes there: an asset that loads others names their copies. Owns the order, because a name
// follows from the bytes: first what loads nothing, then what loads those. Assets that load each other in a circle, and what
// loads them, are named by their bytes as they came. Invariant: the same assets give the same files.

import { compare } from '#site/site-scope.ts';
import type { SiteFile } from '../frontier.ts';
import { originTypeOf } from '../origin/origin-types.ts';
import { chosenPath } from '../rewrite/chosen-names.ts';
import type { CrawlSpool, StoredBody } from '../spool.ts';
import { editAsset } from './asset-bodies.ts';
import { type FetchedAsset, sourceOf } from './fetched-asset.ts';

export interface PlacedAssets {
  /** By path in the bundle. */
  readonly files: ReadonlyMap<string, SiteFile>;
  /** From an address to its path in the bundle. */
  readonly paths: ReadonlyMap<string, string>;
}

/**
 * @param absent paths of addresses that have no asset
 * @throws {CrawlError} SpoolFailed; the signal's reason
 */
export async function placeAssets(
  assets: ReadonlyMap<string, FetchedAsset>,
  absent: ReadonlyMap<string, string>,
  spool: CrawlSpool,
  signal: AbortSignal,
): Promise<PlacedAssets> {
  const files = new Map<string, SiteFile>();
  const paths = new Map(absent);
  const isNamed = (href: string): boolean => paths.has(href) || !assets.has(href);
  let open = [...assets.values()].sort((a, b) => compare(a.href, b.href));
  while (open.length > 0) {
    signal.throwIfAborted();
    const ready = open.filter(({ loads }) => loads.every(isNamed));
    if (ready.length === 0) for (const asset of open) paths.set(asset.href, pathOf(asset, asset.body));
    for (const asset of ready) {
      const body = await placedBody(asset, paths, spool);
      const path = paths.get(asset.href) ?? pathOf(asset, body);
      paths.set(asset.href, path);
      files.set(path, fileAt(path, asset, body));
    }
    const placed = new Set(ready);
    open = open.filter((asset) => !placed.has(asset));
  }
  return { files, paths };
}

function pathOf({ contentType, url }: FetchedAsset, { sha256 }: StoredBody): string {
  return chosenPath(sha256, contentType, url.pathname);
}

async function placedBody(
  asset: FetchedAsset,
  paths: ReadonlyMap<string, string>,
  spool: CrawlSpool,
): Promise<StoredBody> {
  if (asset.loads.length === 0) return asset.body;
  const text = editAsset(sourceOf(asset, spool), (href) => paths.get(href));
  return spool.put(Buffer.from(text, 'latin1'));
}

/** What it loads is replaced already, so that nothing else reads it. */
function fileAt(path: string, { contentType }: FetchedAsset, body: StoredBody): SiteFile {
  const address = { path: `/${path}`, query: '' };
  return { body, isDocument: false, role: 'other', address, originType: originTypeOf(contentType) };
}
