// A site as a browser sees it: the addresses that a bundle server has, and which files are pages. Refuses hidden files, and those of
// which no byte is held. Pure.

import { type BundleFile, isHeld } from '#bundle/bundle-index.ts';
import { isDocument } from '#bundle/content-type.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { buildRouteTable, type RouteTable } from '#server/content/route-table.ts';
import { readBasePath } from '#server/http/request-path.ts';

export interface BrowsedSite {
  readonly routes: RouteTable;
  /** As `readBasePath` returns it. */
  readonly basePath: string;
  /** Paths of the files that a browser opens. */
  readonly pages: readonly string[];
  /** @param path of a file that the routes name */
  read(path: string): AsyncIterable<Uint8Array>;
}

/**
 * @param files sorted by path
 * @param basePath as a user writes it
 */
export function browsedSite(
  files: readonly BundleFile[],
  basePath: string,
  read: BrowsedSite['read'],
): BrowsedSite {
  const pages = files.filter(
    (file) => isDocument(file.path) && !file.isData && isHeld(file) && !isHiddenFile(file.path),
  );
  return {
    routes: buildRouteTable({ digest: '', files }),
    basePath: readBasePath(basePath) ?? '',
    pages: pages.map(({ path }) => path),
    read,
  };
}
