// Request path → what is answered. The mapping is GitHub Pages': nothing redirects that need not, and only a folder's own
// name does, so that relative links work. When a bundle is loaded, only its paths are entered, because a start waits for
// that; a route is decided when its path is first found, and kept.
// Either Unicode form of an address finds the one file. Invariant: a redirect leads to a path of this table that is a file,
// so that no redirect is ever chained.

import { type BundleFile, type BundleIndex, isHeld } from '#bundle/bundle-index.ts';
import { contentTypeOfFile, isDocument } from '#bundle/content-type.ts';
import { addressOfPage } from '#bundle/store/digest.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { composedForm } from '#platform/wire/unicode-form.ts';
import { isWorthCompressing } from '../http/content-encoding.ts';
import { entityTagOf } from '../http/entity-tag.ts';
import { folderLocation } from '../http/request-path.ts';
import { type AssetNaming, createAssetNames } from './asset-name.ts';

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
  /** A file of exactly this path. */
  findFile(path: string): FileRoute | undefined;
  /** The same, unless it is a page. */
  findAsset(path: string): FileRoute | undefined;
  /** Number of files that can be asked for. */
  readonly size: number;
  /** Number of pages that can be opened. */
  readonly pages: number;
  /** Files that --serve-dotfiles shows and the pack does not have: it was written without the flag. */
  readonly missing: { readonly count: number; readonly example: string };
}

const index = 'index.html';
const extension = '.html';

/** Paths that are handled without a pause: a few milliseconds of work. */
export const pathsPerSlice = 500;

/** What of an index its routes are made of. */
export type TableBundle = Pick<BundleIndex, 'digest' | 'files'> & Partial<Pick<BundleIndex, 'pages'>>;

/**
 * Hidden files are left out here, and are absent for every request. In one go.
 *
 * @param serveDotfiles see `isHiddenFile`
 */
export function buildRouteTable(bundle: TableBundle, serveDotfiles: readonly string[] = []): RouteTable {
  const building = buildStepwise(bundle, serveDotfiles);
  for (let step = building.next(); ; step = building.next()) if (step.done) return step.value;
}

/** The same table, with a pause after every {@link pathsPerSlice} paths. */
export async function buildRouteTableInSlices(
  bundle: TableBundle,
  pause: () => Promise<void>,
  serveDotfiles: readonly string[] = [],
): Promise<RouteTable> {
  const building = buildStepwise(bundle, serveDotfiles);
  let handled = 0;
  for (let step = building.next(); ; step = building.next()) {
    if (step.done) return step.value;
    handled += 1;
    if (handled % pathsPerSlice === 0) await pause();
  }
}

/** Yields after each path. */
function* buildStepwise(bundle: TableBundle, serveDotfiles: readonly string[]): Generator<void, RouteTable> {
  const ordinals = new Map<string, number>();
  const notFoundPages = new Map<string, string>();
  const known = serveDotfiles.length === 0 ? bundle.pages : undefined;
  const addresses = new Set<string>();
  let missing = { count: 0, example: '' };
  let size = 0;
  for (const [ordinal, file] of bundle.files.entries()) {
    yield;
    const { path } = file;
    if (isHiddenFile(path, serveDotfiles)) continue;
    if (!isHeld(file)) {
      missing = { count: missing.count + 1, example: missing.example || path };
      continue;
    }
    size += 1;
    const address = known === undefined ? addressOfPage(file) : undefined;
    if (address !== undefined) addresses.add(address);
    const requested = `/${path}`;
    const composed = composedForm(requested);
    // A store of an earlier version may hold both forms; the exact one wins.
    if (composed !== requested && !ordinals.has(composed)) ordinals.set(composed, ordinal);
    ordinals.set(requested, ordinal);
    if (requested.endsWith(notFoundPage)) {
      notFoundPages.set(composed.slice(0, -notFoundPage.length), requested);
    }
  }
  const pages = known ?? addresses.size;
  return createRouteTable(bundle, ordinals, notFoundPages, { size, pages, missing });
}

/** @param ordinals of the files that can be asked for, by path and composed path. @param notFoundPages by composed folder */
function createRouteTable(
  { digest, files }: TableBundle,
  ordinals: ReadonlyMap<string, number>,
  notFoundPages: ReadonlyMap<string, string>,
  counts: Pick<RouteTable, 'size' | 'pages' | 'missing'>,
): RouteTable {
  const namingOf = lazily(() => createAssetNames(files.map(({ path }) => path)));
  const made = new Map<number, FileRoute>();

  const ordinalAt = (path: string): number | undefined =>
    ordinals.get(path) ?? ordinals.get(composedForm(path));
  const fileAt = (path: string): FileRoute | undefined => {
    const ordinal = ordinalAt(path);
    const file = ordinal === undefined ? undefined : files[ordinal];
    if (ordinal === undefined || file === undefined) return undefined;
    const known = made.get(ordinal);
    if (known !== undefined) return known;
    const route = routeOf(file, ordinal, digest, namingOf()(file.path));
    made.set(ordinal, route);
    return route;
  };
  const decide = (path: string): Route | undefined => {
    const exact = fileAt(path);
    if (exact !== undefined) return exact;
    if (path.endsWith('/')) return fileAt(path + index);
    const isFolder = path !== '' && ordinalAt(`${path}/${index}`) !== undefined;
    // A file of the folder's name (`both`, `both.html`) keeps it.
    return (
      fileAt(path + extension) ??
      (isFolder ? { kind: 'redirect', location: folderLocation(path) } : undefined)
    );
  };
  const nearestNotFoundPage = notFoundPageFinder(notFoundPages);
  return {
    // Nothing is kept by its path: that is cut from the text of a request, and all of this text would stay in memory.
    find: decide,
    findNotFoundPage: (path) => {
      const page = nearestNotFoundPage(composedForm(path));
      return page === undefined ? undefined : fileAt(page);
    },
    findFile: fileAt,
    findAsset: (path) => {
      const route = fileAt(path);
      return route === undefined || isDocument(route.file.path) ? undefined : route;
    },
    ...counts,
  };
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const notFoundPage = '/404.html';

/**
 * Searches no deeper than the deepest page: a path of thousands of slashes costs no more than any other.
 *
 * @param pages by folder, without trailing slash
 */
function notFoundPageFinder(pages: ReadonlyMap<string, string>): (path: string) => string | undefined {
  let deepest = 0;
  for (const folder of pages.keys()) deepest = Math.max(deepest, folder.split('/').length);
  return (path) => {
    let nearest: string | undefined;
    for (let depth = 1, slash = 0; slash >= 0 && depth <= deepest; depth += 1) {
      nearest = pages.get(path.slice(0, slash)) ?? nearest;
      slash = path.indexOf('/', slash + 1);
    }
    return nearest;
  };
}

function routeOf(file: BundleFile, ordinal: number, digest: string, naming: AssetNaming): FileRoute {
  const contentType = contentTypeOfFile(file);
  return {
    kind: 'file',
    file,
    ordinal,
    digest,
    contentType,
    entityTag: entityTagOf(file),
    isCompressible: isWorthCompressing(contentType, file.size),
    naming,
  };
}
