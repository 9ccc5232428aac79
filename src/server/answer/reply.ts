// One request → what to answer, as data: status, headers and which bytes, never the sending of them. A pure
// function, so that every rule of HTTP here is a row of a table. Order: method, path, look-up, then the
// preconditions in the order of RFC 9110 §13.2.2, then the range.
// Invariant: every header value is made of printable ASCII, whatever the files are called.

import type { SiteLookup } from '../content/live-site.ts';
import type { FileRoute } from '../content/route-table.ts';
import type { Variant } from '../content/variant-table.ts';
import { type ByteRange, readByteRange } from '../http/byte-range.ts';
import { acceptedForms, type ContentEncoding, type FileForm } from '../http/content-encoding.ts';
import { allowsRange, findKnownTag, matchesStrongly, type SendableForms } from '../http/entity-tag.ts';
import type { RequestPath } from '../http/request-path.ts';
import { chooseRepresentation } from './representation.ts';

/** What of a request matters for its answer. */
export interface RequestFields {
  readonly method: string;
  readonly ifMatch: string | undefined;
  readonly ifNoneMatch: string | undefined;
  readonly range: string | undefined;
  readonly ifRange: string | undefined;
  readonly accept: string | undefined;
  readonly acceptEncoding: string | undefined;
}

export type ReplyBody =
  | { readonly kind: 'none' }
  | { readonly kind: 'text'; readonly text: string }
  /** The answer is not decided: the start of the file has to be read for its type, then the request is planned again. */
  | { readonly kind: 'unread'; readonly route: FileRoute }
  | {
      readonly kind: 'file';
      readonly route: FileRoute;
      /** `undefined`: the file as it is. */
      readonly variant: Variant | undefined;
      /** Names these bytes, whatever bundle they are in. */
      readonly contentKey: string;
      readonly start: number;
      readonly endExclusive: number;
    };

export interface Reply {
  readonly status: number;
  /** Names and values in turns, as `writeHead` takes them. `Content-Length` is among them, except for 204 and 304. */
  readonly headers: readonly string[];
  readonly body: ReplyBody;
}

/** Sent with every answer of this server. */
export type SiteHeaders = readonly string[];

const revalidate = 'public, max-age=0, must-revalidate';
const forEver = 'public, max-age=31536000, immutable';

/**
 * @param path the canonical path
 * @param site the active bundle, or `undefined` while there is none
 */
export function planReply(
  request: RequestFields,
  path: RequestPath,
  site: SiteLookup | undefined,
  always: SiteHeaders,
): Reply {
  if (request.method !== 'GET' && request.method !== 'HEAD') return methodNotAllowed(always);
  const reply = planGet(request, path, site, always);
  const isDecided = reply.body.kind !== 'unread';
  return request.method === 'HEAD' && isDecided ? { ...reply, body: { kind: 'none' } } : reply;
}

function planGet(
  request: RequestFields,
  path: RequestPath,
  site: SiteLookup | undefined,
  always: SiteHeaders,
): Reply {
  if (path.outcome === 'malformed') return plainReply(400, 'This address is malformed.', always);
  if (site === undefined) {
    // Browsers disregard Retry-After; with Refresh a visitor who came too early sees the site as soon as it is there.
    const again = ['Retry-After', '5', 'Refresh', '5'];
    return plainReply(503, 'No content is ready yet. Try again soon.', always, again);
  }
  if (path.outcome === 'outside-base') return notFound(request, site, '/', always);
  if (path.outcome === 'base-without-slash') return redirect(path.location, path.query, always);
  if (path.path === emptySearchPath) return searchNoted(always);
  const route = site.find(path.path);
  if (route === undefined) return notFound(request, site, path.path, always);
  return route.kind === 'redirect'
    ? redirect(route.location, path.query, always)
    : file(request, route, site, always);
}

/** Where the search of a page reports a text that it found nothing for: `?q=TEXT`. A bundle may have an empty file there. */
const emptySearchPath = '/_sx/search/none';

/** Also where nothing is kept, so that the console of a page shows no error. */
const searchNoted = (always: SiteHeaders): Reply => ({
  status: 204,
  headers: ['Cache-Control', 'no-store', ...always],
  body: { kind: 'none' },
});

