// The metrics of the bundle server, as a registry that is read at a scrape. Loaded after the site port listens: the
// library would delay the first page. Labels hold versions, codes and outcomes, never a link.

import type { RequestListener } from 'node:http';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { adminApp, type Readiness } from '#platform/runtime/http/admin-port.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { type ExtensionCounts, noCounts } from './content/additions.ts';
import type { LiveBundle } from './content/live-bundle.ts';
import type { LiveSite, ServedVersion } from './content/live-site.ts';
import { contentEncodings } from './http/content-encoding.ts';
import type { SiteInsights } from './insights/site-insights.ts';
import type { AgentSummary } from './mcp/agents.ts';
import type { SiteCounts } from './site-counts.ts';
import { type SourceProgress, sourceStates } from './source/source-progress.ts';

/** Read at scrape time. */
export interface MetricSources {
  readonly site: Pick<LiveSite, 'view' | 'swaps'>;
  readonly cachedBytes: () => number;
  readonly progress: () => SourceProgress;
  readonly counts: Pick<SiteCounts, 'numbers' | 'onDuration'>;
  /** Whether copies from other servers are counted. */
  readonly hasPeers: boolean;
  /** `undefined`: not counted. */
  readonly insights: Pick<SiteInsights, 'counts'> | undefined;
  /** `undefined`: agents get no answers. */
  readonly agents: (() => AgentSummary) | undefined;
}

const prefix = 'bundle_server_';

