// The strict reader of plain requests: one GET or HEAD of HTTP/1.1 that came whole and alone, with nothing in it that
// two readers could understand in two ways. Every other piece is for the full parser, from its first byte on: a body or
// its announcement, a second request or a part of one, folded fields, bare line ends, non-ASCII bytes, a repeated field.
// Invariant: what is read here the full parser reads the same way, and finds nothing more in it.

import type { RequestFields } from '../answer/reply.ts';
import { isHostValue } from '../http/host-field.ts';

/** A request as far as its answer depends on it. */
export interface PlainRequest extends RequestFields {
  readonly method: 'GET' | 'HEAD';
  /** Origin form, as received. */
  readonly target: string;
}

/** Half of what the full parser takes, in bytes and in lines: whatever is counted against its limits, this is within. */
export const longestPlainHead = 8 * 1024;
const mostPlainFields = 500;

const requestLine = /^(GET|HEAD) (\/[!$%&'()*+,\-./0-9:;=?@A-Z_a-z~]*) HTTP\/1\.1\r\n/;

const carriageReturn = 13;
const lineFeed = 10;
const colon = 58;

const isNameByte = tableOf(/[!#$%&'*+\-.^_`|~0-9A-Za-z]/);
const isValueByte = tableOf(/[\t\x20-\x7e]/);

function tableOf(allowed: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (allowed.test(String.fromCharCode(code)) ? 1 : 0));
}

/** Fields about the connection or a body: requests with them are for the full parser. */
const notPlain: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'http2-settings',
  'proxy-connection',
  'keep-alive',
  'te',
  'trailer',
]);
/** Fields whose values matter, each at most once. */
const known: ReadonlyMap<string, keyof Fields> = new Map([
  ['host', 'host'],
  ['connection', 'connection'],
  ['if-match', 'ifMatch'],
  ['if-none-match', 'ifNoneMatch'],
  ['range', 'range'],
  ['if-range', 'ifRange'],
  ['accept', 'accept'],
  ['accept-encoding', 'acceptEncoding'],
]);

/** First letter and length exclude most fields without creating a string of their names. */
const isSuspect = new Uint8Array(32 * 32);
for (const name of [...notPlain, ...known.keys()]) isSuspect[suspicion(name.charCodeAt(0), name.length)] = 1;

/** The same for both cases of a letter; longer names map to an index outside of the table. */
function suspicion(firstCode: number, length: number): number {
  return length < 32 ? ((firstCode & 0x1f) << 5) | length : isSuspect.length;
}

/**
 * @param text one character for each byte of a piece
 * @returns `undefined` for input that is not exactly one plain request
 */
export function readPlainRequest(text: string): PlainRequest | undefined {
  if (text.length > longestPlainHead) return undefined;
  const line = requestLine.exec(text);
  if (line === null) return undefined;
  const [{ length: fieldsAt }, method, target = ''] = line;
  const fields = readFields(text, fieldsAt);
  if (fields?.host === undefined || !isHostValue(fields.host)) return undefined;
  if (fields.connection !== undefined && fields.connection.toLowerCase() !== 'keep-alive') return undefined;
  const { ifMatch, ifNoneMatch, range, ifRange, accept, acceptEncoding } = fields;
  return {
    method: method === 'HEAD' ? 'HEAD' : 'GET',
    target,
    ifMatch,
    ifNoneMatch,
    range,
    ifRange,
    accept,
    acceptEncoding,
  };
}

/** All of them from the start, so that it never changes its shape. */
interface Fields {
  host: string | undefined;
  connection: string | undefined;
  ifMatch: string | undefined;
  ifNoneMatch: string | undefined;
  range: string | undefined;
  ifRange: string | undefined;
  accept: string | undefined;
  acceptEncoding: string | undefined;
}

/** Field lines up to the empty one, which must be the last of the text (RFC 9112 §5). */
function readFields(text: string, from: number): Fields | undefined {
  const fields: Fields = {
    host: undefined,
    connection: undefined,
    ifMatch: undefined,
    ifNoneMatch: undefined,
    range: undefined,
    ifRange: undefined,
    accept: undefined,
    acceptEncoding: undefined,
  };
  let count = 0;
  for (let at = from; ; ) {
    if (text.charCodeAt(at) === carriageReturn) {
      const isLast = text.charCodeAt(at + 1) === lineFeed && at + 2 === text.length;
      return isLast ? fields : undefined;
    }
    count += 1;
    if (count > mostPlainFields) return undefined;
    const nameAt = at;
    while (isNameByte[text.charCodeAt(at)] === 1) at += 1;
    const nameEnd = at;
    if (nameEnd === nameAt || text.charCodeAt(at) !== colon) return undefined;
    at += 1;
    while (isValueByte[text.charCodeAt(at)] === 1) at += 1;
    if (text.charCodeAt(at) !== carriageReturn || text.charCodeAt(at + 1) !== lineFeed) return undefined;
    if (isSuspect[suspicion(text.charCodeAt(nameAt), nameEnd - nameAt)] === 1) {
      if (!keep(fields, text.slice(nameAt, nameEnd).toLowerCase(), trimmed(text, nameEnd + 1, at)))
        return undefined;
    }
    at += 2;
  }
}

/** @returns false where the field is not one of a plain request, or stands there a second time */
function keep(fields: Fields, name: string, value: string): boolean {
  if (notPlain.has(name)) return false;
  const field = known.get(name);
  if (field === undefined) return true;
  if (fields[field] !== undefined) return false;
  fields[field] = value;
  return true;
}

/** Optional white space around a value is no part of it (RFC 9110 §5.5). */
function trimmed(text: string, from: number, to: number): string {
  let start = from;
  let end = to;
  while (start < end && isSpace(text.charCodeAt(start))) start += 1;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
