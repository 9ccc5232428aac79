// What a scrape shows: counts as they are, figures as they are at that moment.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSiteMetrics, type SiteFigures } from '../../../src/site/site-metrics.ts';

test('a scrape shows replies by class, downloads by outcome, and the bundle being served', async () => {
  let figures: SiteFigures = {
    active: undefined,
    swaps: 0,
    cachedBytes: 0,
    linkExpiresAt: undefined,
    isCurrent: false,
  };
  const metrics = createSiteMetrics(() => figures);
  const scrape = async (): Promise<readonly string[]> =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('bundle_server_'));

  const early = await scrape();
  assert.ok(early.includes('bundle_server_requests_total{code="5xx"} 0'));
  assert.ok(early.includes('bundle_server_downloads_total{outcome="dead-link"} 0'));
  assert.ok(!early.some((line) => line.includes('active_bundle_info{')));

  for (const status of [200, 206, 304, 404, 503]) metrics.countReply(status, 10);
  metrics.countDownload('ok');
  figures = {
    active: { version: 'v2', digest: 'd2', files: 7 },
    swaps: 1,
    cachedBytes: 5,
    linkExpiresAt: 1_700_000_000_500,
    isCurrent: true,
  };
  await scrape();
  const late = await scrape();
  for (const line of [
    'bundle_server_requests_total{code="2xx"} 2',
    'bundle_server_requests_total{code="3xx"} 1',
    'bundle_server_requests_total{code="4xx"} 1',
    'bundle_server_requests_total{code="5xx"} 1',
    'bundle_server_response_body_bytes_total 50',
    'bundle_server_downloads_total{outcome="ok"} 1',
    'bundle_server_active_bundle_info{version="v2",digest="d2"} 1',
    'bundle_server_active_bundle_files 7',
    'bundle_server_swaps_total 1',
    'bundle_server_cached_body_bytes 5',
    'bundle_server_is_current 1',
    'bundle_server_link_expiry_timestamp_seconds 1700000000',
  ]) {
    assert.ok(late.includes(line), line);
  }
});
