// The report of a crawl: what stands in it, its bounds, and that the same site gives the same bytes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { siteReportPath } from '#bundle/export-documents.ts';
import { parseSiteReport } from '#bundle/site-report.ts';
import type { CrawlResult } from '#export-service/crawler/contract.ts';
import { withDocuments } from '#export-service/crawler/report.ts';
import { crawl, pages, serveSite } from './site-server.ts';

async function reportOf(result: CrawlResult) {
  const report = withDocuments(result).find(({ path }) => path === siteReportPath);
  assert.ok(report);
  const bytes: Uint8Array[] = [];
  for await (const chunk of report.read()) bytes.push(chunk);
  return { bytes: Buffer.concat(bytes), report: parseSiteReport(Buffer.concat(bytes)) };
}

test('the report of a site has what is missing, left out, from other hosts, and merged', async (t) => {
  const { origin } = await serveSite(t, (path) => {
    if (path.startsWith('/a.png')) return { headers: { 'content-type': 'image/png' }, body: path };
    if (path.startsWith('/b.css')) return { headers: { 'content-type': 'text/css' }, body: '' };
    return pages({
      '/': '<a href="/lost"><a href="/guide"><link rel=stylesheet href="/b.css?v=1"><link rel=stylesheet href="/b.css?v=2">',
      '/guide':
        '<img src="/gone.png"><img src="/a.png?1"><img src="/a.png?2"><script src="https://cdn.example/x.js?key=1"></script>',
      '/_sx/report.json': 'theirs',
    })(path);
  });
  const result = await crawl(t, origin);
  const { report, bytes } = await reportOf(result);
  assert.ok(report);
  assert.deepEqual(report.missing, {
    asked: 8,
    count: 2,
    entries: [
      { path: '/gone.png', reason: 'NotFound', from: '/guide' },
      { path: '/lost', reason: 'NotFound', from: '/' },
    ],
  });
  assert.deepEqual(report.external.entries, [
    { path: 'cdn.example/x.js', reason: 'External', from: '/guide' },
  ]);
  assert.deepEqual(report.queryVariants.entries, [
    { path: '/a.png', queries: 2, contents: 2 },
    { path: '/b.css', queries: 2, contents: 1 },
  ]);
  assert.deepEqual([report.pages, report.files], [2, 5]);
  assert.ok(!bytes.toString().includes(origin.host), 'no address of the origin');
  assert.deepEqual((await reportOf(await crawl(t, origin))).bytes, bytes);
});

test('a site’s own file at the place of the report is left out by name', async (t) => {
  const { origin } = await serveSite(t, (path) =>
    path === '/_sx/report.json'
      ? { headers: { 'content-type': 'application/json' }, body: '{}' }
      : path === '/'
        ? { headers: { 'content-type': 'text/html' }, body: '<img src="/_sx/report.json">' }
        : undefined,
  );
  const result = await crawl(t, origin);
  assert.deepEqual(result.skipped, [{ path: '/_sx/report.json', reason: 'ReservedPath', from: '/' }]);
  assert.deepEqual(
    withDocuments(result).map(({ path }) => path),
    [siteReportPath, 'index.html'],
  );
});

test('a list is cut at 200 entries and a text at 300 characters, and the count stays', async () => {
  const skipped = Array.from({ length: 1000 }, (_, n) => ({
    path: `/${'x'.repeat(900)}${n}`,
    reason: 'NotFound',
    from: `/${'y'.repeat(900)}`,
  }));
  const result = {
    files: [],
    pageCount: 1,
    types: new Map(),
    skipped,
    asked: 2000,
    copied: [],
    queryVariants: [],
    notes: [],
    searchIndexes: [],
    answers: { fromOrigin: 1, notModified: 0, fromJournal: 0 },
  };
  const { report, bytes } = await reportOf(result);
  assert.deepEqual([report?.missing.count, report?.missing.entries.length], [1000, 200]);
  assert.ok(bytes.byteLength < 256 * 1024);
});
