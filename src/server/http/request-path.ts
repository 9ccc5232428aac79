// The one canonicalisation of a request target, used for every path. Decodes once,
// collapses nothing, and refuses what two readers could understand in two ways.
// Invariant: an accepted path starts with `/`, has no `.` or `..` segment, no backslash and no control.

import { composedForm } from '#platform/wire/unicode-form.ts';

/** A target as the rest of the server sees it, or why it is none. */
export type RequestPath =
  | {
      readonly outcome: 'path';
      /** Decoded, below the base path, with its leading slash; a trailing slash is kept. */
      readonly path: string;
      /** The query as it came, with its `?`; empty when there was none. Never part of a look-up. */
      readonly query: string;
    }
  /** The base path itself without its slash: relative links of the home page would break. */
  | { readonly outcome: 'base-without-slash'; readonly location: string; readonly query: string }
  | { readonly outcome: 'outside-base' }
  | { readonly outcome: 'malformed' };

const malformed: RequestPath = { outcome: 'malformed' };

/** Encoded slash, backslash or NUL: a program that decodes them later would see another path. */
const encodedSeparator = /%(?:2f|5c|00)/i;
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are exactly what is refused here
const forbidden = /[\u0000-\u001f\u007f\\]/;
/** What may stand in a path unescaped; Node's parser refuses raw bytes above 0x7f as well. */
const unreserved = /^[\x21\x22\x24-\x5b\x5d-\x7e]*$/;
const plain = /^[\x21\x22\x24\x26-\x5b\x5d-\x7e]*$/;

/**
 * Reads a request target (RFC 9112 §3.2: origin form, or absolute form as sent to proxies).
 *
 * @param target as received
 * @param basePath decoded prefix without trailing slash, as {@link readBasePath} returns it; empty for none
 */
export function readRequestPath(target: string, basePath: string): RequestPath {
  const origin = originForm(target);
  if (origin === undefined) return malformed;
  const queryAt = origin.indexOf('?');
  const raw = queryAt < 0 ? origin : origin.slice(0, queryAt);
  const query = queryAt < 0 ? '' : origin.slice(queryAt);
  const decoded = decodePath(raw);
  if (decoded === undefined) return malformed;
  if (basePath === '') return { outcome: 'path', path: decoded, query };
  const below = pathBelow(decoded, basePath);
  if (below === '') {
    return { outcome: 'base-without-slash', location: folderLocation(basePath), query };
  }
  return below === undefined ? { outcome: 'outside-base' } : { outcome: 'path', path: below, query };
}

/** What follows the base path in either Unicode form: nothing, or a path with its leading slash. */
function pathBelow(decoded: string, basePath: string): string | undefined {
  for (const path of [decoded, composedForm(decoded)]) {
    if (path === basePath || path.startsWith(`${basePath}/`)) return path.slice(basePath.length);
  }
  return undefined;
}

function originForm(target: string): string | undefined {
  if (target.startsWith('/')) return target;
  const absolute = /^https?:\/\/[^/?#\s]+([/?][^\s]*)?$/i.exec(target);
  if (absolute === null) return undefined;
  const rest = absolute[1] ?? '';
  // An absolute form may have an empty path, with a query or without (RFC 9112 §3.2.2, RFC 9110 §4.2.3).
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function decodePath(raw: string): string | undefined {
  if (!plain.test(raw)) return decodeEscapes(raw);
  return hasDotSegment(raw) ? undefined : raw;
}

function decodeEscapes(raw: string): string | undefined {
  if (!unreserved.test(raw) || encodedSeparator.test(raw)) return undefined;
  try {
    const decoded = decodeURIComponent(raw);
    return forbidden.test(decoded) || hasDotSegment(decoded) ? undefined : decoded;
  } catch {
    return undefined;
  }
}

function hasDotSegment(path: string): boolean {
  return path.includes('/.') && path.split('/').some((segment) => segment === '.' || segment === '..');
}

/** The target that {@link readRequestPath} reads as this path: a `?` or `%` in it stays one. */
export function encodedTarget(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/**
 * Where a folder's own name leads: a relative reference, so that a prefix which a proxy took away does no
 * harm. `./` in front, because a name with a colon would read as a scheme (RFC 3986 §4.2).
 *
 * @param folder decoded path without trailing slash
 */
export function folderLocation(folder: string): string {
  const name = folder.slice(folder.lastIndexOf('/') + 1);
  return `./${encodeURIComponent(name.toWellFormed())}/`;
}

/**
 * The base path as the reader above wants it: `docs/` → `/docs`, `/` → the empty text.
 * `undefined` when it could never match a canonical path.
 */
export function readBasePath(text: string): string | undefined {
  const trimmed = text.replace(/^\/+|\/+$/g, '');
  if (trimmed === '') return '';
  const read = readRequestPath(encodeURI(`/${trimmed}`), '');
  const isPlain = read.outcome === 'path' && read.query === '' && !read.path.includes('//');
  return isPlain ? composedForm(read.path) : undefined;
}