/** The form of a file that a request gets. */
interface Selected {
  readonly encoding: ContentEncoding | undefined;
  /** `undefined`: the file as it is. */
  readonly variant: Variant | undefined;
  /** That the request accepts, most wanted first, whether they are there or not. */
  readonly forms: readonly FileForm[];
}

/**
 * Negotiates (RFC 9110 §12.5.3). A part is of the file as it is, because a part of a precompressed body is useless to a client
 * that does not know the encoding. Where nothing acceptable exists, the header is disregarded.
 */
function select(acceptEncoding: string | undefined, route: FileRoute, site: SiteLookup): Selected {
  const forms = route.isCompressible ? acceptedForms(acceptEncoding) : identityOnly;
  for (const form of forms) {
    if (form === 'identity') break;
    const variant = site.findVariant(route, form);
    if (variant !== undefined) return { encoding: form, variant, forms };
  }
  return { encoding: undefined, variant: undefined, forms };
}

const identityOnly: readonly FileForm[] = ['identity'];

/** What the conditions of a request may be about. */
function sendableForms({ variant, forms }: Selected, route: FileRoute, site: SiteLookup): SendableForms {
  const { entityTag } = route;
  const tags = forms.flatMap((form) =>
    form === 'identity' ? [entityTag] : (site.findVariant(route, form)?.tag ?? []),
  );
  const encodings = forms.filter((form) => form !== 'identity');
  return { tags: [variant?.tag ?? entityTag, ...tags], entityTag, encodings };
}

/** Only GET has ranges (§14.2), and what is no single range of bytes is as if it were not there. */
function rangeOf({ method, range, ifRange }: RequestFields, { file, entityTag }: FileRoute): ByteRange {
  const isAsked = method === 'GET' && allowsRange(ifRange, entityTag);
  return readByteRange(isAsked ? range : undefined, file.size);
}

const varies = ['Vary', 'Accept-Encoding'];
const variesWithType = ['Vary', 'Accept, Accept-Encoding'];
const variesByType = ['Vary', 'Accept'];

function varyOf({ isCompressible }: FileRoute, isChosen: boolean): readonly string[] {
  if (isChosen) return isCompressible ? variesWithType : variesByType;
  return isCompressible ? varies : [];
}

function file(request: RequestFields, found: FileRoute, site: SiteLookup, always: SiteHeaders): Reply {
  const { route, fields, isChosen } = chooseRepresentation(found, request.accept, site.twins);
  const range = rangeOf(request, route);
  const selected = select(range.kind === 'whole' ? request.acceptEncoding : undefined, route, site);
  const { encoding, variant } = selected;
  const size = sizeOf(route, variant);
  if (
    request.ifMatch !== undefined &&
    !matchesStrongly(request.ifMatch, sendableForms(selected, route, site))
  ) {
    return plainReply(412, 'The content has changed.', always);
  }
  const { ifNoneMatch } = request;
  const known =
    ifNoneMatch === undefined ? undefined : findKnownTag(ifNoneMatch, sendableForms(selected, route, site));
  const isForEver = route.naming === 'hashed' && site.isUnchanged(route);
  const caching = ['Cache-Control', isForEver ? forEver : revalidate];
  const vary = varyOf(route, isChosen);
  if (known !== undefined) {
    return { status: 304, headers: ['ETag', known, ...caching, ...vary, ...always], body: { kind: 'none' } };
  }
  if (range.kind === 'unsatisfiable') {
    return plainReply(416, 'The file ends before that range.', always, ['Content-Range', `bytes */${size}`]);
  }
  const contentType = site.contentTypeOf(route);
  if (contentType === undefined) return unread(route);
  const start = range.kind === 'part' ? range.start : 0;
  const endExclusive = range.kind === 'part' ? range.endExclusive : size;
  const form = encoding === undefined ? ['Accept-Ranges', 'bytes'] : ['Content-Encoding', encoding];
  const part = range.kind === 'part' ? ['Content-Range', `bytes ${start}-${endExclusive - 1}/${size}`] : [];
  return {
    status: range.kind === 'part' ? 206 : 200,
    headers: [
      'Content-Type',
      contentType,
      'Content-Length',
      `${endExclusive - start}`,
      'ETag',
      variant?.tag ?? route.entityTag,
      ...form,
      ...part,
      ...caching,
      ...vary,
      ...fields,
      ...always,
    ],
    body: { kind: 'file', route, variant, contentKey: contentKeyOf(route, variant), start, endExclusive },
  };
}

