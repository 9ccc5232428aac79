// From the address of a page, as an assistant or a visitor names it, to the page of the bundle. The server's own route table
// decides, so that a page is here exactly where a visitor gets it. Refuses to guess: other paths keep their own address.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import { buildRouteTable, type RouteTable } from '#server/content/route-table.ts';
import { readBasePath, readRequestPath } from '#server/http/request-path.ts';

export interface PageAddress {
  /** Host with port, in lower case; empty where the address names none. */
  readonly host: string;
  /** `/guide/install`, without a file's ending, a trailing slash, a query or a fragment. */
  readonly page: string;
  /** `undefined` without a bundle. */
  readonly isInBundle: boolean | undefined;
}

export interface PageMap {
  /** @returns `undefined` for a text that is not an address of a page on the web */
  find(address: string): PageAddress | undefined;
  /** Short hash of each page of the bundle, by its text; `undefined` without a bundle. */
  readonly hashes: ReadonlyMap<string, string> | undefined;
}

const longestAddress = 2000;

export interface MappedBundle extends Pick<BundleIndex, 'digest' | 'files'> {
  /** Of each page, by the path of its file. */
  readonly pageHashes: ReadonlyMap<string, string>;
}

/**
 * @param bundle `undefined`: addresses alone
 * @param servedPath under which the site is served: `/` or `/docs`
 */
export function createPageMap(bundle: MappedBundle | undefined, servedPath: string): PageMap {
  const basePath = readBasePath(servedPath) ?? '';
  const routes = bundle && buildRouteTable(bundle);
  return {
    find: (address) => {
      const url = readAddress(address);
      if (url === undefined) return undefined;
      const { host } = url;
      const read = readRequestPath(url.pathname, basePath);
      if (read.outcome === 'base-without-slash') return locate(routes, host, '/');
      if (read.outcome === 'path') return locate(routes, host, read.path);
      return { host, page: pageName(url.pathname), isInBundle: routes && false };
    },
    hashes: bundle && new Map(shortHashes(bundle)),
  };
}

/** An address without a host is one of the site. */
function readAddress(address: string): { readonly host: string; readonly pathname: string } | undefined {
  if (address.length > longestAddress) return undefined;
  const isPath = address.startsWith('/') && !address.startsWith('//');
  if (!isPath && !/^(?:https?:)?\/\//i.test(address)) return undefined;
  const url = URL.parse(address, 'https://site.invalid');
  return url === null ? undefined : { host: isPath ? '' : url.host, pathname: url.pathname };
}

function locate(routes: RouteTable | undefined, host: string, path: string): PageAddress {
  if (routes === undefined) return { host, page: pageName(path), isInBundle: undefined };
  const route = routes.find(path);
  // A folder's own name leads to its page.
  const found = route?.kind === 'redirect' ? routes.find(`${path}/`) : route;
  return found?.kind === 'file' && !found.file.isData
    ? { host, page: pageName(`/${found.file.path}`), isInBundle: true }
    : { host, page: pageName(path), isInBundle: false };
}

/** The address of a page without what two addresses of one page may differ in. */
export function pageName(path: string): string {
  const plain = path.replace(/\.html?$/i, '').replace(/\/index$/i, '/');
  let end = plain.length;
  while (end > 1 && plain[end - 1] === '/') end -= 1;
  return plain.slice(0, end) || '/';
}

function* shortHashes({ pageHashes }: MappedBundle): Generator<readonly [string, string]> {
  for (const [path, hash] of pageHashes) yield [pageName(`/${path}`), hash.slice(0, 12)];
}
