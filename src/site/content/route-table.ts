// Request path → what is answered, decided once per bundle when it is loaded. The mapping is GitHub Pages':
// nothing redirects that need not, and only a folder's own name does, so that relative links work.
// Invariant: a redirect leads to a path of this table that is a file, so that no redirect is ever chained.

import type { BundleFile, BundleIndex } from '../../bundle/bundle-index.ts';
import { isHiddenFile } from '../../bundle/store/hidden-files.ts';
import { isWorthCompressing } from '../http/content-encoding.ts';
import { contentTypeOf } from '../http/content-type.ts';
import { entityTagOf } from '../http/entity-tag.ts';
import { folderLocation } from '../http/request-path.ts';
import { type AssetNaming, nameAssets } from './asset-name.ts';

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
   * False for a file that is never variant. Decided when the bundle is loaded, so that `Vary` is the same before and
   * after the variants are made.
   */
  readonly isCompressible: boolean;
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

/** Paths that are handled without a pause: a few milliseconds of work. */
export const pathsPerSlice = 500;

type TableBundle = Pick<BundleIndex, 'digest' | 'files'>;

/** Hidden files are left out here, and are absent for every request. In one go. */
export function buildRouteTable(bundle: TableBundle): RouteTable {
  const building = buildStepwise(bundle);
  for (let step = building.next(); ; step = building.next()) if (step.done) return step.value;
}

/** The same table, with a pause after every {@link pathsPerSlice} paths. */
export async function buildRouteTableInSlices(
  bundle: TableBundle,
  pause: () => Promise<void>,
): Promise<RouteTable> {
  const building = buildStepwise(bundle);
  let handled = 0;
  for (let step = building.next(); ; step = building.next()) {
    if (step.done) return step.value;
    handled += 1;
    if (handled % pathsPerSlice === 0) await pause();
  }
}

/** Yields after each path. */
function* buildStepwise(bundle: TableBundle): Generator<void, RouteTable> {
  const exact = new Map<string, FileRoute>();
  const routes = new Map<string, Route>();
  const hashedAssets = new Map<string, FileRoute>();
  const notFoundPages = new Map<string, FileRoute>();
  const namings = yield* nameAssets(bundle.files.map(({ path }) => path));
  for (const [ordinal, file] of bundle.files.entries()) {
    yield;
    if (isHiddenFile(file.path)) continue;
    const path = `/${file.path}`;
    const route = routeOf(file, ordinal, bundle.digest, namings[ordinal] ?? 'plain');
    exact.set(path, route);
    routes.set(path, route);
    if (path.endsWith(notFoundPage)) notFoundPages.set(path.slice(0, -notFoundPage.length), route);
    if (route.naming !== 'plain') hashedAssets.set(path, route);
  }
  for (const [path, route] of exact) {
    yield;
    if (path.endsWith(`/${index}`)) routes.set(path.slice(0, -index.length), route);
  }
  for (const [path, route] of exact) {
    yield;
    const clean = path.slice(0, -extension.length);
    if (path.endsWith(extension) && !clean.endsWith('/') && !exact.has(clean)) routes.set(clean, route);
  }
  // Last, so that a file of the folder's name (`both`, `both.html`) keeps it.
  for (const path of exact.keys()) {
    yield;
    if (!path.endsWith(`/${index}`)) continue;
    const folder = path.slice(0, -index.length - 1);
    if (folder !== '' && !routes.has(folder)) {
      routes.set(folder, { kind: 'redirect', location: folderLocation(folder) });
    }
  }
  return {
    find: (path) => routes.get(path),
    findNotFoundPage: notFoundPageFinder(notFoundPages),
    hashedAssets,
    size: exact.size,
  };
}

const notFoundPage = '/404.html';

/**
 * Searches no deeper than the deepest page: a path of thousands of slashes costs no more than any other.
 *
 * @param pages by folder, without trailing slash
 */
function notFoundPageFinder(pages: ReadonlyMap<string, FileRoute>): RouteTable['findNotFoundPage'] {
  let deepest = 0;
  for (const folder of pages.keys()) deepest = Math.max(deepest, folder.split('/').length);
  return (path) => {
    let nearest: FileRoute | undefined;
    for (let depth = 1, slash = 0; slash >= 0 && depth <= deepest; depth += 1) {
      nearest = pages.get(path.slice(0, slash)) ?? nearest;
      slash = path.indexOf('/', slash + 1);
    }
    return nearest;
  };
}

function routeOf(file: BundleFile, ordinal: number, digest: string, naming: AssetNaming): FileRoute {
  const contentType = contentTypeOf(file.path);
  return {
    kind: 'file',
    file,
    ordinal,
    digest,
    contentType,
    entityTag: entityTagOf(file.sha256),
    isCompressible: isWorthCompressing(contentType, file.size),
    naming,
  };
}
