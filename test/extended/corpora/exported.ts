// Exports a site as the export service does, and serves its archive with the real bundle server. Owns what the report must say
// of every corpus. Refuses an export with something missing.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { siteReportPath } from '#bundle/export-documents.ts';
import { parseSiteReport, type SiteReport } from '#bundle/site-report.ts';
import { verifyCrawledSite } from '#export-service/browser-check.ts';
import { defaultCrawlLimits } from '#export-service/crawler/contract.ts';
import { crawlSite } from '#export-service/crawler/crawl.ts';
import { keepAnswers } from '#export-service/crawler/journal/crawl-answers.ts';
import { packSite } from '#export-service/crawler/pack.ts';
import { exportWith } from '#export-service/site-export.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { bundleDocument } from '../../integration/server/archive.ts';
import { startLinkServer } from '../../integration/server/link-server.ts';
import { prepareSite } from '../../integration/server/served-site.ts';
import { readBytes } from '../../support/read-archive.ts';

export interface ExportedSite {
  readonly archive: Buffer;
  readonly report: SiteReport;
  /** Of files, without the documents about the export. Text in latin1. */
  readonly contents: ReadonlyMap<string, string>;
}

/** @param folder for the bodies and the archive. @param allowsPrivate whether assets of another host on loopback are copied */
export async function exportOrigin(
  origin: URL,
  folder: string,
  allowsPrivate = false,
): Promise<ExportedSite> {
  const destination = join(folder, 'bundle.tar.gz');
  await exportWith(
    crawlSite,
    packSite,
    keepAnswers,
    verifyCrawledSite,
  )(
    {
      domain: 'docs.example.com',
      ...{ origin, isOriginConsented: true, destination },
      limits: { ...defaultCrawlLimits, assets: { ...defaultCrawlLimits.assets, allowsPrivate } },
      spoolDirectory: join(folder, 'spool'),
    },
    {
      ...{ clock: systemClock, logger: silentLogger, signal: new AbortController().signal },
      onProgress: () => {},
      onCrawled: () => {},
    },
  );
  const archive = await readFile(destination);
  const { contents } = await readBytes(archive);
  const report = parseSiteReport(Buffer.from(contents[siteReportPath] ?? '', 'latin1'));
  assert.ok(report !== undefined, 'the archive has no report');
  const files = Object.entries(contents).filter(([path]) => !path.startsWith('_sx/'));
  return { archive, report, contents: new Map(files) };
}

export interface ServedArchive {
  readonly url: URL;
  stop(): Promise<void>;
}

export async function serveArchive(archive: Buffer): Promise<ServedArchive> {
  const links = await startLinkServer();
  const served = await prepareSite();
  links.put('corpus', archive);
  await served.mount(bundleDocument({ version: 'corpus', link: links.link('corpus') }));
  await served.start();
  await served.until('the corpus is served', ({ active }) => active?.version === 'corpus');
  return {
    url: new URL(`${served.site}/`),
    stop: async () => {
      await served.remove();
      await links.close();
    },
  };
}
