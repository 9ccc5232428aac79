// Rewrites the bodies of a crawled site: names files with a query by their own paths, and moves a site below another path by
// prefixing root-absolute addresses. Owns which address is moved: one that leads to the site, and in a script only one that
// leads to a file of it. Addresses with a host stay, except in a sitemap. Pages come last, because they may have hashes of
// the other files. Invariant: the files keep their paths, and a body
// without such an address or hash keeps its bytes.

import { apart, applyEdits, inOrder, type SourceEdit } from '#platform/html/source-edits.ts';
import { type BodyKind, baseUrl, readableBytes } from '#site/references/body-links.ts';
import { externalHref } from '#site/references/external.ts';
import type { CountedText } from '#site/references/next-stream.ts';
import { hasPositions, readPositions } from '#site/references/positions.ts';
import type { AddressPosition, IntegrityPosition } from '#site/references/reference.ts';
import {
  type Address,
  addressKey,
  filePath,
  type Located,
  locate,
  originUrl,
  type SiteScope,
} from '#site/site-scope.ts';
import { followChain, type PlacedFrontier } from '../assembly.ts';
import type { SiteFile } from '../frontier.ts';
import type { CrawlSpool, StoredBody } from '../spool.ts';
import { createIntegrityRenewal } from './integrity.ts';
import { editNextClient, hasRenderedData } from './next-client.ts';
import { editOptimizer, editVariants } from './variant-edits.ts';
import { editVendored, type VendoredNames } from './vendor-edits.ts';

export interface RebaseContext {
  readonly scope: SiteScope;
  readonly spool: CrawlSpool;
  readonly signal: AbortSignal;
  readonly maxRedirects: number;
  readonly vendored: VendoredBodies;
  /** See {@link VendoredNames}. */
  readonly dropsConnection: VendoredNames['dropsConnection'];
}

/** Assets of other hosts whose copies are among the files. */
export interface VendoredBodies {
  /** From an address to its path in the bundle; an absent asset has a path, and no file. */
  readonly paths: ReadonlyMap<string, string>;
  /** From an address to the body as it came. */
  readonly originals: ReadonlyMap<string, StoredBody>;
}

/** They may have hashes of what comes before them. */
const lastRoles: readonly BodyKind[] = ['picture', 'document'];

/**
 * @param basePath absent: nothing is moved. Without trailing slash; `''` is the root
 * @returns the files of the frontier, by path; changed bodies are in the spool too
 * @throws {CrawlError} SpoolFailed; the signal's reason
 */
