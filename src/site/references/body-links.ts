// Finds where one body leads. Chooses the reader for its kind, resolves what it found, sorts it into inside and
// outside, and keeps each address once. Pure over (bytes, content type, address); bytes are never changed.

import { type Address, originUrl, type SiteScope } from '../site-scope.ts';
import { maxSitemapBytes, readLlmsText, readSitemap } from '../sitemap.ts';
import { decodeBody } from './body-text.ts';
import { readCssReferences } from './css-references.ts';
import { type ExternalReference, externalHref, externalKinds, readExternalModules } from './external.ts';
import { readHtmlReferences } from './html-references.ts';
import type { BodyLink, LinkPool } from './link-pool.ts';
import { readManifestReferences } from './manifest-references.ts';
import { isPayloadType, payloadOf, readPageData, readPayload, sourceOfPicture } from './next-payload.ts';
import { addReferences, asHint, asPage, maxReferences, type Reference } from './reference.ts';
import { readScriptReferences } from './script-references.ts';
import {
  askedByFile,
  isSearchData,
  readPageSearch,
  readSearchData,
  readSearchLiterals,
  readVersionList,
  recogniseIndex,
  type SearchTool,
  type VersionList,
} from './search-index.ts';

/** The caller that requested the address decides `sitemap` and `contents`; the answer decides the rest. */
export type BodyKind =
  | 'document'
  | 'style'
  | 'script'
  | 'picture'
  | 'manifest'
  | 'payload'
  | 'sitemap'
  | 'contents'
  | 'index'
  | 'other';

export interface BodyLinks {
  readonly links: readonly BodyLink[];
  /** What the body names on other hosts, each once. */
  readonly external: readonly ExternalReference[];
  /** Paths that no bundle may hold. */
  readonly unsafe: readonly string[];
  /** References that spell out the origin's own host, or its prefix: they will not lead to the served bundle. */
  readonly originSpelled: number;
  /** Page references whose query was dropped. */
  readonly queriesDropped: number;
  /** Too large, or too many references: it is kept as it is, and what its rest leads to is not known. */
  readonly isPartial: boolean;
  /** Paths of the folders that a list of versions names; its links to them count only next to one that the site has. */
  readonly versionFolders?: readonly string[];
  /** Versions beyond the limit. */
  readonly versionsNotTried?: number;
  /** The body is an index of this tool. */
  readonly searchTool?: SearchTool | undefined;
}

export const noLinks: BodyLinks = {
  links: [],
  external: [],
  unsafe: [],
  originSpelled: 0,
  queriesDropped: 0,
  isPartial: false,
};

/** Of one body; more is not read. No string that it becomes is larger than what a thread can spare at its limit. */
const usualReadBytes = 8 * 1024 * 1024;

/** How much of a body of this kind is read for its references; nothing reads past it. */
export function readableBytes(kind: BodyKind): number {
  if (kind === 'other') return 0;
  return kind === 'sitemap' ? maxSitemapBytes : usualReadBytes;
}

interface Found {
  readonly base?: string | undefined;
  /** How many of the references come before the base. */
  readonly baseAt?: number;
  readonly references: readonly Reference[];
  readonly sitemaps?: readonly string[];
  /** What its search asks for. The crawler puts these together, so the site spells nothing with them. */
  readonly searches?: readonly Reference[];
  readonly versions?: VersionList;
  readonly isPartial?: boolean;
  /** What it names stands at its beginning. */
  readonly isHeadEnough?: boolean;
}

/** From the content type, and where a server gave none, from the name. */
export function bodyKind(contentType: string, path: string): BodyKind {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'document';
  if (isSearchData(path)) return 'index';
  if (type === 'text/css') return 'style';
  if (type === 'application/manifest+json' || path.endsWith('.webmanifest')) return 'manifest';
  if (/\bmanifest\.json$/.test(path)) return 'manifest';
  if (type === 'image/svg+xml') return 'picture';
  if (isPayloadType(type)) return 'payload';
  if (/^(?:text|application)\/(?:x-)?(?:java|ecma)script$/.test(type)) return 'script';
  if (!['', 'text/plain', 'application/octet-stream'].includes(type)) return 'other';
  const extension = /\.([a-z][a-z0-9_]*)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  if (type === '' && (extension.startsWith('htm') || extension === '')) return 'document';
  return (
    ({ css: 'style', js: 'script', mjs: 'script', svg: 'picture', txt: 'payload' } as const)[extension] ??
    'other'
  );
}

