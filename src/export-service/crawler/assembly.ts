// Turns the outcome of every address into the files of the bundle and the report of what is missing. Redirects become
// stubs or copies, broken links are reported by name, and paths that conflict are separated. Invariant: the result is
// sorted and depends only on the frontier's content.

import { composedForm } from '#platform/wire/unicode-form.ts';
import type { Address } from '#site/site-scope.ts';
import { addressKey, compare, documentPath, filePath, folderPagePath } from '#site/site-scope.ts';
import type { CrawledFile, CrawlNote, CrawlResult } from './contract.ts';
import type { Frontier, SiteFile } from './frontier.ts';
import { typeToKeep } from './origin/origin-types.ts';
import { redirectStub } from './redirect-stub.ts';
import { countVariants } from './rewrite/query-variants.ts';
import type { CrawlSpool } from './spool.ts';
import type { Visit } from './visit.ts';

/** Where a chain of redirects ends. */
type ChainEnd =
  | { readonly target: Address; readonly fragment: string; readonly file: SiteFile }
  | { readonly reason: 'RedirectOffSite' | 'RedirectLoop' | 'TooManyRedirects' | 'RedirectToNothing' };

/** A frontier after its files were placed. */
export interface PlacedFrontier extends Frontier {
  /** Paths of files with a query, by the key of their address. */
  readonly variantPaths: ReadonlyMap<string, string>;
}

/** @throws {CrawlError} SpoolFailed */
export async function assembleSite(
  frontier: PlacedFrontier,
  copied: CrawlResult['copied'],
  spool: CrawlSpool,
  maxRedirects: number,
): Promise<Omit<CrawlResult, 'answers'>> {
  const files = new Map(frontier.files);
  const forms = new Set([...files.keys()].map(composedForm));
  /** False where the path has a file, in either Unicode form: an archive with both is rejected. */
  const isFree = (path: string | undefined): path is string =>
    path !== undefined && !forms.has(composedForm(path));
  const add = (path: string, file: SiteFile): void => {
    files.set(path, file);
    forms.add(composedForm(path));
  };
  const countedTwice = addFolderPages(frontier, { isFree, add });
  const skipped = new Map(frontier.leftOut);
  for (const visit of sortedVisits(frontier)) {
    const { address, outcome } = visit;
    const isAsked = isWanted(visit);
    const leaveOut = (reason: string): void => {
      skipped.set(address.path, { reason, from: visit.askedBy });
    };
    if (outcome?.kind === 'absent') {
      const isVariant = address.query !== '' && files.has(filePath(address) ?? '');
      if (isAsked) leaveOut(isVariant ? 'QueryVariantMissing' : outcome.reason);
    } else if (outcome?.kind === 'stored') {
      if (isAsked && !visit.isTaken) leaveOut('NotAnAsset');
    } else if (outcome?.kind === 'redirect') {
      const end = followChain(frontier, visit, maxRedirects);
      if ('file' in end) await addRedirect({ isFree, add }, spool, visit, end);
      else if (isAsked) leaveOut(end.reason);
    }
  }
  for (const path of foldersOf(files)) {
    // An archive that is unpacked cannot hold both a file and a folder of one name.
    if (files.delete(path)) skipped.set(`/${path}`, { reason: 'FileAndFolder', from: undefined });
  }
  return {
    files: [...files].map(([path, file]) => crawledFile(path, file, spool)).sort(byPath),
    types: await keptTypes(files, spool),
    pageCount: frontier.pageCount() - countedTwice,
    asked: [...frontier.visits.values()].filter(isWanted).length,
    copied,
    queryVariants: countVariants(frontier),
    skipped: [...skipped].map(([path, why]) => ({ path, ...why })).sort(byPath),
    notes: [...frontier.notes]
      .map(([code, { count, example }]): CrawlNote => ({ code, count, example }))
      .sort((a, b) => compare(a.code, b.code)),
    searchIndexes: [...files]
      .flatMap(([path, { searchTool: tool }]) => (tool === undefined ? [] : [{ tool, path }]))
      .sort(byPath),
  };
}

