// What a scrape shows: counts as they are, figures as they are at that moment.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createSiteMetrics, type SiteFigures } from '../../../src/site/site-metrics.ts';

test('a scrape shows replies by class, downloads by outcome, and the bundle being served', async () => {
  let figures: SiteFigures = {
    active: undefined,
    swaps: 0,
    cachedBytes: 0,
    variants: { counts: { br: 0, gzip: 0 }, sizeBytes: 0 },
    storeBytes: 0,
    activatedAt: undefined,
    linkIssuedAt: undefined,
    linkExpiresAt: undefined,
    sourceState: 'starting',
  };
  const metrics = createSiteMetrics(() => figures);
  const scrape = async (): Promise<readonly string[]> =>
    (await metrics.registry.metrics()).split('\n').filter((line) => line.startsWith('bundle_server_'));

  const early = await scrape();
  assert.ok(early.includes('bundle_server_requests_total{code="5xx",status="500"} 0'));
  assert.ok(early.includes('bundle_server_downloads_total{outcome="dead-link"} 0'));
  assert.ok(!early.some((line) => line.includes('active_bundle_info{')));
  assert.ok(!early.some((line) => line.includes('timestamp_seconds')), 'a moment of which nothing is known');
  assert.ok(early.includes('bundle_server_source_state{state="starting"} 1'));

  for (const status of [200, 206, 304, 404, 503]) metrics.countReply(status, 10, 3);
  metrics.countDownload('ok');
  figures = {
    active: { version: 'v2', digest: 'd2', files: 7 },
    swaps: 1,
    cachedBytes: 5,
    variants: { counts: { br: 4, gzip: 3 }, sizeBytes: 99 },
    storeBytes: 400,
    activatedAt: 1_700_000_001_999,
    linkIssuedAt: 1_699_999_000_500,
    linkExpiresAt: 1_700_000_000_500,
    sourceState: 'in-sync',
  };
  await scrape();
  const late = await scrape();
  for (const line of [
    'bundle_server_requests_total{code="2xx",status="200"} 1',
    'bundle_server_requests_total{code="2xx",status="206"} 1',
    'bundle_server_requests_total{code="3xx",status="304"} 1',
    'bundle_server_requests_total{code="4xx",status="404"} 1',
    'bundle_server_requests_total{code="5xx",status="503"} 1',
    'bundle_server_request_duration_seconds_bucket{le="0.0025"} 0',
    'bundle_server_request_duration_seconds_bucket{le="0.005"} 5',
    'bundle_server_request_duration_seconds_count 5',
    'bundle_server_variant_files{encoding="br"} 4',
    'bundle_server_variant_files{encoding="gzip"} 3',
    'bundle_server_variant_bytes 99',
    'bundle_server_store_bytes 400',
    'bundle_server_active_bundle_activation_timestamp_seconds 1700000001',
    'bundle_server_response_body_bytes_total 50',
    'bundle_server_downloads_total{outcome="ok"} 1',
    'bundle_server_active_bundle_info{version="v2",digest="d2"} 1',
    'bundle_server_active_bundle_files 7',
    'bundle_server_swaps_total 1',
    'bundle_server_cached_body_bytes 5',
    'bundle_server_is_current 1',
    'bundle_server_source_state{state="in-sync"} 1',
    'bundle_server_source_state{state="starting"} 0',
    'bundle_server_link_issued_timestamp_seconds 1699999000',
    'bundle_server_link_expiry_timestamp_seconds 1700000000',
  ]) {
    assert.ok(late.includes(line), line);
  }

  figures = { ...figures, linkIssuedAt: undefined, linkExpiresAt: undefined, sourceState: 'refused' };
  await scrape();
  const later = await scrape();
  assert.ok(
    !later.some((line) => line.startsWith('bundle_server_link_')),
    'a link of which nothing is known',
  );
  assert.ok(later.includes('bundle_server_is_current 0'));
  assert.deepEqual(
    later.filter((line) => line.startsWith('bundle_server_source_state{') && line.endsWith(' 1')),
    ['bundle_server_source_state{state="refused"} 1'],
  );
});

test('the README lists every metric, and no other', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../src/site/README.md'), 'utf8');
  const listed = new Set(readme.match(/\bbundle_server_\w+/g));
  const peers = 'bundle_server_peer_copies_total';
  assert.ok(listed.delete(peers), 'that one is made where peers are joined');
  const { registry } = createSiteMetrics(() => ({
    active: undefined,
    swaps: 0,
    cachedBytes: 0,
    variants: { counts: { br: 0, gzip: 0 }, sizeBytes: 0 },
    storeBytes: 0,
    activatedAt: undefined,
    linkIssuedAt: undefined,
    linkExpiresAt: undefined,
    sourceState: 'starting',
  }));
  const made = registry.getMetricsAsArray().map(({ name }) => name);
  const ours = made.filter((name) => name.startsWith('bundle_server_'));
  assert.deepEqual([...listed].toSorted(), ours.toSorted());
});