const unread = (route: FileRoute): Reply => ({ status: 503, headers: [], body: { kind: 'unread', route } });

function sizeOf({ file }: FileRoute, variant: Variant | undefined): number {
  return variant?.size ?? file.size;
}

/** Of a precompressed variant its tag, which no other precompressed bytes have. */
function contentKeyOf(route: FileRoute, variant: Variant | undefined): string {
  return variant?.tag ?? route.file.sha256;
}

/** The site's own page if it has one. Never cached and never conditional: it stands for an absence. */
function notFound(request: RequestFields, site: SiteLookup, path: string, always: SiteHeaders): Reply {
  const page = site.findNotFoundPage(path);
  if (page === undefined) return plainReply(404, 'There is no such page.', always);
  const contentType = site.contentTypeOf(page);
  if (contentType === undefined) return unread(page);
  const { encoding, variant } = select(request.acceptEncoding, page, site);
  const size = sizeOf(page, variant);
  return {
    status: 404,
    headers: [
      'Content-Type',
      contentType,
      'Content-Length',
      `${size}`,
      'Cache-Control',
      'no-store',
      ...(encoding === undefined ? [] : ['Content-Encoding', encoding]),
      ...(page.isCompressible ? varies : []),
      ...always,
    ],
    body: {
      kind: 'file',
      route: page,
      variant,
      contentKey: contentKeyOf(page, variant),
      start: 0,
      endExclusive: size,
    },
  };
}

/** Permanent for search engines, asked again by browsers: the next version may have a file there. */
function redirect(location: string, query: string, always: SiteHeaders): Reply {
  const target = location + escapeQuery(query);
  return plainReply(301, 'This page is a folder.', always, ['Location', target], revalidate);
}

/** A query goes back as it came, except for what may not stand in a header. */
function escapeQuery(query: string): string {
  return query.replace(
    /[^\x21-\x7e]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`,
  );
}

function methodNotAllowed(always: SiteHeaders): Reply {
  // The connection goes with it: a body that was announced is not waited for.
  return plainReply(405, 'This site can only be read.', always, [
    'Allow',
    'GET, HEAD',
    'Connection',
    'close',
  ]);
}

/** An answer in the server's own words. Nothing of the request is repeated in it. */
export function plainReply(
  status: number,
  sentence: string,
  always: SiteHeaders,
  more: readonly string[] = [],
  cacheControl = 'no-store',
): Reply {
  const body = `${sentence}\n`;
  return {
    status,
    headers: [
      'Content-Type',
      'text/plain; charset=utf-8',
      'Content-Length',
      `${Buffer.byteLength(body)}`,
      'Cache-Control',
      cacheControl,
      ...more,
      ...always,
    ],
    body: { kind: 'text', text: body },
  };
}

/**
 * @param deploymentType where the site runs; an air-gapped one must not load from other hosts
 * @param added by the administrator; a policy among them can only narrow the air-gapped one
 */
export function siteHeaders(deploymentType: DeploymentType, added: SiteHeaders = []): SiteHeaders {
  const always = ['X-Content-Type-Options', 'nosniff', ...added];
  return deploymentType === 'AirGapped' ? [...always, 'Content-Security-Policy', airGappedPolicy] : always;
}

export const deploymentTypes = ['Cloud', 'ClientHosted', 'AirGapped'] as const;
export type DeploymentType = (typeof deploymentTypes)[number];

/** A search in WebAssembly compiles its program and fetches its index. `data:` and `blob:` reach no host. */
const airGappedPolicy =
  "default-src 'self' 'unsafe-inline' 'wasm-unsafe-eval' data: blob:; connect-src 'self' data: blob:; form-action 'self'; base-uri 'self'; object-src 'none'";
