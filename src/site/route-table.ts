// Request path → what is answered, decided once per bundle when it is loaded. The mapping is GitHub Pages':
// nothing redirects that need not, and only a folder's own name does, so that relative links work.
// Invariant: a redirect leads to a path of this table that is a file, so that no redirect is ever chained.

import type { BundleFile, BundleIndex } from '../bundle/bundle-index.ts';
import { type AssetNaming, assetNaming } from './asset-name.ts';
import { contentTypeOf } from './content-type.ts';
import { entityTagOf } from './entity-tag.ts';
import { isHiddenFile } from './hidden-files.ts';
import { folderLocation } from './request-path.ts';

/** A file ready to be answered: everything about it that does not depend on the request. */
export interface FileRoute {
  readonly kind: 'file';
  readonly file: BundleFile;
  /** Of the bundle whose pack holds the bytes. */
  readonly digest: string;
  readonly contentType: string;
  readonly entityTag: string;
  readonly naming: AssetNaming;
}

/** `/folder` → `/folder/`. The target is relative, so a prefix that a proxy took away does no harm. */
export interface FolderRoute {
  readonly kind: 'redirect';
  /** Percent-encoded, ends in a slash, no query. */
  readonly location: string;
}

export type Route = FileRoute | FolderRoute;

export interface RouteTable {
  /** @param path canonical: decoded, with its leading slash */
  find(path: string): Route | undefined;
  /** The page of the nearest `404.html`, from the path's own folder upwards. */
  findNotFoundPage(path: string): FileRoute | undefined;
  /** The files whose names hold a hash of their content, or seem to, by request path. */
  readonly hashedAssets: ReadonlyMap<string, FileRoute>;
  /** Number of files that can be asked for. */
  readonly size: number;
}

const index = 'index.html';
const extension = '.html';

/** Hidden files are left out here, and are absent for every request. */
export function buildRouteTable(bundle: Pick<BundleIndex, 'digest' | 'files'>): RouteTable {
  const visible = bundle.files.filter((file) => !isHiddenFile(file.path));
  const exact = new Map<string, FileRoute>(
    visible.map((file) => [`/${file.path}`, routeOf(file, bundle.digest)]),
  );
  const routes = new Map<string, Route>(exact);
  for (const [path, route] of exact) {
    if (path.endsWith(`/${index}`)) routes.set(path.slice(0, -index.length), route);
  }
  for (const [path, route] of exact) {
    const clean = path.slice(0, -extension.length);
    if (path.endsWith(extension) && !clean.endsWith('/') && !exact.has(clean)) routes.set(clean, route);
  }
  // Last, so that a file of the folder's name (`both`, `both.html`) keeps it.
  for (const path of exact.keys()) {
    if (!path.endsWith(`/${index}`)) continue;
    const folder = path.slice(0, -index.length - 1);
    if (folder !== '' && !routes.has(folder)) {
      routes.set(folder, { kind: 'redirect', location: folderLocation(folder) });
    }
  }
  return {
    find: (path) => routes.get(path),
    findNotFoundPage: (path) => nearestNotFoundPage(exact, path),
    hashedAssets: new Map([...exact].filter(([, route]) => route.naming !== 'plain')),
    size: exact.size,
  };
}

function routeOf(file: BundleFile, digest: string): FileRoute {
  return {
    kind: 'file',
    file,
    digest,
    contentType: contentTypeOf(file.path),
    entityTag: entityTagOf(file.sha256),
    naming: assetNaming(file.path),
  };
}

function nearestNotFoundPage(exact: ReadonlyMap<string, FileRoute>, path: string): FileRoute | undefined {
  for (let at = path.lastIndexOf('/'); at >= 0; at = at === 0 ? -1 : path.lastIndexOf('/', at - 1)) {
    const page = exact.get(`${path.slice(0, at)}/404.html`);
    if (page !== undefined) return page;
  }
  return undefined;
}