/** @param bytes the whole body, or as much of it as is read */
export function readLinks(
  scope: SiteScope,
  address: Address,
  kind: BodyKind,
  contentType: string,
  bytes: Uint8Array,
  pool: LinkPool,
): BodyLinks {
  const own = originUrl(scope, address);
  const found = find(kind, contentType, bytes.subarray(0, readableBytes(kind)), own);
  const base = baseUrl(found.base, own);
  const links = new Set<BodyLink>();
  const external = new Map<string, ExternalReference>();
  const unsafe = new Set<string>();
  let originSpelled = 0;
  let queriesDropped = 0;
  if (found.base !== undefined && spellsOrigin(scope, found.base)) originSpelled += 1;
  const resolve = (reference: Reference, isSitemap: boolean, against = base): void => {
    const { text, use, load } = reference;
    const located = pool.locate(text, against);
    if (located.where === 'outside' && load !== undefined) {
      const kind = externalKinds[load];
      const href = externalHref(text, against);
      if (href !== undefined) external.set(`${kind} ${href}`, { kind, name: located.name, href });
    }
    if (located.where === 'unsafe' && use !== 'hint' && use !== 'trial') unsafe.add(located.path);
    if (located.where !== 'inside') return;
    const isPage = use === 'page' && !isSitemap;
    if (isPage && located.address.query !== '') queriesDropped += 1;
    const target = isPage ? { path: located.address.path, query: '' } : located.address;
    links.add(pool.linkTo(target, use, isSitemap));
    const source = sourceOfPicture(located.address);
    if (source !== undefined && use === 'asset') resolve(asHint(source), false);
  };
  const { baseAt = 0 } = found;
  // A browser loads an asset when it reads it, and follows a link when the whole page is there.
  for (const [at, reference] of found.references.entries()) {
    if (kind === 'document' && spellsOrigin(scope, reference.text)) originSpelled += 1;
    resolve(reference, false, reference.load !== undefined && at < baseAt ? own : base);
  }
  for (const reference of found.searches ?? []) resolve(reference, false);
  for (const reference of askedByFile(address.path)) resolve(reference, false);
  for (const text of found.sitemaps ?? []) resolve({ text, use: 'asset' }, true);
  const { versions, folders, notTried } = found.versions ?? {};
  for (const name of versions ?? []) resolve({ text: `./${name}/`, use: 'trial' }, false);
  return {
    links: [...links],
    external: [...external.values()],
    unsafe: [...unsafe],
    originSpelled,
    queriesDropped,
    isPartial:
      found.isPartial === true ||
      (kind !== 'other' && found.isHeadEnough !== true && bytes.byteLength > readableBytes(kind)) ||
      found.references.length + (found.sitemaps?.length ?? 0) >= maxReferences,
    ...(folders !== undefined && {
      versionFolders: folders.map((name) => `${address.path.replace(/[^/]*$/, '')}${name}/`),
      versionsNotTried: notTried ?? 0,
    }),
    searchTool: kind === 'document' ? undefined : recogniseIndex(address.path, bytes),
  };
}

function find(kind: BodyKind, contentType: string, bytes: Uint8Array, url: URL): Found {
  switch (kind) {
    case 'document':
      return findInHtml(decodeBody(bytes, contentType, 'html'), url);
    case 'picture':
      return findInHtml(decodeBody(bytes, contentType, 'svg'), url);
    case 'style':
      return { references: readCssReferences(decodeBody(bytes, contentType, 'style')) };
    case 'script':
      return findInScript(decodeBody(bytes, contentType, 'none'), url);
    case 'manifest':
      return { references: readManifestReferences(decodeBody(bytes, '', 'none')) };
    case 'payload': {
      const text = decodeBody(bytes, '', 'none');
      // A server that runs has no files of segments.
      if (isPayloadType(contentType)) return { references: readScriptReferences(text, []) };
      const segments = readPayload(url.pathname, text);
      return { references: segments.length === 0 ? [] : [...segments, ...readScriptReferences(text, [])] };
    }
    case 'contents':
      return { references: readLlmsText(decodeBody(bytes, '', 'none')).map(asPage) };
    case 'sitemap': {
      const { pages, sitemaps } = readSitemap(bytes);
      return { references: pages.map(asPage), sitemaps };
    }
    case 'index':
      return {
        references: readSearchData(url.pathname, bytes),
        versions: readVersionList(url.pathname, bytes),
        isHeadEnough: !url.pathname.endsWith('.pf_meta'),
      };
    case 'other':
      return { references: [] };
    default:
      return kind satisfies never;
  }
}

function findInScript(script: string, { pathname }: URL): Found {
  return {
    references: [...readScriptReferences(script, [pathname]), ...readExternalModules(script)],
    searches: readSearchLiterals([script], [pathname]),
  };
}

function findInHtml(html: string, url: URL): Found {
  const { base, baseAt, references, inlineScripts, scriptSources, isPartial } = readHtmlReferences(html);
  const anchors = scriptSources.flatMap((source) => URL.parse(source, url.href)?.pathname ?? []);
  const found = [...references];
  const searches = [
    ...readPageSearch(html, url.pathname, anchors),
    ...readSearchLiterals(inlineScripts, anchors),
  ];
  for (const script of inlineScripts) {
    if (found.length >= maxReferences) break;
    addReferences(found, readScriptReferences(script, anchors));
    addReferences(found, readExternalModules(script));
    addReferences(found, readPageData(script, url.pathname, anchors));
  }
  if (anchors.some((anchor) => anchor.includes('/_next/static/'))) found.push(payloadOf(url.pathname));
  return { base, baseAt, references: found, searches, isPartial };
}

/** What references are relative to (HTML: "document base URL"). */
export function baseUrl(base: string | undefined, own: URL): URL {
  const url = URL.parse(base ?? '', own.href);
  return url === null || url.protocol === 'data:' || url.protocol === 'javascript:' ? own : url;
}

function spellsOrigin({ originHost, namedHost, domain, prefix }: SiteScope, text: string): boolean {
  const trimmed = text.trimStart();
  if (namedHost !== undefined && namedHost !== domain && /^https?:/i.test(trimmed)) {
    if (URL.parse(trimmed)?.host === namedHost) return true;
  }
  return trimmed.startsWith(originHost) || (prefix !== '' && trimmed.startsWith(`${prefix}/`));
}
