// What visitors will miss, found in the list of files: a home page, and files that are hidden although a page or a link says
// that they belong to the site. What the export's own report says comes with it. Pure. Refuses to judge; the operator's
// promotion gate and people do.

import type { BundleNote } from '../bundle-index.ts';
import { isExportDocument } from '../export-documents.ts';
import { printableName } from '../refusal.ts';
import { describeReportEntry, type SiteReport } from '../site-report.ts';
import { addressOfPage, type PageFile, pageAddress } from './digest.ts';
import { isClutter, isHiddenFile, isLauncher, isStarter } from './hidden-files.ts';

export interface ContentContext {
  /** See `isHiddenFile`. */
  readonly serveDotfiles?: readonly string[] | undefined;
  /** Paths that pages link to. Default: none is known. */
  readonly isLinked?: (path: string) => boolean;
}

/** Enough to see what they have in common. */
const mostPaths = 20;
/** The report has the others. */
const mostReported = 5;

/** @param files sorted by path */
export function notesOfContent(
  files: readonly PageFile[],
  { serveDotfiles, isLinked = () => false }: ContentContext = {},
): readonly BundleNote[] {
  const paths = files.map(({ path }) => path);
  const rootFiles = new Set(paths.filter((path) => !path.includes('/')));
  const hidden = paths.filter(
    (path) => isHiddenFile(path, serveDotfiles) && !isClutter(path) && !isExportDocument(path),
  );
  const missed = hidden.filter(
    (path) =>
      pageAddress(path) !== undefined || isLinked(path) || (isLauncher(path) && !isStarter(path, rootFiles)),
  );
  const shown = missed.slice(0, mostPaths).map(printableName);
  return [
    ...(hasHomePage(files) ? [] : [missingHomePage(files, serveDotfiles)]),
    ...(missed.length === 0
      ? []
      : [{ code: 'NotServed', count: missed.length, example: shown[0] ?? '', paths: shown }]),
  ];
}

/** What visitors will miss, by the export's own word. */
export function notesOfReport({ missing, external, leftOut }: SiteReport): readonly BundleNote[] {
  const note = (code: string, list: SiteReport['leftOut']): readonly BundleNote[] => {
    const paths = list.entries.slice(0, mostReported).map(describeReportEntry);
    return list.count === 0 ? [] : [{ code, count: list.count, example: paths[0] ?? '', paths }];
  };
  return [
    ...note('MissingFromExport', missing),
    ...note('LoadedFromElsewhere', external),
    ...note('LeftOutOfExport', leftOut),
  ];
}

/** Whether `/` answers. */
function hasHomePage(files: readonly PageFile[]): boolean {
  return files.some(({ path, isData }) => path === 'index.html' && !isData);
}

/** With the page that is nearest to the root, which shows where the site begins. */
function missingHomePage(
  files: readonly PageFile[],
  serveDotfiles: readonly string[] | undefined,
): BundleNote {
  const depthOf = (path: string): number => path.split('/').length;
  const pages = files
    .filter((file) => addressOfPage(file) !== undefined && !isHiddenFile(file.path, serveDotfiles))
    .map(({ path }) => path);
  const indexes = pages.filter((path) => /(?:^|\/)index\.html$/.test(path));
  const candidates = indexes.length > 0 ? indexes : pages;
  const nearest = candidates.reduce<string | undefined>(
    (best, path) => (best === undefined || depthOf(path) < depthOf(best) ? path : best),
    undefined,
  );
  return { code: 'HomePageMissing', count: 1, example: nearest === undefined ? '' : printableName(nearest) };
}
