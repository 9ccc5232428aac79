// The pages of one bundle by their addresses, for agents: a list in the order of paths, and the page that an address leads to. Pure.
// Refuses addresses of other sites, and what the server does not show as a page. Invariant: an address that this file gives leads to its page.

import type { BundleFile, BundleIndex } from '#bundle/bundle-index.ts';
import { addressOfPage } from '#bundle/store/digest.ts';
import { composedForm } from '#platform/wire/unicode-form.ts';
import { pageFiles } from '../pages/bundle-pages.ts';

/** How a caller reaches the site. */
export interface SiteEntry {
  /** Whether a host, with its port if it has one, is of this site. */
  readonly isOwnHost: (authority: string) => boolean;
  /** Decoded, without trailing slash; empty for the root. */
  readonly basePath: string;
}

export interface FoundPage {
  readonly file: BundleFile;
  /** Without `#`; empty for the whole page. */
  readonly anchor: string;
}

export interface PageDirectory {
  readonly files: readonly BundleFile[];
  /** @param address as an agent has it: absolute, or from the root of the host or of the site. `other-site`: it names another host */
  find(address: string, entry: SiteEntry): FoundPage | 'none' | 'other-site';
  /** Percent-encoded, from the root of the host. */
  addressOf(file: Pick<BundleFile, 'path' | 'isData'>, entry: Pick<SiteEntry, 'basePath'>): string;
}

export function createPageDirectory(index: Pick<BundleIndex, 'files'>): PageDirectory {
  const files = pageFiles(index);
  const byName = new Map<string, BundleFile>();
  for (const file of files) {
    for (const name of namesOf(file)) if (!byName.has(name)) byName.set(name, file);
  }
  return {
    files,
    find: (address, { isOwnHost, basePath }) => {
      const located = locate(address, isOwnHost);
      if (typeof located === 'string') return located;
      const { path, anchor } = located;
      const isWithin = path === basePath || path.startsWith(`${basePath}/`);
      const candidates = isWithin ? [path.slice(basePath.length), path] : [path];
      const file = candidates.map((one) => byName.get(nameOf(one))).find((one) => one !== undefined);
      return file === undefined ? 'none' : { file, anchor };
    },
    addressOf: (file, { basePath }) =>
      encodeURI(basePath) +
      `/${addressOfPage(file) ?? file.path}`.split('/').map(encodeURIComponent).join('/'),
  };
}

/** Decoded, without slashes at its ends, in one form of Unicode. */
const nameOf = (path: string): string => composedForm(path.replace(/^\/+|\/+$/g, ''));

function namesOf(file: BundleFile): readonly string[] {
  return [addressOfPage(file) ?? file.path, file.path, file.path.replace(/\.html?$/i, '')].map(nameOf);
}

interface Located {
  /** Decoded. */
  readonly path: string;
  readonly anchor: string;
}

function locate(address: string, isOwnHost: SiteEntry['isOwnHost']): Located | 'none' | 'other-site' {
  const [, authority, rest = ''] = /^(?:https?:)?\/\/([^/?#]*)(.*)$/is.exec(address) ?? [
    undefined,
    undefined,
    address,
  ];
  if (authority !== undefined && !isOwnHost(authority)) return 'other-site';
  const [, path = '', anchor = ''] = /^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/s.exec(rest) ?? [];
  const decoded = decode(path);
  if (decoded === undefined) return 'none';
  return { path: decoded.startsWith('/') ? decoded : `/${decoded}`, anchor: decode(anchor) ?? '' };
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
