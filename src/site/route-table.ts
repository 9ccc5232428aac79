// Request path → what is answered, decided once per bundle when it is loaded. The mapping is GitHub Pages':
// nothing redirects that need not, and only a folder's own name does, so that relative links work.
// Invariant: a redirect leads to a path of this table that is a file, so that no redirect is ever chained.

import type { BundleFile, BundleIndex } from '../bundle/bundle-index.ts';
import { type AssetNaming, assetNaming } from './asset-name.ts';
import { type ContentCoding, isWorthCoding } from './content-coding.ts';
import { contentTypeOf } from './content-type.ts';
import { codedTagsOf, entityTagOf } from './entity-tag.ts';
import { isHiddenFile } from './hidden-files.ts';
import { folderLocation } from './request-path.ts';

/** A file ready to be answered: everything about it that does not depend on the request. */
export interface FileRoute {
  readonly kind: 'file';
  readonly file: BundleFile;
  /** Of the file in its bundle's index. */
  readonly ordinal: number;
  /** Of the bundle whose pack holds the bytes. */
  readonly digest: string;
  readonly contentType: string;
  readonly entityTag: string;
  /**
   * Tags of the coded forms; `undefined` for a file that is never coded. Fixed when the bundle is loaded, so that
   * `Vary` is the same before and after the forms are made.
   */
  readonly codedTags: Readonly<Record<ContentCoding, string>> | undefined;
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
  const exact = new Map<string, FileRoute>();
  for (const [ordinal, file] of bundle.files.entries()) {
    if (!isHiddenFile(file.path)) exact.set(`/${file.path}`, routeOf(file, ordinal, bundle.digest));
  }
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

function routeOf(file: BundleFile, ordinal: number, digest: string): FileRoute {
  const contentType = contentTypeOf(file.path);
  const entityTag = entityTagOf(file.sha256);
  return {
    kind: 'file',
    file,
    ordinal,
    digest,
    contentType,
    entityTag,
    codedTags: isWorthCoding(contentType, file.size) ? codedTagsOf(entityTag) : undefined,
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
