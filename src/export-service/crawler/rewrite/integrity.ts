// The hashes by which a page accepts the files that it loads (Subresource Integrity), for files whose bytes the crawler changed.
// Replaces a hash only where it was that of the bytes before: a file that browsers refused stays refused. Keeps algorithms, their
// order, options and what it does not know. Holds hashes, and one body at a time.

import { createHash } from 'node:crypto';
import type { SourceEdit } from '#platform/html/source-edits.ts';
import type { Span } from '#site/references/next-stream.ts';
import type { CrawlSpool, StoredBody } from '../spool.ts';

/** The edits of the hashes that stand in a source, for a file with these bodies. @throws {CrawlError} SpoolFailed */
export type IntegrityRenewal = (
  source: string,
  hashes: Span,
  before: StoredBody,
  after: StoredBody,
) => readonly SourceEdit[];

/** No list of hashes is longer. Each of its characters is an object while it is read. */
const maxHashesLength = 8192;
/** A character of an attribute or of a JSON string, as either may write those of a hash. */
const writtenCharacter =
  /&(?:#(?:x[\da-f]{1,8}|\d{1,8});?|(?:plus|sol|equals|quest|lowbar|tab|newline);)|\\\/|./gis;
const named: Readonly<Record<string, string>> = {
  plus: '+',
  sol: '/',
  equals: '=',
  quest: '?',
  lowbar: '_',
  tab: '\t',
  newline: '\n',
};

/** @param spool has the bodies from before and after */
export function createIntegrityRenewal(spool: CrawlSpool): IntegrityRenewal {
  const known = new Map<string, Buffer>();
  const digest = (body: StoredBody, algorithm: string): Buffer => {
    if (algorithm === 'sha256') return Buffer.from(body.sha256, 'hex');
    const key = `${algorithm} ${body.sha256}`;
    const hash = known.get(key) ?? createHash(algorithm).update(spool.head(body, body.sizeBytes)).digest();
    known.set(key, hash);
    return hash;
  };
  return (source, { from, to }, before, after) => {
    if (to - from > maxHashesLength) return [];
    const characters = [...source.slice(from, to).matchAll(writtenCharacter)];
    const text = characters.map(([written]) => readCharacter(written)).join('');
    const positionOf = (character: number): number => from + (characters[character]?.index ?? to - from);
    return [
      ...text.matchAll(/(?<![^ \t\r\n\f])(sha(?:256|384|512))-([\w+/-]+={0,2})(?![^ \t\r\n\f?])/gi),
    ].flatMap(({ 1: algorithm = '', 2: hash = '', index }) => {
      const name = algorithm.toLowerCase();
      if (!Buffer.from(hash, 'base64').equals(digest(before, name))) return [];
      const first = index + algorithm.length + 1;
      const at = positionOf(first);
      const drop = positionOf(first + hash.length) - at;
      return [{ at, drop, insert: digest(after, name).toString('base64') }];
    });
  };
}

/** One character for each written one, so that positions can be told. */
function readCharacter(written: string): string {
  if (written.length === 1) return written;
  if (written === '\\/') return '/';
  const name = /^&#?([^;]*)/.exec(written)?.[1]?.toLowerCase() ?? '';
  const code = name.startsWith('x') ? Number.parseInt(name.slice(1), 16) : Number.parseInt(name, 10);
  return named[name] ?? (code < 128 ? String.fromCharCode(code) : '\ufffd');
}
