// Is a name a promise that its content never changes? Build tools put a hash of the content into the names
// of assets; such a file may be cached for ever, and one of a former version may still be asked for by pages
// that are open. Strict on purpose: a page is never one, and a name that may have been written by hand
// (`report-20240131.pdf`, `Overview.js`) is not taken for a hash.

import { isDocument } from './content-type.ts';

/** Folders that only build tools write to; in them a base64url hash is believed. */
const buildFolder =
  /(?:^|\/)(?:_next|_nuxt|_astro|_app|assets|static|_static|chunks|immutable|build|media)\//;
/** Everything below is named by build or content. */
const wholeFolder = /(?:^|\/)(?:_next\/static|_app\/immutable)\//;

/** @param path of a file in the bundle, no leading slash */
export function isHashedAsset(path: string): boolean {
  if (isDocument(path)) return false;
  if (wholeFolder.test(path)) return true;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const dot = name.lastIndexOf('.');
  if (dot <= 0) return false;
  const parts = name.slice(0, dot).split('.');
  if (parts.some(endsInHexHash)) return true;
  return buildFolder.test(path) && parts.some(endsInBase64Hash);
}

/** `main-1a2b3c4d`, `1a2b3c4d5e6f7a8b`: at least 8 hex digits, letters and digits both. */
function endsInHexHash(part: string, index: number): boolean {
  const match = /(^|[-_])([0-9a-f]{8,64})$/.exec(part);
  const hash = match?.[2] ?? '';
  if (match === null || !/[a-f]/.test(hash) || !/[0-9]/.test(hash)) return false;
  // A whole first part is a name of its own unless it is long enough to be nothing else.
  return index > 0 || match[1] !== '' || hash.length >= 16;
}

/** `app-BxYz12_Q`, or a part of its own as in `app.BxYz12_Q.js`: 8 characters that read like no word. */
function endsInBase64Hash(part: string, index: number): boolean {
  if (index > 0 && /^[\w-]{8,24}$/.test(part) && looksRandom(part)) return true;
  return /[-_]/.test(part.at(-9) ?? '') && looksRandom(part.slice(-8));
}

/** Words change the kind of letter once or twice; random text nearly always more often. */
function looksRandom(text: string): boolean {
  if (/^[A-Z2-7]{8}$/.test(text)) return /[A-Z]/.test(text) && /[2-7]/.test(text);
  const kinds = [...text].map((letter) =>
    /[a-z]/.test(letter) ? 'a' : /[A-Z]/.test(letter) ? 'A' : /[0-9]/.test(letter) ? '0' : '_',
  );
  const changes = kinds.filter((kind, at) => at > 0 && kind !== kinds[at - 1]).length;
  return changes >= (kinds.includes('0') ? 3 : 4);
}
