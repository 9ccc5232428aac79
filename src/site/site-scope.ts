// Which addresses belong to the site, and the one name of each. A site has two names: the public domain and the origin
// it is fetched from. Both lead to one address, which never names a host. Invariant: an address is canonical (decoded
// and encoded again, `.` and `..` removed), so that it can be a key. It is also safe: it has no empty, dotted or
// control-character segment, and can be a path in a bundle. A page gets the name that a plain file server finds (`/guides/x` →
// `guides/x.html`); other files keep their names, decoded and otherwise unchanged (no Unicode normalisation).

import { documentFolder } from '#bundle/export-documents.ts';

/** A path and a query on the site. */
export interface Address {
  /** Percent-encoded, from the site's root (the origin's prefix taken off), leading slash. */
  readonly path: string;
  /** Empty, or with its question mark. */
  readonly query: string;
}

export interface SiteScope {
  readonly domain: string;
  /** Scheme, host and port of the origin. */
  readonly originHost: string;
  /** Host, with its port if any, that requests name instead of the origin's own. */
  readonly namedHost?: string | undefined;
  /** Path prefix of the origin without trailing slash; empty for none. */
  readonly prefix: string;
}

/** What a reference found on a page leads to. */
export type Located =
  | {
      readonly where: 'inside';
      readonly address: Address;
      readonly fragment: string;
      /** The address as written, where it has a session id. */
      readonly inSession?: Address;
    }
  /** On the site, with a path that no bundle may hold. */
  | { readonly where: 'unsafe'; readonly path: string }
  /** Another host, or outside the origin's prefix. `name` is host and path, never a query. */
  | { readonly where: 'outside'; readonly name: string }
  /** Nothing to fetch: `mailto:`, `data:`, a fragment, no URL at all. */
  | { readonly where: 'nowhere' };

const nowhere: Located = { where: 'nowhere' };
/** A bundle takes 1024 bytes and 64 segments; `index.html` may still be added. */
const maxPathBytes = 1000;
const maxSegments = 63;
/** Separators in disguise, controls (C0, C1, line and paragraph separators), and what stands for broken UTF-8. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const unsafeCharacter = /[/\\\u0000-\u001f\u007f-\u009f\u2028\u2029\ufffd]/;
const maxNameLength = 200;
/** Of a reference as written. Servers take no more of an address, and each is kept for the whole crawl. */
const maxReferenceLength = 8192;

/**
 * What servers write into paths for a visitor without cookies: `;jsessionid=…` (Servlet 6.1 §7.1.3), and a segment `(S(…))`
 * (ASP.NET). A path with another visitor's id is the same page.
 */
export const sessionIds =
  /;jsessionid=[\w.!:+~-]{1,200}|\/\((?:[AFX]\([\w-]{1,400}\)){0,2}S\([a-z0-5]{24}\)(?:[AFX]\([\w-]{1,400}\)){0,2}\)(?=\/)/gi;

export function createScope(domain: string, origin: URL, namedHost?: string): SiteScope {
  return {
    domain: domain.toLowerCase(),
    originHost: origin.origin,
    namedHost: namedHost?.toLowerCase(),
    prefix: origin.pathname.replace(/\/[^/]*$/, '').replace(/\/+$/, ''),
  };
}

/** The URL of an address at the origin: what is requested, and what relative references are resolved against. */
export function originUrl(scope: SiteScope, address: Address): URL {
  return new URL(`${scope.originHost}${scope.prefix}${address.path}${address.query}`);
}

/** The URL of an address under its public name, to which robots.txt applies. */
export function publicUrl(scope: SiteScope, address: Address): string {
  return `https://${scope.domain}${address.path}${address.query}`;
}

