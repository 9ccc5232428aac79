// Finds where one body leads. Chooses the reader for its kind, resolves what it found, sorts it into inside and
// outside, and keeps each address once. Pure over (bytes, content type, address); bytes are never changed.

import { type Address, locate, originUrl, type SiteScope } from '../site-scope.ts';
import { maxSitemapBytes, readLlmsText, readSitemap } from '../sitemap.ts';
import { readCssReferences } from './css-references.ts';
import { readHtmlReferences } from './html-references.ts';
import { readManifestReferences } from './manifest-references.ts';
import { payloadOf, readPayload } from './next-payload.ts';
import { addReferences, asPage, maxReferences, type Reference, type ReferenceUse } from './reference.ts';
import { readScriptReferences } from './script-references.ts';

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
  | 'other';

export interface BodyLink {
  readonly address: Address;
  readonly use: ReferenceUse;
  readonly isSitemap: boolean;
}

export interface BodyLinks {
  readonly links: readonly BodyLink[];
  /** Host and path of what the body loads from elsewhere. */
  readonly external: readonly string[];
  /** Paths that no bundle may hold. */
  readonly unsafe: readonly string[];
  /** References that spell out the origin's own host, or its prefix: they will not lead to the served bundle. */
  readonly originSpelled: number;
  /** Page references whose query was dropped. */
  readonly queriesDropped: number;
  /** Too large, or too many references: it is kept as it is, and what its rest leads to is not known. */
  readonly isPartial: boolean;
}

export const noLinks: BodyLinks = {
  links: [],
  external: [],
  unsafe: [],
  originSpelled: 0,
  queriesDropped: 0,
  isPartial: false,
};

/** One object for each link of a whole crawl: a site's navigation is on every page of it. */
export type LinkPool = Map<string, BodyLink>;

/** Of one body; more is not read. No string that it becomes is larger than what a thread can spare at its limit. */
const usualReadBytes = 8 * 1024 * 1024;

/** How much of a body of this kind is read for its references; nothing reads past it. */
export function readableBytes(kind: BodyKind): number {
  if (kind === 'other') return 0;
  return kind === 'sitemap' ? maxSitemapBytes : usualReadBytes;
}

interface Found {
  readonly base?: string | undefined;
  readonly references: readonly Reference[];
  readonly sitemaps?: readonly string[];
  readonly isPartial?: boolean;
}

/** From the content type, and where a server gave none, from the name. */
export function bodyKind(contentType: string, path: string): BodyKind {
  const type = contentType.split(';')[0]?.trim().toLowerCase() ?? '';
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'document';
  if (type === 'text/css') return 'style';
  if (type === 'application/manifest+json' || path.endsWith('.webmanifest')) return 'manifest';
  if (/\bmanifest\.json$/.test(path)) return 'manifest';
  if (type === 'image/svg+xml') return 'picture';
  if (/^(?:text|application)\/(?:x-)?(?:java|ecma)script$/.test(type)) return 'script';
  if (!['', 'text/plain', 'application/octet-stream'].includes(type)) return 'other';
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
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
  const found = find(kind, contentType, bytes.subarray(0, readableBytes(kind)), originUrl(scope, address));
  const base = URL.parse(found.base ?? '', originUrl(scope, address).href) ?? originUrl(scope, address);
  const links = new Map<string, BodyLink>();
  const external = new Set<string>();
  const unsafe = new Set<string>();
  let originSpelled = 0;
  let queriesDropped = 0;
  const resolve = (text: string, use: ReferenceUse, isSitemap: boolean): void => {
    if (kind === 'document' && spellsOrigin(scope, text)) originSpelled += 1;
    const located = locate(scope, text, base);
    if (located.where === 'outside' && use === 'asset') external.add(located.name);
    if (located.where === 'unsafe' && use !== 'hint') unsafe.add(located.path);
    if (located.where !== 'inside') return;
    const isPage = use === 'page' && !isSitemap;
    if (isPage && located.address.query !== '') queriesDropped += 1;
    const target = isPage ? { path: located.address.path, query: '' } : located.address;
    const key = `${use} ${isSitemap} ${target.path}${target.query}`;
    const link = pool.get(key) ?? { address: target, use, isSitemap };
    pool.set(key, link);
    links.set(key, link);
  };
  for (const { text, use } of found.references) resolve(text, use, false);
  for (const text of found.sitemaps ?? []) resolve(text, 'asset', true);
  return {
    links: [...links.values()],
    external: [...external],
    unsafe: [...unsafe],
    originSpelled,
    queriesDropped,
    isPartial:
      found.isPartial === true ||
      (kind !== 'other' && bytes.byteLength > readableBytes(kind)) ||
      found.references.length + (found.sitemaps?.length ?? 0) >= maxReferences,
  };
}

function find(kind: BodyKind, contentType: string, bytes: Uint8Array, url: URL): Found {
  switch (kind) {
    case 'document':
      return findInHtml(decodeText(bytes, contentType, true), url);
    case 'picture':
      return findInHtml(decodeText(bytes, contentType, false), url);
    case 'style':
      return { references: readCssReferences(decodeText(bytes, contentType, false)) };
    case 'script':
      return { references: readScriptReferences(decodeText(bytes, contentType, false), [url.pathname]) };
    case 'manifest':
      return { references: readManifestReferences(decodeText(bytes, '', false)) };
    case 'payload': {
      const text = decodeText(bytes, '', false);
      const segments = readPayload(url.pathname, text);
      return { references: segments.length === 0 ? [] : [...segments, ...readScriptReferences(text, [])] };
    }
    case 'contents':
      return { references: readLlmsText(decodeText(bytes, '', false)).map(asPage) };
    case 'sitemap': {
      const { pages, sitemaps } = readSitemap(bytes);
      return { references: pages.map(asPage), sitemaps };
    }
    case 'other':
      return { references: [] };
    default:
      return kind satisfies never;
  }
}

function findInHtml(html: string, url: URL): Found {
  const { base, references, inlineScripts, scriptSources, isPartial } = readHtmlReferences(html);
  const anchors = scriptSources.flatMap((source) => URL.parse(source, url.href)?.pathname ?? []);
  const found = [...references];
  for (const script of inlineScripts) {
    if (found.length >= maxReferences) break;
    addReferences(found, readScriptReferences(script, anchors));
  }
  if (anchors.some((anchor) => anchor.includes('/_next/static/'))) found.push(payloadOf(url.pathname));
  return { base, references: found, isPartial };
}

function spellsOrigin({ originHost, prefix }: SiteScope, text: string): boolean {
  const trimmed = text.trimStart();
  return trimmed.startsWith(originHost) || (prefix !== '' && trimmed.startsWith(`${prefix}/`));
}

/** By the declared charset, the document's own `<meta charset>`, or UTF-8. Never throws. */
function decodeText(bytes: Uint8Array, contentType: string, isHtml: boolean): string {
  const declared = /charset\s*=\s*"?([^\s";]+)/i;
  const head = isHtml ? Buffer.from(bytes.subarray(0, 1024)).toString('latin1') : '';
  const label = declared.exec(contentType)?.[1] ?? /<meta[^>]+?charset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1];
  try {
    return new TextDecoder(label ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
