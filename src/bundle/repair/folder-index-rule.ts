// Pages that lie one folder below the address that links name: `guide/index/index.html` where links say `/guide`. The page gets a
// copy at `guide/index.html`, whose relative addresses lead where those of the page lead. Pure. Refuses an address that a file has
// already, and one that no page links to.

import type { SourceEdit } from '#platform/html/source-edits.ts';
import { wrappingFolder } from '../archive/wrapping-folder.ts';
import { linkedPaths, relativeEdits } from './page-links.ts';
import { isPage, type RepairSiteFile } from './repair-site.ts';

/** A page that also lies where its links lead. */
export interface PageCopy {
  readonly path: string;
  /** Path of the page that is copied. */
  readonly page: string;
  /** Folders between the copy and the page. */
  readonly levels: number;
}

/** Addresses without their page: by the path of the copy, decoded, without slash at the end. */
export function lostAddresses(files: readonly RepairSiteFile[]): ReadonlySet<string> {
  return new Set(chainsOf(files).flatMap(({ copies }) => copies.map(({ path }) => addressOf(path))));
}

/** Those of the lost addresses to which links of one page lead. Links of a site may have a base path in front. */
export function linkedAddresses(source: string, path: string, lost: ReadonlySet<string>): readonly string[] {
  const found: string[] = [];
  for (const linked of linkedPaths(source, path)) {
    const segments = linked.split('/');
    for (let skipped = 0; skipped <= mostBaseSegments && skipped < segments.length; skipped += 1) {
      const address = segments.slice(skipped).join('/');
      if (lost.has(address)) found.push(address);
    }
  }
  return found;
}

const mostBaseSegments = 3;

/** @param linked addresses to which some page links */
export function pageCopies(
  files: readonly RepairSiteFile[],
  linked: ReadonlySet<string>,
): readonly PageCopy[] {
  const made = chainsOf(files).flatMap(({ copies }) => {
    const end = copies.findIndex(({ path }) => !linked.has(addressOf(path)));
    return end < 0 ? copies : copies.slice(0, end);
  });
  // With a page of its own, the one top folder would count as a folder around the site, and all addresses would change.
  const folder = wrappingFolder([...files, ...made].map(({ path }) => path));
  return made.filter(({ path }) => path !== `${folder}/index.html`);
}

/** The addresses of a copy, from its own folder. */
export function copyEdits(source: string, levels: number): readonly SourceEdit[] {
  return relativeEdits(source, 'index/'.repeat(levels));
}

const nested = /(^|\/)index\/index\.html$/;

/** Each page that lies too deep, with its copies: the one next to it first. */
function chainsOf(files: readonly RepairSiteFile[]): readonly { readonly copies: readonly PageCopy[] }[] {
  const paths = new Set(files.map(({ path }) => path));
  const isTaken = (path: string): boolean => {
    const address = addressOf(path);
    return paths.has(path) || paths.has(`${address}.html`) || paths.has(address);
  };
  return files.filter(isPage).flatMap((file) => {
    const copies: PageCopy[] = [];
    let at = file.path;
    while (nested.test(at)) {
      at = at.replace(nested, '$1index.html');
      if (isTaken(at)) break;
      copies.push({ path: at, page: file.path, levels: copies.length + 1 });
    }
    return copies.length === 0 ? [] : [{ copies }];
  });
}

const addressOf = (path: string): string => path.replace(/(?:^|\/)index\.html$/, '');
