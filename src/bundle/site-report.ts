// The report of an export: a document of the archive that says what of the site is not in it. Owns its form.
// Refuses to read a long or malformed report: then the archive counts as one without it. Invariant: a report holds no time
// and no address of an origin, so that the same site gives the same digest.

import * as z from 'zod/mini';
import { readJson } from '#platform/wire/json-text.ts';
import { printable, printableValue } from '#platform/wire/printable-text.ts';
import { maxReportBytes } from './export-documents.ts';

/** Of one list. Its `count` says how many there are. */
export const maxReportEntries = 200;
/** Of one text: the exporter cuts what is longer. */
export const maxReportText = 300;

const count = z.int().check(z.nonnegative());
const text = z.string().check(z.maxLength(maxReportText));
const path = text;
const code = z.string().check(z.regex(/^[A-Z]\w{0,63}$/));
const listOf = <T extends z.core.SomeType>(entry: T) =>
  z.object({ count, entries: z.array(entry).check(z.maxLength(maxReportEntries)) });
/** `from` is the page that asks for it. Absent: a sitemap or the exporter asked. */
const left = z.object({ path, reason: code, from: z.optional(path) });

/** What happened when a browser opened every page under the air-gapped policy. Each text with its first page. */
const browserReport = z.object({
  pages: count,
  /** Pages for which the time was not enough. */
  notOpened: count,
  /** Host and path. */
  offSiteRequests: listOf(z.object({ address: path, from: path, pages: count })),
  /** Errors in the console, exceptions, and requests to the site that failed. */
  consoleErrors: listOf(z.object({ message: text, from: path, pages: count })),
});

const siteReport = z.object({
  schemaVersion: z.literal(1),
  pages: count,
  files: count,
  sizeBytes: count,
  /** What a page of the export asks for, and the origin does not have. */
  missing: z.extend(listOf(left), { asked: count }),
  /** What is not in the export for another reason, such as robots.txt. */
  leftOut: listOf(left),
  /** What pages still load from other hosts: host and path. */
  external: listOf(left),
  /** What pages loaded from other hosts and the exporter copied, with its path in the bundle. Absent: none was copied. */
  copied: z.optional(listOf(z.object({ path, file: path }))),
  /** Files that were asked for with several queries: how many, and how many different contents they had. */
  queryVariants: listOf(z.object({ path, queries: count, contents: count })),
  /** By which tool, and where the index lies in the bundle. */
  searchIndexes: listOf(z.object({ tool: text, path })),
  notes: listOf(z.object({ code, count, example: path })),
  browser: z.optional(browserReport),
});

export type BrowserReport = z.output<typeof browserReport>;
export type SiteReport = z.output<typeof siteReport>;
export type SiteReportEntry = SiteReport['missing']['entries'][number];

/** @returns the report with printable texts; `undefined` for bytes that are not a report */
export function parseSiteReport(bytes: Uint8Array): SiteReport | undefined {
  if (bytes.byteLength > maxReportBytes) return undefined;
  const read = siteReport.safeParse(readJson(Buffer.from(bytes).toString()));
  // Only a known shape is walked: foreign JSON may be nested deeper than a stack holds.
  const shown = read.success ? siteReport.safeParse(printableValue(read.data, maxReportText)) : undefined;
  return shown?.success === true ? shown.data : undefined;
}

/** Of a path that is shown. */
const shownLength = 100;

/** `/lost (NotFound, from /guide)`. A query may hold a secret, so it is not shown. */
export function describeReportEntry(entry: SiteReportEntry): string {
  const { reason } = entry;
  const [at, from] = [entry.path, entry.from].map(
    (one) => one && printable(one.replace(/[?#].*$/s, ''), shownLength),
  );
  const why = reason === 'External' ? [] : [reason];
  const details = [...why, ...(from === undefined ? [] : [`from ${from}`])].join(', ');
  return details === '' ? `${at}` : `${at} (${details})`;
}
