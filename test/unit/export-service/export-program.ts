// The thread of export-thread.test.ts. The domain of its task decides what it does. It sends the reports of a real export.

import { writeFileSync } from 'node:fs';
import process from 'node:process';
import { partialFile } from '#export-service/crawler/contract.ts';
import { serveExports } from '#export-service/export-thread.ts';
import type { SiteExport } from '#export-service/site-export.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

const answers = { fromOrigin: 2, notModified: 0, fromJournal: 0 };
const exported = { pageCount: 2, answers, keptBytes: 5, sizeBytes: 7, sha256: 'ab' };

const exportSite: SiteExport = ({ domain, origin, destination }, { logger, onProgress, onCrawled }) => {
  onProgress({ pageCount: 1, discovered: 2 });
  if (domain === 'good') {
    logger.child({ by: 'thread' }).info({ origin: origin.href }, 'crawling');
    return Promise.resolve(exported);
  }
  if (domain === 'turns') {
    writeFileSync(partialFile(destination), 'half');
    for (;;);
  }
  if (domain === 'packs') {
    onCrawled();
    for (;;);
  }
  if (domain === 'fills') {
    const kept: number[][] = [];
    for (;;) kept.push(Array.from({ length: 1000 }, (_, at) => at + 0.5));
  }
  if (domain === 'exits') process.exit(3);
  if (domain === 'full') throw Object.assign(new Error('no space: /secret'), { code: 'ENOSPC' });
  throw new PublishableError('TooDeep', 'too deep');
};

serveExports(exportSite, systemClock);
