// `/status`: its shape is what dashboards and scripts read, so it is spelled out here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { version } from '#platform/runtime/version.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { goLive } from '#server/content/live-bundle.ts';
import { createLiveSite } from '#server/content/live-site.ts';
import { createSiteInsights } from '#server/insights/site-insights.ts';
import { createAgentCounts } from '#server/mcp/agent-counts.ts';
import { reasonOf, type SourceProgress, startingProgress } from '#server/source/source-progress.ts';
import { statusDocument } from '#server/status-document.ts';
import { storedBundle } from './fixtures.ts';

const idle = { variants: 'idle', search: 'idle', markdown: 'idle', agents: undefined } as const;
const making = { variants: 'making', search: 'off', markdown: 'off', agents: undefined } as const;
const none = { files: 0, pages: 0, sizeBytes: 0 };
const at = Date.parse('2026-11-21T10:00:00.789Z');

test('an instant reads as in the operator’s status and in bundle.json: UTC, whole seconds', () => {
  const { source } = z
    .object({ source: z.object({ retryAt: z.string() }) })
    .parse(
      statusDocument(undefined, { ...startingProgress, retryAt: at }, 'bundle-file', 0, idle, undefined),
    );
  assert.equal(source.retryAt, '2026-11-21T10:00:00Z');
  assert.equal(source.retryAt, formatInstant(at));
});

test('before a bundle is served /status says what the server waits for', () => {
  assert.deepEqual(statusDocument(undefined, startingProgress, 'bundle-file', 0, idle, undefined), {
    serverVersion: version,
    active: null,
    previous: [],
    swaps: 0,
    encodings: { state: 'idle', files: null, sizeBytes: 0 },
    search: { state: 'idle', ...none },
    markdown: { state: 'idle', ...none, leftOutPages: 0 },
    agents: null,
    insights: null,
    source: {
      kind: null,
      from: 'bundle-file',
      state: 'starting',
      reason: 'checking the store and the source for a bundle',
      published: null,
      download: null,
      lastError: null,
      retryAt: null,
    },
    lastCheckedAt: null,
  });
});

test('/status says how far agents are answered, and what they asked', () => {
  const agents = { state: 'ready', searchedPages: 3, ...createAgentCounts().numbers() } as const;
  const states = { ...idle, agents };
  const document = statusDocument(undefined, startingProgress, 'bundle-file', 0, states, undefined);
  assert.deepEqual(z.looseObject({ agents: z.unknown() }).parse(document).agents, agents);
});

const reasonShape = z.object({ source: z.object({ reason: z.string() }) });

test('what visitors get before a check, before the disk has stored it, and of a damaged bundle has a reason of its own', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const site = createLiveSite(2);
  const bundle = goLive(storedBundle({ 'index.html': '1' }), undefined, promise);
  site.swap({ bundle, version: 'v1', activatedAt: at, provenance: 'link' });
  const reasonIn = (state: SourceProgress['state']): string =>
    reasonShape.parse(
      statusDocument(site.view(), { ...startingProgress, state }, 'bundle-file', 0, idle, undefined),
    ).source.reason;
  assert.equal(reasonIn('starting'), 'the stored bundle is served while its files are being checked');
  assert.match(reasonIn('preparing'), /^the published bundle is served while the disk stores it;/);
  resolve();
  await promise;
  for (const state of ['preparing', 'in-sync'] as const)
    assert.equal(reasonIn(state), reasonOf(state, 'bundle-file'));
  bundle.reportUnreadable();
  assert.equal(
    reasonIn('waiting-for-link'),
    'link expired; waiting for a new one; some files of the served bundle get 500: check the volume of the store',
  );
});

