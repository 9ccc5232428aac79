// Headers that the administrator adds to every answer, as a proxy in front of the server would.
// Refuses: what this server decides from the content and the request (caching, encoding, length, connection), what
// would make public answers personal, and anything that could end a header early.

import { type Flag, FlagValueError, listOf } from '#platform/runtime/flags/flag-kinds.ts';

/** Names and values in turns. */
export type AddedHeaders = readonly string[];

/** Decided for each answer; a second one would contradict it, or the connection. */
export const decidedHeaders: ReadonlySet<string> = new Set([
  'accept-ranges',
  'allow',
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'date',
  'etag',
  'expires',
  'keep-alive',
  'last-modified',
  'location',
  'retry-after',
  'set-cookie',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'vary',
  'x-content-type-options',
]);

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const printable = /^[\x20-\x7e]{1,4096}$/;

/**
 * `--header 'Name: value'`, once for each header; in a variable, one a line. RFC 9110 §5: names are tokens, values here
 * printable ASCII.
 */
export const addedHeaders: Flag<AddedHeaders> = listOf(
  'NAME: VALUE',
  '\n',
  readHeader,
  'Header added to every answer, for example "Strict-Transport-Security: max-age=31536000"',
);

/** @throws {FlagValueError} */
function readHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(colon, 0));
  const value = line.slice(colon + 1).trim();
  if (!token.test(name) || !printable.test(value)) {
    throw new FlagValueError(
      'must be "Name: value" in printable ASCII, for example "Referrer-Policy: no-referrer"',
    );
  }
  if (decidedHeaders.has(name.toLowerCase())) {
    throw new FlagValueError(`may not set ${name}: the server decides it for each answer`);
  }
  return [name, value];
}
