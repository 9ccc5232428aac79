// Whether a site is self-contained: what its pages, style sheets, drawings, scripts and manifests load from other hosts, and what they
// load of the site that it does not have. Owns the order and the bounds of its lists. Refuses long texts: they count as not
// read. Pure but for reading one file at a time; the same site gives the same answer.

import { printable } from '#platform/wire/printable-text.ts';
import type { RouteTable } from '#server/content/route-table.ts';
import { readRequestPath } from '#server/http/request-path.ts';
import { allowsHost } from '#site/allowed-hosts.ts';
import { type BodyKind, baseUrl, bodyKind } from '#site/references/body-links.ts';
import { type CharsetSource, decodeBody } from '#site/references/body-text.ts';
import { externalKinds } from '#site/references/external.ts';
import { type LoadUse, maxReferences } from '#site/references/reference.ts';
import { type Load, readLoads } from './loads.ts';

export interface CheckedFile {
  readonly path: string;
  readonly size: number;
  readonly contentType: string;
}

export interface CheckedSite {
  readonly files: readonly CheckedFile[];
  readonly routes: Pick<RouteTable, 'find'>;
  read(file: CheckedFile): Promise<Uint8Array>;
}

export interface CheckRules {
  /** As `readBasePath` returns it. */
  readonly basePath: string;
  /** As `readAllowedHost` returns them. */
  readonly allowedHosts: readonly string[];
}

export interface FoundLoad {
  /** Host and path of another host; path on the site. Never a query. */
  readonly address: string;
  /** `late`: only a script uses it. */
  readonly use: LoadUse | 'late';
  /** The first file that loads it. */
  readonly from: string;
  /** How many files load it. */
  readonly files: number;
}

/** Up to {@link maxListed} entries. `count` is of all. */
export interface FoundList<T> {
  readonly count: number;
  readonly entries: readonly T[];
}

export interface UnreadFile {
  readonly path: string;
  readonly reason: 'TooLarge' | 'Malformed' | 'TooManyAddresses';
}

export interface SiteCheck {
  /** Pages, style sheets, drawings, scripts and manifests. */
  readonly filesRead: number;
  readonly notRead: FoundList<UnreadFile>;
  /** Loads from hosts that no rule allows. */
  readonly external: FoundList<FoundLoad>;
  /** Loads from hosts that a rule allows. */
  readonly allowed: FoundList<FoundLoad>;
  /** Loads of the site that it does not have. */
  readonly missing: FoundList<FoundLoad>;
  /** Of other hosts: frames, media, prefetches, connections and folders of modules. */
  readonly notes: FoundList<FoundLoad>;
}

/** No file that is larger is read. */
export const maxCheckedBytes: number = 8 * 1024 * 1024;
export const maxListed = 200;
/** Different addresses that one list distinguishes. Further ones count once for each file. */
const maxTold = 20_000;
const maxShown = 300;

/** Never connected to: the name of the site in addresses that have no host. */
const ownOrigin = 'http://bundle.invalid';

/** What is worth a report where the site does not have it. A page does not need its next page, or what only a script loads. */
const isOwed = ({ load, isLate }: Load): boolean => isLate !== true && externalKinds[load] !== 'connection';

/** Whether a page is not what it was without the other host. */
const isNeeded = ({ load }: Load): boolean => externalKinds[load] === 'load';

/**
 * @param onFile after each file, with how many are done
 * @throws what `read` throws
 */
export async function checkSite(
  site: CheckedSite,
  { basePath, allowedHosts }: CheckRules,
  onFile: (done: number) => void = () => {},
): Promise<SiteCheck> {
  const external = createTally();
  const allowed = createTally();
  const missing = createTally();
  const notes = createTally();
  const notRead: UnreadFile[] = [];
  let notReadCount = 0;
  let filesRead = 0;
  const skip = (path: string, reason: UnreadFile['reason']): void => {
    notReadCount += 1;
    if (notRead.length < maxListed) notRead.push({ path: printable(path, maxShown), reason });
  };
  const place = (load: Load, url: URL, from: string): void => {
    if (url.origin !== ownOrigin) {
      const needed = allowsHost(allowedHosts, url.host) ? allowed : external;
      const list = isNeeded(load) ? needed : notes;
      list.add(`${url.host}${url.pathname}`, load, from);
    } else if (isOwed(load) && !hasFile(site.routes, url.pathname, basePath)) {
      missing.add(url.pathname, load, from);
    }
  };
  for (const [number, file] of site.files.entries()) {
    const { path, contentType } = file;
    const kind = bodyKind(contentType, path);
    const charset = charsetSources[kind];
    if (charset !== undefined && file.size > maxCheckedBytes) skip(path, 'TooLarge');
    else if (charset !== undefined) {
      const { base, baseAt, loads, isPartial } = readLoads(
        kind,
        decodeBody(await site.read(file), contentType, charset),
      );
      const own = urlOf(path, basePath);
      const document = baseUrl(base, own);
      filesRead += 1;
      for (const [at, load] of loads.entries()) {
        const url = resolveLoad(load.text, at < baseAt ? own : document);
        if (url !== undefined) place(load, url, path);
      }
      if (isPartial) skip(path, 'Malformed');
      else if (loads.length >= maxReferences) skip(path, 'TooManyAddresses');
    }
    onFile(number + 1);
  }
  return {
    filesRead,
    notRead: { count: notReadCount, entries: notRead },
    external: external.list(),
    allowed: allowed.list(),
    missing: missing.list(),
    notes: notes.list(),
  };
}

/** Of what is read. */
const charsetSources: Readonly<Partial<Record<BodyKind, CharsetSource>>> = {
  document: 'html',
  picture: 'svg',
  style: 'style',
  manifest: 'none',
  script: 'none',
};

function urlOf(path: string, basePath: string): URL {
  const encoded = `${basePath}/${path}`
    .split('/')
    .map((segment) => encodeURIComponent(segment.toWellFormed()));
  return new URL(`${ownOrigin}${encoded.join('/')}`);
}

/** @returns `undefined` for what is not requested, such as a part of the document itself */
function resolveLoad(text: string, base: URL): URL | undefined {
  // Pictures within a text may be megabytes.
  if (/^\s*(?:#|data:|$)/i.test(text)) return undefined;
  const url = URL.parse(text, base.href);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
}

function hasFile(routes: CheckedSite['routes'], pathname: string, basePath: string): boolean {
  const request = readRequestPath(pathname, basePath);
  if (request.outcome === 'path') return routes.find(request.path) !== undefined;
  return request.outcome === 'base-without-slash';
}

interface Tally {
  add(address: string, load: Load, from: string): void;
  list(): FoundList<FoundLoad>;
}

function createTally(): Tally {
  /** By use and address. */
  const told = new Map<string, { readonly first: Omit<FoundLoad, 'files'>; last: string; files: number }>();
  let untold = 0;
  return {
    add: (address, load, from) => {
      const shown = printable(address, maxShown);
      const use = load.isLate === true ? 'late' : load.load;
      const key = `${use} ${shown}`;
      const known = told.get(key);
      if (known === undefined && told.size >= maxTold) untold += 1;
      else if (known === undefined) {
        told.set(key, {
          first: { address: shown, use, from: printable(from, maxShown) },
          last: from,
          files: 1,
        });
      } else if (known.last !== from) {
        known.last = from;
        known.files += 1;
      }
    },
    list: () => ({
      count: told.size + untold,
      entries: [...told.values().take(maxListed)].map(({ first, files }) => ({ ...first, files })),
    }),
  };
}