test('while a version is served /status has it, the former ones, and the state of the source', () => {
  const site = createLiveSite(2);
  const [one, two] = [storedBundle({ 'index.html': '1' }), storedBundle({ 'index.html': '2', 'a.js': '' })];
  site.swap({ bundle: goLive(one), version: 'v1', activatedAt: at, provenance: 'disk' });
  site.swap({ bundle: goLive(two), version: undefined, activatedAt: at + 1000, provenance: 'link' });
  const progress: SourceProgress = {
    state: 'waiting-for-link',
    published: { version: 'v3', digest: 'd3', jobId: 'j3', issuedAt: at - 1000, expiresAt: at },
    lastError: { code: 'LinkExpired', message: 'the link is dead', at },
    lastCheckedAt: at + 2000,
    retryAt: at + 3000,
    download: { receivedBytes: 1, files: 2 },
  };
  assert.deepEqual(statusDocument(site.view(), progress, 'bundle-file', 1, making, undefined), {
    serverVersion: version,
    active: {
      version: null,
      digest: two.index.digest,
      files: 2,
      pages: 1,
      sizeBytes: 1,
      notes: [],
      activatedAt: '2026-11-21T10:00:01Z',
      basePath: '/',
    },
    previous: [
      {
        version: 'v1',
        digest: one.index.digest,
        files: 1,
        pages: 1,
        sizeBytes: 1,
        notes: [],
        activatedAt: '2026-11-21T10:00:00Z',
      },
    ],
    swaps: 1,
    encodings: { state: 'making', files: null, sizeBytes: 0 },
    search: { state: 'off', ...none },
    markdown: { state: 'off', ...none, leftOutPages: 0 },
    agents: null,
    insights: null,
    source: {
      kind: 'link',
      from: 'bundle-file',
      state: 'waiting-for-link',
      reason: reasonOf('waiting-for-link', 'bundle-file'),
      published: {
        version: 'v3',
        digest: 'd3',
        jobId: 'j3',
        linkIssuedAt: '2026-11-21T09:59:59Z',
        linkExpiresAt: '2026-11-21T10:00:00Z',
      },
      download: { receivedBytes: 1, files: 2 },
      lastError: { code: 'LinkExpired', message: 'the link is dead', at: '2026-11-21T10:00:00Z' },
      retryAt: '2026-11-21T10:00:03Z',
    },
    lastCheckedAt: '2026-11-21T10:00:02Z',
  });
});

test('what readers do not find is listed, without addresses that the served version has by now', () => {
  const site = createLiveSite(1, () => {}, '/docs');
  const insights = createSiteInsights({ now: () => at, monotonic: () => 0 });
  for (const target of ['/docs/old', '/docs/old?token=1', '/docs/new%20page', '/other', '/docs/a%3Fb'])
    insights.noteMissingAddress(target);
  insights.noteEmptySearch('/docs/_sx/search/none?q=Web+Hooks', 'same-origin');
  insights.noteEmptySearch('/docs/_sx/search/none?q=x', 'cross-site');
  const list = (): object =>
    z
      .object({ insights: z.object({}).loose() })
      .parse(statusDocument(site.view(), startingProgress, 'bundle-file', 0, idle, insights)).insights;
  const hour = { lastHour: '2026-11-21T10:00:00Z' };
  const since = formatInstant(at);
  const searches = { since, requests: 2, leftOut: 1, top: [{ text: 'web hooks', count: 1, ...hour }] };
  assert.deepEqual(list(), {
    missingAddresses: {
      ...{ since, requests: 5, leftOut: 0 },
      top: [
        { address: '/docs/old', count: 2, ...hour },
        { address: '/docs/a?b', count: 1, ...hour },
        { address: '/docs/new page', count: 1, ...hour },
        { address: '/other', count: 1, ...hour },
      ],
    },
    emptySearches: searches,
  });
  const bundle = goLive(
    storedBundle({ 'index.html': '1', 'new page.html': '2', 'a?b.html': '3', other: '4' }),
  );
  site.swap({ bundle, version: 'v1', activatedAt: at, provenance: 'link' });
  assert.deepEqual(list(), {
    missingAddresses: {
      ...{ since, requests: 5, leftOut: 0 },
      top: [
        { address: '/docs/old', count: 2, ...hour },
        { address: '/other', count: 1, ...hour },
      ],
    },
    emptySearches: searches,
  });
});
