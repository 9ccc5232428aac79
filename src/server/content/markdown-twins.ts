// The Markdown of pages, as a site with --markdown serves it: which file it is, where it is reached, and under which other names. Refuses
// a file that is not sent as Markdown. Invariant: pages and twins are of one bundle, so that no version answers for another.

import type { BundleFile } from '#bundle/bundle-index.ts';
import { contentTypeOfFile } from '#bundle/content-type.ts';
import { findTwin, pageOfTwinName } from '#bundle/markdown-twin.ts';
import { encodedSitePath } from '#bundle/repair/repair-site.ts';
import { addressOfPage } from '#bundle/store/digest.ts';
import type { FileRoute, RouteTable } from './route-table.ts';

export interface MarkdownTwin {
  readonly route: FileRoute;
  /** See {@link addressOfTwin}. */
  readonly address: string;
}

export interface MarkdownTwins {
  /** @returns `undefined` for a page without one, and for what is not a page */
  twinOf(route: FileRoute): MarkdownTwin | undefined;
  /** The twin that another of its names means. @param path canonical, without a file */
  findByName(path: string): FileRoute | undefined;
  /** Whether a page has it as its twin. */
  isTwin(route: FileRoute): boolean;
}

/** @param basePath decoded, without trailing slash */
export function createMarkdownTwins(
  { findFile }: Pick<RouteTable, 'findFile'>,
  basePath: string,
): MarkdownTwins {
  const fileAt = (path: string): BundleFile | undefined => findFile(`/${path}`)?.file;
  const has = (path: string): boolean => fileAt(path) !== undefined;
  /** Decided when first asked for. */
  const made = new Map<FileRoute, MarkdownTwin | undefined>();
  const twinOf = (route: FileRoute): MarkdownTwin | undefined => {
    if (made.has(route)) return made.get(route);
    const file = twinFileOf(route.file, fileAt);
    const found = file === undefined ? undefined : findFile(`/${file.path}`);
    const twin = found && { route: found, address: addressOfTwin(found.file.path, basePath) };
    made.set(route, twin);
    return twin;
  };
  const twinNamed = (name: string): FileRoute | undefined => {
    const page = pageOfTwinName(name, has);
    const route = page === undefined ? undefined : findFile(`/${page}`);
    return route === undefined ? undefined : twinOf(route)?.route;
  };
  return {
    twinOf,
    findByName: (path) => twinNamed(path.slice(1)),
    isTwin: (route) => twinNamed(route.file.path) === route,
  };
}

/**
 * The file that agents get for a page.
 *
 * @param fileAt of the bundle, with what was made of it
 */
export function twinFileOf(
  page: BundleFile,
  fileAt: (path: string) => BundleFile | undefined,
): BundleFile | undefined {
  if (addressOfPage(page) === undefined) return undefined;
  const name = findTwin(page.path, (path) => fileAt(path) !== undefined);
  const twin = name === undefined ? undefined : fileAt(name);
  return twin !== undefined && contentTypeOfFile(twin).startsWith('text/markdown') ? twin : undefined;
}

/** From the root of the host, in ASCII; it stays within a header and an attribute. */
export function addressOfTwin(path: string, basePath: string): string {
  return `${encodedSitePath(basePath)}/${encodedSitePath(path)}`;
}

/** Files that are not found in a former version: as pages, they would lead to what is no longer there. */
export function isOfOneVersion(path: string): boolean {
  return path.endsWith('.md') || path === '/llms.txt' || path === '/llms-full.txt';
}
