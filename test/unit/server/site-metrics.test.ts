// What a scrape shows: counts as they are, figures as they are at that moment.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { goLive } from '#server/content/live-bundle.ts';
import { createLiveSite } from '#server/content/live-site.ts';
import { createSiteInsights } from '#server/insights/site-insights.ts';
import { createAgentCounts } from '#server/mcp/agent-counts.ts';
import { createSiteCounts } from '#server/site-counts.ts';
import { createSiteMetrics } from '#server/site-metrics.ts';
import { startingProgress } from '#server/source/source-progress.ts';
import { storedBundle } from './fixtures.ts';

test('a scrape shows replies by class, downloads by outcome, and the bundle being served', async () => {
  const site = createLiveSite(2);
  let cachedBytes = 0;
  let progress = startingProgress;
  const counts = createSiteCounts();
  counts.countReply(200, 10, 3);
  const insights = createSiteInsights({ now: () => 0, monotonic: () => 0 });
  const asked = createAgentCounts();
  const agents = () => ({ state: 'ready', searchedPages: 12, ...asked.numbers() }) as const;
  const registry = createSiteMetrics({
    ...{ site, counts, insights, hasPeers: true, agents },
    cachedBytes: () => cachedBytes,
    progress: () => progress,
  });
  const scrape = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('bundle_server_'));

  const serve = (content: Readonly<Record<string, string>>, version: string) => {
    const bundle = goLive(storedBundle(content));
    const table = { find: () => undefined, counts: { br: 4, gzip: 3 }, sizeBytes: 99 };
    bundle.attach(table, storedBundle({}));
    site.swap({ bundle, version, activatedAt: 1_700_000_001_999, provenance: 'disk' });
    return bundle;
  };
  const published = {
    version: 'v2',
    digest: undefined,
    jobId: undefined,
    issuedAt: 1_699_999_000_500,
    expiresAt: 1_700_000_000_500,
  };

  const early = await scrape();
  assert.ok(early.includes('bundle_server_requests_total{code="5xx",status="500"} 0'));
  assert.ok(
    early.includes('bundle_server_request_duration_seconds_count 1'),
    'a reply from before the registry',
  );
  assert.ok(early.includes('bundle_server_downloads_total{outcome="expired-link"} 0'));
  assert.ok(!early.some((line) => line.includes('active_bundle_info{')));
  assert.ok(!early.some((line) => line.includes('timestamp_seconds')), 'a moment of which nothing is known');
  assert.ok(early.includes('bundle_server_source_state{state="starting"} 1'));

  for (const status of [206, 304, 404, 503]) counts.countReply(status, 10, 3);
  counts.countDownload('ok');
  counts.countPeerCopy('rejected');
  asked.countRequest(403);
  asked.countCalls([{ tool: 'read_page', outcome: 'refused' }]);
  insights.noteMissingAddress('/a');
  insights.noteMissingAddress('/.env');
  insights.noteEmptySearch('/_sx/search/none?q=a', undefined);
  serve({ 'a.html': 'one' }, 'v1');
  const { digest } = serve({ 'a.html': 'two', 'b.html': 'three', '.env': 'hidden' }, 'v2');
  cachedBytes = 5;
  progress = { ...startingProgress, state: 'in-sync', published };
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
    'bundle_server_search_pages 0',
    'bundle_server_markdown_pages 0',
    'bundle_server_markdown_bytes 0',
    `bundle_server_store_bytes ${3 + 14 + 2 * 99}`,
    'bundle_server_active_bundle_activation_timestamp_seconds 1700000001',
    'bundle_server_response_body_bytes_total 50',
    'bundle_server_downloads_total{outcome="ok"} 1',
    'bundle_server_peer_copies_total{outcome="rejected"} 1',
    'bundle_server_missing_addresses_total{outcome="listed"} 1',
    'bundle_server_missing_addresses_total{outcome="left-out"} 1',
    'bundle_server_missing_addresses_total{outcome="limited"} 0',
    'bundle_server_empty_searches_total{outcome="listed"} 1',
    'bundle_server_mcp_requests_total{outcome="refused"} 1',
    'bundle_server_mcp_requests_total{outcome="limited"} 0',
    'bundle_server_mcp_calls_total{tool="read_page",outcome="refused"} 1',
    'bundle_server_mcp_calls_total{tool="search",outcome="failed"} 0',
    'bundle_server_mcp_searched_pages 12',
    `bundle_server_active_bundle_info{version="v2",digest="${digest}"} 1`,
    'bundle_server_active_bundle_files 2',
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

  progress = { ...startingProgress, state: 'rejected' };
  await scrape();
  const later = await scrape();
  assert.ok(
    !later.some((line) => line.startsWith('bundle_server_link_')),
    'a link of which nothing is known',
  );
  assert.ok(later.includes('bundle_server_is_current 0'));
  assert.deepEqual(
    later.filter((line) => line.startsWith('bundle_server_source_state{') && line.endsWith(' 1')),
    ['bundle_server_source_state{state="rejected"} 1'],
  );
});

test('the README lists every metric, and no other', async () => {
  const readme = readFileSync(join(import.meta.dirname, '../../../src/server/README.md'), 'utf8');
  const listed = new Set(readme.match(/\bbundle_server_\w+/g));
  const sources = {
    site: createLiveSite(1),
    counts: createSiteCounts(),
    cachedBytes: () => 0,
    progress: () => startingProgress,
  };
  const counted = createSiteInsights({ now: () => 0, monotonic: () => 0 });
  const agents = () => ({ state: 'opening', searchedPages: 0, ...createAgentCounts().numbers() }) as const;
  const namesOf = (hasPeers: boolean, isCounted = true, hasAgents = true): readonly string[] =>
    createSiteMetrics({
      ...{ ...sources, hasPeers, insights: isCounted ? counted : undefined },
      agents: hasAgents ? agents : undefined,
    })
      .getMetricsAsArray()
      .map(({ name }) => name)
      .filter((name) => name.startsWith('bundle_server_'));
  assert.deepEqual([...listed].toSorted(), namesOf(true).toSorted());
  const peers = 'bundle_server_peer_copies_total';
  assert.deepEqual(
    namesOf(false),
    namesOf(true).filter((name) => name !== peers),
    'without --peers nothing is copied',
  );
  assert.deepEqual(
    namesOf(true).filter((name) => !namesOf(true, false).includes(name)),
    ['bundle_server_missing_addresses_total', 'bundle_server_empty_searches_total'],
    'with --insights=false nothing is counted',
  );
  assert.deepEqual(
    namesOf(true).filter((name) => !namesOf(true, true, false).includes(name)),
    ['bundle_server_mcp_requests_total', 'bundle_server_mcp_calls_total', 'bundle_server_mcp_searched_pages'],
    'without --mcp no agent is counted',
  );
});
