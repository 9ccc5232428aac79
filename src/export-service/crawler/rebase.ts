// Moves a crawled site below another path: prefixes the root-absolute addresses of its bodies. Owns which address is moved: one
// that leads to the site, and in a script only one that leads to a file of it. Addresses with a host stay, except in a
// sitemap. Pages come last, because they may have hashes of the other files. Invariant: the files keep their paths, and a body
// without such an address or hash keeps its bytes.

import { followChain } from './assembly.ts';
import type { Frontier, SiteFile } from './frontier.ts';
import { addressKey } from './frontier.ts';
import { createIntegrityRenewal } from './integrity.ts';
import type { BodyKind } from './references/body-links.ts';
import type { CountedText } from './references/next-stream.ts';
import { hasPositions, readPositions } from './references/positions.ts';
import type { AddressPosition, IntegrityPosition } from './references/reference.ts';
import { type Address, filePath, type Located, locate, originUrl, type SiteScope } from './site-scope.ts';
import { applyEdits, inOrder, type SourceEdit } from './source-edits.ts';
import type { CrawlSpool } from './spool.ts';

export interface RebaseContext {
  readonly scope: SiteScope;
  readonly spool: CrawlSpool;
  readonly signal: AbortSignal;
  readonly maxRedirects: number;
}

/** They may have hashes of what comes before them. */
const lastRoles: readonly BodyKind[] = ['picture', 'document'];

/**
 * @param basePath without trailing slash; `''` is the root
 * @returns the files of the frontier, by path; changed bodies are in the spool too
 * @throws {CrawlError} SpoolFailed; the signal's reason
 */
export async function rebaseFiles(
  frontier: Frontier,
  basePath: string,
  { scope, spool, signal, maxRedirects }: RebaseContext,
): Promise<ReadonlyMap<string, SiteFile>> {
  // A site that is below this path already has it in its addresses.
  if (basePath === scope.prefix) return frontier.files;
  const isFile = (address: Address): boolean =>
    [addressKey(address), address.path].some((key) => frontier.visits.get(key)?.isTaken === true);
  const rebased = new Map(frontier.files);
  const renew = createIntegrityRenewal(spool);
  const rank = ({ role }: SiteFile): number => lastRoles.indexOf(role);
  const pagesLast = [...frontier.files].sort(([, a], [, b]) => rank(a) - rank(b));
  for (const [path, file] of pagesLast) {
    signal.throwIfAborted();
    const { body, role, address } = file;
    if (!hasPositions(role, body.sizeBytes)) continue;
    const source = Buffer.from(spool.head(body, body.sizeBytes)).toString('latin1');
    const { positions, base, counted, integrity } = readPositions(role, source);
    const own = originUrl(scope, address);
    const against = URL.parse(base ?? '', own.href) ?? own;
    const movedAt = new Set<number>();
    const moves = positions.flatMap((position) => {
      const move = moveOf({ scope, basePath, isFile }, source, position, against);
      if (move === undefined) return [];
      movedAt.add(position.at);
      return move;
    });
    const renewed = integrity.flatMap((position) => {
      if (!leadsToCopy(position, base, movedAt)) return [];
      const loaded = loadedPath(frontier, locate(scope, position.address, against), maxRedirects);
      const before = frontier.files.get(loaded ?? '')?.body;
      const after = rebased.get(loaded ?? '')?.body;
      if (before === undefined || after === undefined || before.sha256 === after.sha256) return [];
      return renew(source, position.hashes, before, after);
    });
    if (moves.length + renewed.length === 0) continue;
    // A position may have been found twice.
    const edits = [...new Map([...moves, ...renewed].map((edit) => [edit.at, edit])).values()].sort(inOrder);
    const text = applyEdits(source, [...edits, ...lengthEdits(edits, counted)].sort(inOrder));
    rebased.set(path, { ...file, body: await spool.put(Buffer.from(text, 'latin1')) });
  }
  return rebased;
}

/** Whether a visitor gets the file of the moved site: an address with a host leads to where the site was. */
function leadsToCopy(
  { address, addressAt }: IntegrityPosition,
  base: string | undefined,
  movedAt: ReadonlySet<number>,
): boolean {
  if (movedAt.has(addressAt)) return true;
  return !/^[/\\]/.test(address.trim()) && !namesHost(address) && !namesHost(base ?? '');
}

function namesHost(address: string): boolean {
  return URL.parse(address, 'https://relative.invalid')?.host !== 'relative.invalid';
}

/** The path of the file that a browser gets, also through redirects: each becomes a copy. */
function loadedPath(frontier: Frontier, located: Located, maxRedirects: number): string | undefined {
  if (located.where !== 'inside') return undefined;
  const path = filePath(located.address);
  if (path !== undefined && frontier.files.has(path)) return path;
  const visit = frontier.visits.get(addressKey(located.address)) ?? frontier.visits.get(located.address.path);
  if (visit?.outcome?.kind !== 'redirect') return undefined;
  const end = followChain(frontier, visit, maxRedirects);
  return 'target' in end ? filePath(end.target) : undefined;
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
): SourceEdit | undefined {
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
function lengthEdits(edits: readonly SourceEdit[], counted: readonly CountedText[]): readonly SourceEdit[] {
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
