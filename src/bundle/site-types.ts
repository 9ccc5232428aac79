// Content types of an export that the names of its files do not show: `_sx/types.json`. Owns the document's form, its bounds, and
// which type a server may send for which file. Refuses types that make a page of another file, that change what a known name
// stands for, and that browsers give power to. Invariant: what passes is safe in a header.

import * as z from 'zod/mini';
import { isRecord, jsonText, readJson } from '#platform/wire/json-text.ts';
import { contentTypeByName, isDocument, isTextType } from './content-type.ts';
import { maxTypesBytes } from './export-documents.ts';

export const maxTypeEntries = 20_000;
/** Different types of one export. */
export const maxTypeKinds = 64;
const maxTypeLength = 200;

const grammar =
  /^([a-z][a-z0-9-]{0,30}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,100})(?:; charset=([a-z0-9][a-z0-9._:-]{0,40}))?$/;
const pageTypes: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);
/**
 * An allow-list: what browsers show, play, run as a part of a page, or what readers of feeds and clients of an API need. Not
 * `multipart/…` and `message/…`, which hold other files, and no installers, certificates, profiles and packages that a
 * browser opens by their type: those stay a download.
 */
const ofUnknownNames =
  /^(?:text\/(?:plain|css|csv|markdown|xml|vtt|calendar|tab-separated-values|(?:x-)?(?:java|ecma)script)|(?:image|audio|video|font)\/.+|application\/(?:json|xml|pdf|wasm|yaml|x-yaml|zip|gzip|zstd|x-tar|x-ndjson|epub\+zip|(?:x-)?(?:java|ecma)script|.+\+(?:json|xml)))$/;

const document = z.object({
  schemaVersion: z.literal(1),
  types: z.custom<Readonly<Record<string, unknown>>>(isRecord),
});

/** A content type in its one form: lower case, a known charset or none. */
export interface SiteType {
  readonly media: string;
  /** As browsers name the encoding. */
  readonly charset?: string | undefined;
}

/** @returns `undefined` for a text that is not in the one form, and for a charset of what is not text */
export function readSiteType(text: string): SiteType | undefined {
  if (text.length > maxTypeLength) return undefined;
  const [, media, charset] = grammar.exec(text) ?? [];
  if (media === undefined) return undefined;
  if (charset === undefined) return { media };
  return isTextType(media) && charsetNamed(charset) === charset ? { media, charset } : undefined;
}

export function siteTypeText({ media, charset }: SiteType): string {
  return charset === undefined ? media : `${media}; charset=${charset}`;
}

/** The encoding of a label, as browsers name it; `undefined` for a label that they do not know, and where bytes mean nothing. */
export function charsetNamed(label: string): string | undefined {
  try {
    const { encoding } = new TextDecoder(label);
    return encoding === 'x-user-defined' ? undefined : encoding;
  } catch {
    return undefined;
  }
}

/** Whether a server may send this type for a file of this path. */
export function maySendType(path: string, { media }: SiteType): boolean {
  if (isDocument(path)) return pageTypes.has(media);
  const own = contentTypeByName(path);
  // Everything is sent with `nosniff`: a program or style sheet of another type would not run.
  if (own !== undefined) return own.split(';', 1)[0] === media;
  return !pageTypes.has(media) && ofUnknownNames.test(media);
}

/**
 * Entries that a server may send, by path. Others are passed over.
 *
 * @returns `undefined` for bytes that are not such a document, and for one beyond the bounds
 */
export function parseSiteTypes(bytes: Uint8Array): ReadonlyMap<string, string> | undefined {
  if (bytes.byteLength > maxTypesBytes) return undefined;
  const read = document.safeParse(readJson(Buffer.from(bytes).toString()));
  if (!read.success) return undefined;
  const entries = Object.entries(read.data.types);
  if (entries.length > maxTypeEntries) return undefined;
  const judge = createTypeJudge();
  const types = new Map<string, string>();
  for (const [path, text] of entries) if (judge(path, text)) types.set(path, text);
  return types;
}

/** Says which types may be sent, and knows each of them after its first file. Refuses more than {@link maxTypeKinds}. */
export function createTypeJudge(): (path: string, text: unknown) => text is string {
  const known = new Map<string, SiteType>();
  return (path, text): text is string => {
    if (typeof text !== 'string') return false;
    const found = known.get(text);
    const type = found ?? (known.size < maxTypeKinds ? readSiteType(text) : undefined);
    if (type === undefined || !maySendType(path, type)) return false;
    if (found === undefined) known.set(text, type);
    return true;
  };
}

export interface SiteTypesText {
  readonly text: string;
  /** Paths of entries beyond the bounds. */
  readonly leftOut: readonly string[];
}

/** @param types by path, sorted. The first are written, as far as the bounds allow */
export function formatSiteTypes(types: ReadonlyMap<string, string>): SiteTypesText {
  const [begin, end] = ['{"schemaVersion":1,"types":{', '}}\n'];
  const lines: string[] = [];
  const leftOut: string[] = [];
  const judge = createTypeJudge();
  let bytes = begin.length + end.length;
  for (const [path, type] of types) {
    // By hand: an object would put names such as "404" before all others.
    const line = `${jsonText(path)}:${jsonText(type)}`;
    const length = Buffer.byteLength(line) + 1;
    if (lines.length < maxTypeEntries && bytes + length <= maxTypesBytes && judge(path, type)) {
      lines.push(line);
      bytes += length;
    } else {
      leftOut.push(path);
    }
  }
  return { text: `${begin}${lines.join(',')}${end}`, leftOut };
}