/** Of the bytes that are packed: a rebased page stays in its encoding. */
async function keptTypes(
  files: ReadonlyMap<string, SiteFile>,
  spool: CrawlSpool,
): Promise<ReadonlyMap<string, string>> {
  const types = new Map<string, string>();
  for (const [path, { body, originType }] of [...files].sort(([a], [b]) => compare(a, b))) {
    const type = originType && (await typeToKeep(path, originType, () => spool.read(body)));
    if (type !== undefined) types.set(path, type);
  }
  return types;
}

function isWanted({ isPage, isAsset }: Visit): boolean {
  return isPage || isAsset;
}

function sortedVisits({ visits }: Frontier): readonly Visit[] {
  return [...visits].sort(([a], [b]) => compare(a, b)).map(([, visit]) => visit);
}

function byPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return compare(a.path, b.path);
}

function crawledFile(path: string, { body }: SiteFile, spool: CrawlSpool): CrawledFile {
  return { path, sizeBytes: body.sizeBytes, sha256: body.sha256, read: () => spool.read(body) };
}

/** @param start a redirect @returns the file of the frontier that a visitor ends at, or why there is none */
export function followChain(
  { visits, files, variantPaths }: PlacedFrontier,
  start: Visit,
  maxRedirects: number,
): ChainEnd {
  const passed = new Set<Visit>();
  let fragment = '';
  for (let at: Visit | undefined = start; at?.outcome?.kind === 'redirect'; ) {
    if (passed.has(at)) return { reason: 'RedirectLoop' };
    if (passed.size >= maxRedirects) return { reason: 'TooManyRedirects' };
    passed.add(at);
    const { to, fragment: own }: { to: Address | undefined; fragment: string } = at.outcome;
    if (to === undefined) return { reason: 'RedirectOffSite' };
    fragment = own === '' ? fragment : own;
    const next: Visit | undefined = visits.get(addressKey(to)) ?? visits.get(to.path);
    if (next?.outcome?.kind === 'stored') {
      const { address } = next;
      const plain = next.outcome.isDocument ? documentPath(address) : filePath(address);
      const path = variantPaths.get(addressKey(address)) ?? plain;
      const file = path === undefined ? undefined : files.get(path);
      return file === undefined ? { reason: 'RedirectToNothing' } : { target: next.address, fragment, file };
    }
    at = next;
  }
  return { reason: 'RedirectToNothing' };
}

interface SitePaths {
  readonly isFree: (path: string | undefined) => path is string;
  readonly add: (path: string, file: SiteFile) => void;
}

/**
 * A page `index.htm` is that of its folder too, and file servers look for `index.html`. Both names keep their file, because
 * links may have either.
 * @returns how many pages are counted under both names
 */
function addFolderPages({ files }: Frontier, { isFree, add }: SitePaths): number {
  let countedTwice = 0;
  for (const [path, file] of files) {
    const folderPage = folderPagePath(path);
    if (!file.isDocument || folderPage === path) continue;
    if (isFree(folderPage)) add(folderPage, file);
    else if (files.get(folderPage)?.body.sha256 === file.body.sha256) countedTwice += 1;
  }
  return countedTwice;
}

async function addRedirect(
  { isFree, add }: SitePaths,
  spool: CrawlSpool,
  { address, isPage }: Visit,
  { target, fragment, file }: Extract<ChainEnd, { file: SiteFile }>,
): Promise<void> {
  if (!file.isDocument) {
    const path = filePath(address);
    if (isFree(path)) add(path, file);
    return;
  }
  const path = documentPath(address);
  // Adding the slash of a folder is what every file server does by itself.
  if (!isPage || !isFree(path) || target.path === `${address.path}/`) return;
  const body = await spool.put(redirectStub(address.path, target.path, fragment));
  // Its links are relative, so no base path changes them.
  add(path, { body, isDocument: true, role: 'other', address });
}

/** Every folder that some file is in. */
function foldersOf(files: ReadonlyMap<string, SiteFile>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const path of files.keys()) {
    for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
      if (folders.has(path.slice(0, at))) break;
      folders.add(path.slice(0, at));
    }
  }
  return folders;
}