export function createSiteMetrics({
  site,
  cachedBytes,
  progress,
  counts,
  hasPeers,
  insights,
  agents,
}: MetricSources): Registry {
  const active = (): ServedVersion | undefined => site.view()?.active;
  const made = (): ExtensionCounts => active()?.bundle.extension()?.counts ?? noCounts;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];

  const requests = new Counter({
    name: `${prefix}requests_total`,
    help: 'Requests answered on the site port, by status and status class',
    labelNames: ['code', 'status'],
    registers,
    collect: () => {
      requests.reset();
      for (const [status, value] of counts.numbers().repliesByStatus) {
        requests.inc({ code: `${Math.floor(status / 100)}xx`, status: `${status}` }, value);
      }
    },
  });
  counter('response_body_bytes_total', 'Body bytes sent on the site port', () => counts.numbers().bodyBytes);
  const durations = new Histogram({
    name: `${prefix}request_duration_seconds`,
    help: 'Time from reading a request to writing its answer to the connection',
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30],
    registers,
  });
  counts.onDuration((seconds) => durations.observe(seconds));
  collected(
    'variant_files',
    'Files of the active bundle with a variant in that content encoding',
    ['encoding'],
    (variants) => {
      const counts = active()?.bundle.variants()?.counts;
      for (const encoding of contentEncodings) variants.set({ encoding }, counts?.[encoding] ?? 0);
    },
  );
  gauge(
    'variant_bytes',
    'Bytes on disk of the precompressed variants of the active bundle',
    () => active()?.bundle.variants()?.sizeBytes ?? 0,
  );
  gauge(
    'search_pages',
    'Pages of the active bundle that load the search of --search',
    () => made().search.pages,
  );
  gauge(
    'search_bytes',
    'Bytes on disk of the files of the search of the active bundle',
    () => made().search.sizeBytes,
  );
  gauge(
    'markdown_pages',
    'Pages of the active bundle that agents get as Markdown by --markdown',
    () => made().markdown.pages,
  );
  gauge(
    'markdown_bytes',
    'Bytes on disk of the Markdown that was made of the active bundle',
    () => made().markdown.sizeBytes,
  );
  gauge('store_bytes', 'Bytes on disk of the open bundles, including what was made of them', () =>
    [active(), ...(site.view()?.previous ?? [])].reduce((sum, one) => sum + diskBytesOf(one?.bundle), 0),
  );
  instant(
    'active_bundle_activation_timestamp_seconds',
    'When the active version became active; absent while nothing is served',
    () => active()?.activatedAt,
  );
  byOutcome(
    'downloads_total',
    'Archives downloaded and prepared, by outcome',
    () => counts.numbers().downloads,
  );
  if (hasPeers) {
    byOutcome(
      'peer_copies_total',
      'Copies of bundles from other servers of the site, by outcome',
      () => counts.numbers().peerCopies,
    );
  }
  if (insights !== undefined) {
    byOutcome(
      'missing_addresses_total',
      'Requests for addresses that the site does not have (404), by whether /status may list the address',
      () => new Map(Object.entries(insights.counts().missingAddresses)),
    );
    byOutcome(
      'empty_searches_total',
      'Searches of readers without a result, by whether /status may list the text',
      () => new Map(Object.entries(insights.counts().emptySearches)),
    );
  }
  if (agents !== undefined) {
    byOutcome(
      'mcp_requests_total',
      'Requests of agents at the MCP endpoint, by outcome',
      () => new Map(Object.entries(agents().requests)),
    );
    const calls: Counter = new Counter({
      name: `${prefix}mcp_calls_total`,
      help: 'Calls of MCP tools whose arguments fit, by tool and outcome',
      labelNames: ['tool', 'outcome'],
      registers,
      collect: () => {
        calls.reset();
        for (const [tool, outcomes] of Object.entries(agents().calls)) {
          for (const [outcome, count] of Object.entries(outcomes)) calls.inc({ tool, outcome }, count);
        }
      },
    });
    gauge(
      'mcp_searched_pages',
      'Pages of the active bundle that agents can search',
      () => agents().searchedPages,
    );
  }
  collected(
    'active_bundle_info',
    'The active bundle; the value is always 1',
    ['version', 'digest'],
    (info) => {
      info.reset();
      const { bundle, version = '' } = active() ?? {};
      if (bundle !== undefined) info.set({ version, digest: bundle.digest }, 1);
    },
  );
  gauge('active_bundle_files', 'Files of the active bundle', () => filesOf(active()?.bundle));
  counter(
    'damaged_copies_total',
    'Stored bundles whose content did not match their digest',
    () => counts.numbers().damagedCopies,
  );
  counter(
    'cut_readers_total',
    'Connections reset because slow readers held too much memory in all',
    () => counts.numbers().cutReaders,
  );
  counter('swaps_total', 'Times that another bundle became active', site.swaps);
  gauge('cached_body_bytes', 'Body bytes cached in memory', cachedBytes);
  gauge('is_current', '1 when the published bundle is served', () =>
    progress().state === 'in-sync' ? 1 : 0,
  );
  collected(
    'source_state',
    '1 for the state of the source as in /status, 0 for the others',
    ['state'],
    (states) => {
      const now = progress().state;
      for (const state of sourceStates) states.set({ state }, state === now ? 1 : 0);
    },
  );
  instant(
    'link_issued_timestamp_seconds',
    'When the published link was issued, according to bundle.json; absent when unknown',
    () => progress().published?.issuedAt,
  );
  instant(
    'link_expiry_timestamp_seconds',
    'When the published link expires, according to bundle.json; absent when unknown',
    () => progress().published?.expiresAt,
  );

  function counter(name: string, help: string, read: () => number): void {
    const made: Counter = new Counter({
      name: prefix + name,
      help,
      registers,
      collect: () => {
        made.reset();
        made.inc(read());
      },
    });
  }

  function byOutcome(name: string, help: string, read: () => ReadonlyMap<string, number>): void {
    const made: Counter = new Counter({
      name: prefix + name,
      help,
      labelNames: ['outcome'],
      registers,
      collect: () => {
        made.reset();
        for (const [outcome, count] of read()) made.inc({ outcome }, count);
      },
    });
  }

  function gauge(name: string, help: string, read: () => number): void {
    collected(name, help, [], (made) => made.set(read()));
  }

  /** Epoch ms in; an unknown time has no sample, because any number would be a time. */
  function instant(name: string, help: string, read: () => number | undefined): void {
    collected(name, help, [], (made) => {
      const epochMs = read();
      if (epochMs === undefined) made.remove();
      else made.set(Math.floor(epochMs / 1000));
    });
  }

  /** A gauge that `collect` sets at each scrape. */
  function collected(name: string, help: string, labelNames: string[], collect: (made: Gauge) => void): void {
    const made: Gauge = new Gauge({
      name: prefix + name,
      help,
      labelNames,
      registers,
      collect: () => collect(made),
    });
  }

  return registry;
}

function diskBytesOf(bundle: LiveBundle | undefined): number {
  if (bundle === undefined) return 0;
  const { stored, variants, extension } = bundle;
  const { search, markdown } = extension()?.counts ?? noCounts;
  return stored.index.sizeBytes + (variants()?.sizeBytes ?? 0) + search.sizeBytes + markdown.sizeBytes;
}

/** Without what was made of them. */
function filesOf(bundle: LiveBundle | undefined): number {
  if (bundle === undefined) return 0;
  const { search, markdown } = bundle.extension()?.counts ?? noCounts;
  return bundle.routes.size - search.files - markdown.files;
}

export interface AdminContent {
  readonly readiness: Readiness;
  readonly metrics: MetricSources;
  /** The document of `/status`. */
  readonly status: () => object;
  readonly logger: Logger;
}

export function adminPages({ readiness, metrics, status, logger }: AdminContent): RequestListener {
  const registry = createSiteMetrics(metrics);
  return adminApp({ readiness, registry, logger, documents: { '/status': status } });
}