export async function rewriteFiles(
  frontier: PlacedFrontier,
  basePath: string | undefined,
  { scope, spool, signal, maxRedirects, vendored, dropsConnection }: RebaseContext,
): Promise<ReadonlyMap<string, SiteFile>> {
  const { variantPaths: paths } = frontier;
  // A site that is below this path already has it in its addresses.
  const isMoved = basePath !== undefined && basePath !== scope.prefix;
  const { hasConnections } = frontier.externals();
  const hasData = hasRenderedData(frontier.visits.values());
  if (!(isMoved || hasData || hasConnections) && paths.size + vendored.paths.size === 0)
    return frontier.files;
  const isFile = (address: Address): boolean =>
    [addressKey(address), address.path].some((key) => frontier.visits.get(key)?.isTaken === true);
  const hasOptimized = [...paths.keys()].some((key) => key.includes('/_next/image?'));
  const variants = { scope, paths, basePath: basePath ?? scope.prefix };
  const hosts = [...new Set([...vendored.paths.keys()].map((href) => new URL(href).host))];
  const names = { paths: vendored.paths, hosts, basePath: variants.basePath, dropsConnection };
  const rebased = new Map(frontier.files);
  const renew = createIntegrityRenewal(spool);
  const rank = ({ role }: SiteFile): number => lastRoles.indexOf(role);
  const pagesLast = [...frontier.files].sort(([, a], [, b]) => rank(a) - rank(b));
  for (const [path, file] of pagesLast) {
    signal.throwIfAborted();
    const { body, role, address } = file;
    if (!(hasPositions(role, body.sizeBytes) || isData(path, file))) continue;
    const source = Buffer.from(spool.head(body, body.sizeBytes)).toString('latin1');
    const { base, baseSpan, counted, integrity, ...found } = readPositions(role, source);
    const { positions, scripts } = found;
    const own = originUrl(scope, address);
    const against = baseUrl(base, own);
    const isForeign = baseSpan !== undefined && locate(scope, against.href, own).where === 'outside';
    const foreignBase = isForeign ? { span: baseSpan, own } : undefined;
    const replaced = apart([
      ...editVariants({ role, source, base: against, scripts }, variants),
      ...(file.searchTool === undefined
        ? editVendored({ role, source, base: against, foreignBase, counted, ...found }, names)
        : []),
      ...(role === 'script' && hasOptimized ? editOptimizer(source) : []),
      ...(role === 'script' && hasData ? editNextClient(source) : []),
    ]);
    const isReplaced = createSpanSearch(replaced);
    const movedAt = new Set<number>();
    const moves = (isMoved ? positions : []).flatMap((position) => {
      if (isReplaced(position.at)) return [];
      const move = moveOf({ scope, basePath: basePath ?? '', isFile }, source, position, against);
      if (move === undefined) return [];
      movedAt.add(position.at);
      return move;
    });
    const renewed = integrity.flatMap((position) => {
      const href = externalHref(position.address, against) ?? '';
      const original = vendored.originals.get(href);
      const copy = rebased.get(vendored.paths.get(href) ?? '')?.body;
      if (original !== undefined && copy !== undefined && original.sha256 !== copy.sha256) {
        return renew(source, position.hashes, original, copy);
      }
      if (!leadsToCopy(position, base, movedAt)) return [];
      const loaded = loadedPath(frontier, locate(scope, position.address, against), maxRedirects);
      const before = frontier.files.get(loaded ?? '')?.body;
      const after = rebased.get(loaded ?? '')?.body;
      if (before === undefined || after === undefined || before.sha256 === after.sha256) return [];
      return renew(source, position.hashes, before, after);
    });
    if (moves.length + replaced.length + renewed.length === 0) continue;
    // A position may have been found twice, and may stand in a tag that goes.
    const edits = apart([
      ...new Map([...moves, ...replaced, ...renewed].map((edit) => [edit.at, edit])).values(),
    ]);
    const lengths = lengthEdits(source, edits, counted, role === 'document');
    const text = applyEdits(source, [...edits, ...lengths].sort(inOrder));
    rebased.set(path, { ...file, body: await spool.put(Buffer.from(text, 'latin1')) });
  }
  return rebased;
}

/** JSON, in which frameworks keep what a page needs when a visitor navigates to it. */
function isData(path: string, { role, body }: SiteFile): boolean {
  return role === 'other' && path.endsWith('.json') && body.sizeBytes <= readableBytes('script');
}

/** @param edits in order. @returns whether an edit drops the character at a position */
function createSpanSearch(edits: readonly SourceEdit[]): (at: number) => boolean {
  const ends = edits.map(({ at, drop }) => at + drop);
  return (at) => {
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if ((ends[middle] ?? 0) <= at) low = middle + 1;
      else high = middle;
    }
    const edit = edits[low];
    return edit !== undefined && edit.at <= at;
  };
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
function loadedPath(frontier: PlacedFrontier, located: Located, maxRedirects: number): string | undefined {
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

/**
 * Lengths of texts that the edits, in order, make longer or shorter.
 *
 * @param isEscaped whether these texts stand in texts of a script
 */
function lengthEdits(
  source: string,
  edits: readonly SourceEdit[],
  counted: readonly CountedText[],
  isEscaped: boolean,
): readonly SourceEdit[] {
  let at = 0;
  return counted.flatMap(({ digits, bytes, pieces }) => {
    let growth = 0;
    for (const { from, to } of pieces) {
      for (; (edits[at]?.at ?? to) < to; at += 1) {
        const edit = edits[at];
        if (edit === undefined || edit.at < from) continue;
        const dropped = source.slice(edit.at, edit.at + edit.drop);
        growth += edit.insert.length - (isEscaped ? unescapedBytes(dropped) : edit.drop);
      }
    }
    const insert = (bytes + growth).toString(16);
    return growth === 0 ? [] : [{ at: digits.from, drop: digits.to - digits.from, insert }];
  });
}

/** Of a piece of a JavaScript string, with one character for each byte. */
function unescapedBytes(piece: string): number {
  return piece.replaceAll(/\\(?:u([\da-f]{4})|.)/gis, (_, code: string | undefined) =>
    'x'.repeat(code === undefined ? 1 : Buffer.byteLength(String.fromCharCode(Number.parseInt(code, 16)))),
  ).length;
}