/** Resolves a reference as a browser does, and returns where it leads. Never throws. */
export function locate(scope: SiteScope, reference: string, base: URL): Located {
  const text = reference.trim();
  if (text === '' || text.startsWith('#')) return nowhere;
  if (text.length > maxReferenceLength) return tooLong(text);
  const url = URL.parse(text, base.href);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return nowhere;
  const path = sitePath(scope, url);
  if (path === undefined) {
    return { where: 'outside', name: `${url.host}${url.pathname}`.slice(0, maxNameLength) };
  }
  const withoutIds = /[;(]/.test(path) ? path.replace(sessionIds, '') : path;
  const canonical = canonicalPath(withoutIds);
  if (canonical === undefined) return { where: 'unsafe', path: withoutIds.slice(0, maxNameLength) };
  const inSession = withoutIds === path ? {} : { inSession: { path, query: url.search } };
  return {
    where: 'inside',
    address: { path: canonical, query: url.search },
    fragment: url.hash,
    ...inSession,
  };
}

/** Whether a redirect leads to the address that was requested. @param isPage whether the query plays no part */
export function leadsBack(scope: SiteScope, address: Address, location: string, isPage: boolean): boolean {
  const located = locate(scope, location, originUrl(scope, address));
  if (located.where !== 'inside' || located.address.path !== address.path) return false;
  return isPage || located.address.query === address.query;
}

/** Whether a redirect of an origin in plain http leads to the same address in https, under a name of the site. */
export function asksForHttps(scope: SiteScope, address: Address, location: string): boolean {
  const asked = originUrl(scope, address);
  const url = URL.parse(location, asked.href);
  if (asked.protocol !== 'http:' || url?.protocol !== 'https:') return false;
  const named = scope.namedHost?.replace(/:\d*$/, '');
  if (![scope.domain, asked.hostname, named].includes(url.hostname)) return false;
  // Behind a prefix, an origin may name the path that it sees or the public one.
  return [url.pathname, `${scope.prefix}${url.pathname}`].some((path) =>
    leadsBack(scope, address, `${path}${url.search}`, false),
  );
}

/** A picture may be written out as `data:`, however large. */
function tooLong(text: string): Located {
  const head = /^[^?#]*/.exec(text.slice(0, maxNameLength))?.[0] ?? '';
  const isElsewhere = /^[a-z][\w+.-]*:/i.test(head) && !/^https?:/i.test(head);
  return isElsewhere ? nowhere : { where: 'unsafe', path: head };
}

function sitePath({ domain, originHost, namedHost, prefix }: SiteScope, url: URL): string | undefined {
  // The public name has no prefix, also where requests have it.
  const isNamed = url.host === namedHost && url.hostname !== domain;
  if (url.origin === originHost || isNamed) {
    if (url.pathname === prefix) return '/';
    return url.pathname.startsWith(`${prefix}/`) ? url.pathname.slice(prefix.length) : undefined;
  }
  return url.hostname === domain && url.port === '' ? url.pathname : undefined;
}

/** Most paths: neither their spelling nor their length needs a closer look. A segment and its slash are two characters at least. */
const isPlain = (path: string): boolean =>
  path.length <= 2 * maxSegments && /^(?:\/[\w~-][\w.~-]*)*\/?$/.test(path) && path !== '';

/** @returns the one spelling of a path, or `undefined` if it cannot be a path of a bundle */
function canonicalPath(path: string): string | undefined {
  if (isPlain(path)) return path;
  const decoded = decodePath(path);
  if (decoded === undefined) return undefined;
  return (
    decoded
      .split('/')
      // A semicolon that was written as an escape begins no session id.
      .map((segment) => encodeURI(segment).replace(/[?#]|;(?=jsessionid=)/gi, encodeURIComponent))
      .join('/')
  );
}

/** The path as people read it. Undefined for what is not UTF-8, hides a separator, or holds control characters. */
export function decodePath(path: string): string | undefined {
  if (isPlain(path)) return path;
  const segments: string[] = [];
  for (const segment of path.split('/').slice(1)) {
    const decoded = decodeSegment(segment);
    if (decoded === undefined) return undefined;
    segments.push(decoded);
  }
  // Only the last may be empty: that is the trailing slash.
  if (segments.slice(0, -1).includes('')) return undefined;
  // To some who unpack an archive, a first segment like this is a drive.
  if (/^[A-Za-z]:/.test(segments[0] ?? '')) return undefined;
  const whole = `/${segments.join('/')}`;
  return segments.length > maxSegments || Buffer.byteLength(whole) > maxPathBytes ? undefined : whole;
}

function decodeSegment(segment: string): string | undefined {
  let decoded: string;
  try {
    decoded = decodeURIComponent(segment);
  } catch {
    return undefined;
  }
  const isUnsafe = decoded === '.' || decoded === '..' || unsafeCharacter.test(decoded);
  return isUnsafe ? undefined : decoded;
}

/** The file of an HTML document at this address; its query plays no part. */
export function documentPath(address: Address): string | undefined {
  const path = decodePath(address.path);
  if (path === undefined) return undefined;
  const name = path.slice(1);
  if (name === '' || name.endsWith('/')) return `${name}index.html`;
  return /\.(?:html?|xhtml)$/i.test(name) ? name : `${name}.html`;
}

/** The path of a page, with the name that a file server looks for in a folder. */
export function folderPagePath(path: string): string {
  return path.replace(/(^|\/)index\.htm$/i, '$1index.html');
}

/** The file of anything else. Undefined for an address that ends in a slash: it names no file. */
export function filePath(address: Address): string | undefined {
  const path = decodePath(address.path);
  return path === undefined || path.endsWith('/') ? undefined : path.slice(1);
}

/** Documents of the export itself lie there. @param path of a file in the bundle */
export function isReservedPath(path: string): boolean {
  return path.startsWith(documentFolder);
}

export function addressKey({ path, query }: Address): string {
  return `${path}${query}`;
}

/** UTF-16 code units, as everywhere in a bundle. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
