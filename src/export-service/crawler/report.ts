// Writes what an archive says of itself: the report of its crawl, and the types that names do not show. Pure. Owns the order
// and the bounds of its lists. Refuses times, origins and queries. Invariant: the same site gives the same bytes, so that a
// report never makes a version of its own.

import { hash } from 'node:crypto';
import { siteReportPath, siteTypesPath } from '#bundle/export-documents.ts';
import {
  type BrowserReport,
  maxReportEntries,
  maxReportText,
  type SiteReport,
  type SiteReportEntry,
} from '#bundle/site-report.ts';
import { formatSiteTypes } from '#bundle/site-types.ts';
import { jsonText } from '#platform/wire/json-text.ts';
import { compare } from '#site/site-scope.ts';
import { isExternal, isMissing } from './completeness.ts';
import type { CrawledFile, CrawlNote, CrawlResult, SkippedUrl } from './contract.ts';

/**
 * @param browser what happened when a browser opened the pages
 * @returns the files of the site and the documents about them, sorted by path
 */
export function withDocuments(result: CrawlResult, browser?: BrowserReport): readonly CrawledFile[] {
  const { text, leftOut } = formatSiteTypes(result.types);
  const [example] = leftOut;
  const cutTypes: readonly CrawlNote[] =
    example === undefined ? [] : [{ code: 'TypesNotKept', count: leftOut.length, example }];
  const notes = [...result.notes, ...cutTypes].sort((a, b) => compare(a.code, b.code));
  return [
    ...result.files,
    documentFile(siteReportPath, `${jsonText({ ...reportOf({ ...result, notes }), browser }, 1)}\n`),
    ...(result.types.size === leftOut.length ? [] : [documentFile(siteTypesPath, text)]),
  ].sort((a, b) => compare(a.path, b.path));
}

function documentFile(path: string, text: string): CrawledFile {
  const bytes = Buffer.from(text);
  return {
    path,
    sizeBytes: bytes.byteLength,
    sha256: hash('sha256', bytes, 'hex'),
    read: async function* () {
      yield bytes;
    },
  };
}

function reportOf({
  files,
  pageCount,
  skipped,
  asked,
  copied,
  queryVariants,
  searchIndexes,
  notes,
}: CrawlResult): SiteReport {
  const external = skipped.filter(isExternal);
  const missing = skipped.filter(isMissing);
  const leftOut = skipped.filter((one) => !isExternal(one) && !isMissing(one));
  return {
    schemaVersion: 1,
    pages: pageCount,
    files: files.length,
    sizeBytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    missing: { asked, ...listed(missing, entryOf) },
    leftOut: listed(leftOut, entryOf),
    external: listed(external, entryOf),
    ...(copied.length > 0 && {
      copied: listed(copied, ({ path, file }) => ({ path: cut(path), file })),
    }),
    queryVariants: listed(queryVariants, (one) => ({ ...one, path: cut(one.path) })),
    searchIndexes: listed(searchIndexes, ({ tool, path }) => ({ tool, path: cut(path) })),
    notes: listed(notes, (one) => ({ ...one, example: cut(one.example) })),
  };
}

function entryOf({ path, reason, from }: SkippedUrl): SiteReportEntry {
  return { path: cut(path), reason, ...(from !== undefined && { from: cut(from) }) };
}

const listed = <T, E>(all: readonly T[], entry: (one: T) => E): { count: number; entries: E[] } => ({
  count: all.length,
  entries: all.slice(0, maxReportEntries).map(entry),
});

const cut = (text: string): string => text.slice(0, maxReportText);
