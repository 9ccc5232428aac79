// Moves a crawled site below another path: prefixes the root-absolute addresses of its bodies. Owns which address is moved: one
// that leads to the site, and in a script only one that leads to a file of it. Addresses with a host stay, except in a
// sitemap. Invariant: the files keep their paths, and a body without such an address keeps its bytes.

import type { Frontier, SiteFile } from './frontier.ts';
import { addressKey } from './frontier.ts';
import type { CountedText } from './references/next-stream.ts';
import { hasPositions, readPositions } from './references/positions.ts';
import type { AddressPosition } from './references/reference.ts';
import { type Address, locate, originUrl, type SiteScope } from './site-scope.ts';
import type { CrawlSpool } from './spool.ts';

interface Edit {
  readonly at: number;
  /** Characters of the source that go. */
  readonly drop: number;
  readonly insert: string;
}

export interface RebaseContext {
  readonly scope: SiteScope;
  readonly spool: CrawlSpool;
  readonly signal: AbortSignal;
}

/**
 * @param basePath without trailing slash; `''` is the root
 * @returns the files of the frontier, by path; changed bodies are in the spool too
 * @throws {CrawlError} SpoolFailed; the signal's reason
 */
export async function rebaseFiles(
  frontier: Frontier,
  basePath: string,
  { scope, spool, signal }: RebaseContext,
): Promise<ReadonlyMap<string, SiteFile>> {
  // A site that is below this path already has it in its addresses.
  if (basePath === scope.prefix) return frontier.files;
  const isFile = (address: Address): boolean =>
    [addressKey(address), address.path].some((key) => frontier.visits.get(key)?.isTaken === true);
  const rebased = new Map<string, SiteFile>();
  for (const [path, file] of frontier.files) {
    signal.throwIfAborted();
    const { body, role, address } = file;
    rebased.set(path, file);
    if (!hasPositions(role, body.sizeBytes)) continue;
    const source = Buffer.from(spool.head(body, body.sizeBytes)).toString('latin1');
    const { positions, base, counted } = readPositions(role, source);
    const own = originUrl(scope, address);
    const against = URL.parse(base ?? '', own.href) ?? own;
    const moves = positions.flatMap(
      (position) => moveOf({ scope, basePath, isFile }, source, position, against) ?? [],
    );
    if (moves.length === 0) continue;
    // A position may have been found twice.
    const edits = [...new Map(moves.map((edit) => [edit.at, edit])).values()].sort(inOrder);
    const text = edited(source, [...edits, ...lengthEdits(edits, counted)].sort(inOrder));
    rebased.set(path, { ...file, body: await spool.put(Buffer.from(text, 'latin1')) });
  }
  return rebased;
}

/** As a character, or as HTML may write it. */
const writtenSlash = /^(?:[/\\]|&(?:#0{0,4}47|#x0{0,4}2f|sol);?)/i;

interface Move {
  readonly scope: SiteScope;
  readonly basePath: string;
  readonly isFile: (address: Address) => boolean;
}

function moveOf(
  { scope, basePath, isFile }: Move,
  source: string,
  position: AddressPosition,
  base: URL,
): Edit | undefined {
  const text = Buffer.from(position.text.trim(), 'latin1').toString();
  const host = position.hasHost === true ? (/^https?:\/\/[^/?#]*/i.exec(text)?.[0] ?? '') : '';
  const path = text.slice(host.length);
  // Two slashes begin a host, also with a tab or a line end between them, which browsers drop.
  if (!/^[/\\](?![\t\r\n]*[/\\])/.test(path)) return undefined;
  const located = locate(scope, text, base);
  // A path that no bundle may hold leads to nothing, but below the base path.
  if (located.where !== 'inside' && located.where !== 'unsafe') return undefined;
  if (position.isGuess === true && !(located.where === 'inside' && isFile(located.address))) return undefined;
  const start =
    position.at + (/^[ \t\r\n\f]*/.exec(source.slice(position.at, position.at + 256))?.[0].length ?? 0);
  const at = start + host.length;
  if (!writtenSlash.test(source.slice(at, at + 16))) return undefined;
  // The public name of a site has no prefix: only its origin has.
  const prefix = host === '' || host === scope.originHost ? scope.prefix : '';
  if (source.slice(at, at + prefix.length) !== prefix) return undefined;
  const isBare = !/^[/\\]/.test(path.slice(prefix.length));
  return { at, drop: prefix.length, insert: basePath === '' && isBare ? '/' : basePath };
}

/** Lengths of texts that the edits, in order, make longer or shorter. */
function lengthEdits(edits: readonly Edit[], counted: readonly CountedText[]): readonly Edit[] {
  let at = 0;
  return counted.flatMap(({ digits, bytes, pieces }) => {
    let growth = 0;
    for (const { from, to } of pieces) {
      for (; (edits[at]?.at ?? to) < to; at += 1) {
        const edit = edits[at];
        if (edit !== undefined && edit.at >= from) growth += edit.insert.length - edit.drop;
      }
    }
    const insert = (bytes + growth).toString(16);
    return growth === 0 ? [] : [{ at: digits.from, drop: digits.to - digits.from, insert }];
  });
}

const inOrder = (a: Edit, b: Edit): number => a.at - b.at;

/** @param edits in order, each at a position of its own */
function edited(source: string, edits: readonly Edit[]): string {
  const pieces: string[] = [];
  let done = 0;
  for (const { at, drop, insert } of edits) {
    pieces.push(source.slice(done, at), insert);
    done = at + drop;
  }
  return pieces.join('') + source.slice(done);
}
