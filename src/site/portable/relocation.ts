// What an address of one text becomes: relative, to the name of a file. An address that leads to the same file from a disk stays
// as it was written, and so does every address of another host. Pure; never throws. Invariant: an address that was relocated is not
// relocated again.

import { decodePath } from '../site-scope.ts';
import { encodedSegment, percentEncoded, relativeAddress, type SiteFiles } from './site-files.ts';

/**
 * `link`: a reader may follow it. `load`: a browser loads it. `mention`: it tells other programs where the page is, so one with a host
 * stays.
 */
export type AddressUse = 'link' | 'load' | 'mention';

export interface PortableSite {
  readonly files: SiteFiles;
  /** Path below which the links of the archive expect the site; `''` for the root. */
  readonly basePath: string;
  /** Public host of the site. Absent: only addresses without a host are of the site. */
  readonly domain?: string | undefined;
}

export interface Relocated {
  /** `undefined`: it stays as it was written. */
  readonly text: string | undefined;
  /** Path of the file to which it leads, or would lead; `undefined` for what is not of the site. */
  readonly target: string | undefined;
  /** Of the site, and no file is there. */
  readonly isLost: boolean;
}

export interface TextAddresses {
  relocate(written: string, use: AddressUse): Relocated;
  /** A `<base href>`: what the addresses behind it are relative to. The first one counts. */
  setBase(href: string): void;
}

/** No page of the site is there, and no archive names it. */
const placeholder = 'site.invalid';
const stays: Relocated = { text: undefined, target: undefined, isLost: false };
/** Servers take no more. */
const maxLength = 8192;

/** @param path of the file that holds the addresses */
export function addressesOf(path: string, site: PortableSite): TextAddresses {
  const { files, basePath, domain } = site;
  const own = `http://${placeholder}${basePath}/${path.split('/').map(encodedSegment).join('/')}`;
  let base: string | undefined;
  const isOwnHost = (url: URL): boolean => url.host === placeholder || url.host === domain;

  const relocate = (written: string, use: AddressUse): Relocated => {
    const text = written.trim();
    if (text === '' || text.length > maxLength) return stays;
    const isFragment = text.startsWith('#');
    // Only a link goes where the base says; a picture of the page itself was never meant to.
    if (isFragment && (base === undefined || use !== 'link')) return stays;
    const hasScheme = /^[a-z][a-z0-9+.-]*:/i.test(text);
    if (hasScheme && !/^https?:/i.test(text)) return stays;
    const hasHost = hasScheme || /^[\\/]{2}/.test(text);
    if (hasHost && use === 'mention') return stays;
    const url = URL.parse(text, base ?? own);
    if (url === null || !/^https?:$/.test(url.protocol)) return stays;
    if (!isOwnHost(url)) return hasHost || base === undefined ? stays : { ...stays, text: url.href };
    // The public host of an origin that has a path need not have it.
    const found = sitePathOf(url.pathname, basePath) ?? (hasHost ? sitePathOf(url.pathname, '') : undefined);
    if (found === undefined) return stays;
    const file = files.find(found);
    const isPlain = base === undefined && !/^[\\/]/.test(text) && !hasScheme;
    const target = file ?? found.slice(1);
    if (isPlain && (file === undefined || file === found.slice(1))) {
      return { text: undefined, target, isLost: file === undefined };
    }
    const rest = `${url.search}${url.hash}`.replace(/['"()<>\\]/g, percentEncoded);
    return { text: `${relativeAddress(path, target)}${rest}`, target, isLost: file === undefined };
  };
  return {
    relocate,
    setBase: (href) => {
      const url = URL.parse(href.trim(), own);
      if (url !== null && /^https?:$/.test(url.protocol)) base ??= url.href;
    },
  };
}

/** @returns decoded, with leading slash; `undefined` for a path that no file can have, or outside of the base path */
function sitePathOf(pathname: string, basePath: string): string | undefined {
  if (pathname === basePath) return '/';
  if (!pathname.startsWith(`${basePath}/`)) return undefined;
  return decodePath(pathname.slice(basePath.length));
}
