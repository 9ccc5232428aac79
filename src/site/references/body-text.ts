// Reads a body as text, in the charset that a browser reads it in: a byte order mark, then the header, then what the body
// declares, then UTF-8. Reads a bounded start of a body for its declaration. Never throws; bytes are never changed.

import { readHtmlTokens, type TagToken } from '#platform/html/html-tokens.ts';

/** What may declare a charset in its own text. */
export type CharsetSource = 'html' | 'svg' | 'style' | 'none';

/** Browsers search to the end of the head; those that search less find a late declaration only by luck. */
const declaringBytes = 16 * 1024;
const declarationPiece = 512;

const marks: readonly (readonly [readonly number[], string])[] = [
  [[0xef, 0xbb, 0xbf], 'utf-8'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xff, 0xfe], 'utf-16le'],
];

/** @param contentType as in the header; may be empty */
export function decodeBody(bytes: Uint8Array, contentType: string, source: CharsetSource): string {
  const mark = marks.find(([start]) => start.every((byte, at) => bytes[at] === byte))?.[1];
  const decoder =
    decoderOf(mark) ??
    decoderOf(charsetIn(contentType)) ??
    decoderOf(readDeclaration(bytes, source)) ??
    new TextDecoder();
  return decoder.decode(bytes);
}

/** Undefined for a label that browsers do not know either. */
function decoderOf(label: string | undefined): InstanceType<typeof TextDecoder> | undefined {
  if (label === undefined) return undefined;
  try {
    return new TextDecoder(label);
  } catch {
    return undefined;
  }
}

/** As the header names it, in any form. */
export function charsetIn(contentType: string): string | undefined {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s";]+))/i.exec(contentType) ?? [];
  return quoted ?? plain;
}

function readDeclaration(bytes: Uint8Array, source: CharsetSource): string | undefined {
  if (source === 'none') return undefined;
  const start = Buffer.from(bytes.subarray(0, declaringBytes)).toString('latin1');
  const declared =
    source === 'style'
      ? /^@charset "([^"]{1,100})";/.exec(start)?.[1]
      : ((source === 'html' ? readMetaCharset(start) : undefined) ??
        /^<\?xml\s[^>]*?\bencoding\s*=\s*["']([\w.:-]{1,100})["']/.exec(start)?.[1]);
  // A declaration that was read byte by byte is not UTF-16, whatever it says.
  return declared !== undefined && /^utf-?16/i.test(declared.trim()) ? 'utf-8' : declared;
}

function readMetaCharset(start: string): string | undefined {
  // Most pages without a declaration end here.
  if (!/charset/i.test(start)) return undefined;
  let charset: string | undefined;
  const reader = {
    start: (tag: TagToken): void => {
      if (tag.tagName === 'meta') charset ??= charsetOfMeta(tag);
    },
    end: () => {},
    text: () => {},
    isDone: () => charset !== undefined,
  };
  // Most pages declare it in their first lines.
  readHtmlTokens(start, reader, declarationPiece);
  return charset;
}

function charsetOfMeta({ attrs }: TagToken): string | undefined {
  const attributeOf = (name: string): string => attrs.find((attr) => attr.name === name)?.value.trim() ?? '';
  const charset = attributeOf('charset');
  if (charset !== '') return charset;
  if (attributeOf('http-equiv').toLowerCase() !== 'content-type') return undefined;
  const [, quoted, plain] =
    /charset\s*=\s*(?:["']([^"']*)["']|([^\s;"']+))/i.exec(attributeOf('content')) ?? [];
  return quoted ?? plain;
}
