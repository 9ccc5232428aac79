// Turns the outcome of every address into the files of the bundle and the report of what is missing. Redirects become
// stubs or copies, broken links are reported by name, and paths that conflict are separated. Invariant: the result is
// sorted and depends only on the frontier's content.

import { composedForm } from '#platform/wire/unicode-form.ts';
import type { CrawledFile, CrawlNote, CrawlResult, SkippedUrl } from './contract.ts';
import { addressKey, compare, type Frontier, type SiteFile, type Visit } from './frontier.ts';
import { redirectStub } from './redirect-stub.ts';
import type { Address } from './site-scope.ts';
import { documentPath, filePath } from './site-scope.ts';
import type { CrawlSpool } from './spool.ts';

/** Where a chain of redirects ends. */
type ChainEnd =
  | { readonly target: Address; readonly fragment: string; readonly file: SiteFile }
  | { readonly reason: 'RedirectOffSite' | 'RedirectLoop' | 'TooManyRedirects' | 'RedirectToNothing' };

/** @throws {CrawlError} SpoolFailed */
export async function assembleSite(
  frontier: Frontier,
  spool: CrawlSpool,
  maxRedirects: number,
): Promise<CrawlResult> {
  const files = new Map(frontier.files);
  const forms = new Set([...files.keys()].map(composedForm));
  /** False where the path has a file, in either Unicode form: an archive with both is rejected. */
  const isFree = (path: string | undefined): path is string =>
    path !== undefined && !forms.has(composedForm(path));
  const add = (path: string, file: SiteFile): void => {
    files.set(path, file);
    forms.add(composedForm(path));
  };
  const skipped = new Map(frontier.leftOut);
  for (const visit of sortedVisits(frontier)) {
    const { address, outcome } = visit;
    const isWanted = visit.isPage || visit.isAsset;
    if (outcome?.kind === 'absent') {
      if (isWanted || outcome.reason === 'OriginFailed') skipped.set(address.path, outcome.reason);
    } else if (outcome?.kind === 'stored') {
      if (isWanted && !visit.isTaken) skipped.set(address.path, 'NotAnAsset');
    } else if (outcome?.kind === 'redirect') {
      const end = followChain(frontier, visit, maxRedirects);
      if ('file' in end) await addRedirect({ isFree, add }, spool, visit, end);
      else if (isWanted) skipped.set(address.path, end.reason);
    }
  }
  for (const path of foldersOf(files)) {
    // An archive that is unpacked cannot hold both a file and a folder of one name.
    if (files.delete(path)) skipped.set(`/${path}`, 'FileAndFolder');
  }
  return {
    files: [...files].map(([path, file]) => crawledFile(path, file, spool)).sort(byPath),
    pageCount: frontier.pageCount(),
    skipped: [...skipped].map(([path, reason]): SkippedUrl => ({ path, reason })).sort(byPath),
    notes: [...frontier.notes]
      .map(([code, { count, example }]): CrawlNote => ({ code, count, example }))
      .sort((a, b) => compare(a.code, b.code)),
  };
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
export function followChain({ visits, files }: Frontier, start: Visit, maxRedirects: number): ChainEnd {
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
      const path = next.outcome.isDocument ? documentPath(next.address) : filePath(next.address);
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
