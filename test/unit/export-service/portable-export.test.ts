// `--profile`: an export in the portable form has its files and a report about them, and one in the rooted form keeps each byte.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import {
  type CrawledFile,
  type CrawlResult,
  defaultCrawlLimits,
  type SiteProfile,
} from '#export-service/crawler/contract.ts';
import { exportWith } from '#export-service/site-export.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';

function fileOf(path: string, text: string): CrawledFile {
  const bytes = Buffer.from(text);
  return {
    path,
    sizeBytes: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
    read: async function* () {
      yield bytes;
    },
  };
}

const crawled: CrawlResult = {
  files: [
    fileOf('assets/app.js', ''),
    fileOf('assets/chunks/@localSearchIndexroot.x.js', ''),
    fileOf('guide.html', '<a href="https://docs.example.com/">h</a><a href="/v2/none">n</a>'),
    fileOf(
      'index.html',
      '<head><script type="module" src="/v2/assets/app.js"></script></head><a href="/v2/guide">g</a>',
    ),
  ],
  pageCount: 2,
  types: new Map([['assets/app.js', 'text/javascript; charset=utf-8']]),
  skipped: [],
  asked: 4,
  copied: [],
  answers: { fromOrigin: 4, notModified: 0, fromJournal: 0 },
  queryVariants: [],
  notes: [],
  searchIndexes: [{ tool: 'vitepress', path: 'assets/chunks/@localSearchIndexroot.x.js' }],
};

async function exported(profile: SiteProfile | undefined): Promise<Readonly<Record<string, string>>> {
  const packed: Record<string, string> = {};
  const exportSite = exportWith(
    async () => crawled,
    async ({ files }) => {
      for (const { path, read } of files)
        packed[path] = Buffer.concat(await Array.fromAsync(read())).toString();
      return { sizeBytes: 1, sha256: 'x' };
    },
    async () => 0,
    () => Promise.reject(new Error('no job asks for a browser')),
  );
  const request = {
    ...{ domain: 'docs.example.com', origin: new URL('http://127.0.0.1:4000/v2/'), isOriginConsented: true },
    ...{ spoolDirectory: '/none', limits: defaultCrawlLimits, destination: '/none/site.tar.gz', profile },
  };
  const context = {
    ...{ clock: systemClock, logger: silentLogger, signal: new AbortController().signal },
    ...{ onProgress: () => {}, onCrawled: () => {} },
  };
  await exportSite(request, context);
  return packed;
}

test('a portable export has relative links below the path of its origin, and a report of its own files', async () => {
  const site = await exported('portable');
  assert.deepEqual(Object.keys(site).sort(), [
    '_sx/portable.js',
    '_sx/report.json',
    'guide.html',
    'index.html',
  ]);
  assert.equal(site['guide.html'], '<a href="index.html">h</a><a href="none">n</a>');
  const report = JSON.parse(site['_sx/report.json'] ?? '');
  assert.deepEqual([report.pages, report.files, report.searchIndexes.count], [2, 3, 0]);
  assert.deepEqual(report.notes.entries, [
    { code: 'PortableLinkWithoutFile', count: 1, example: 'guide.html' },
  ]);
});

test('a rooted export keeps each byte of the crawl, with and without the flag', async () => {
  const rooted = await exported('rooted');
  assert.deepEqual(await exported(undefined), rooted);
  for (const file of crawled.files) {
    assert.equal(rooted[file.path], Buffer.concat(await Array.fromAsync(file.read())).toString());
  }
});
