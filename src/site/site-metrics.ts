// What the bundle server tells Prometheus. Counting on the way of a request is an addition to a number;
// everything else is read when somebody scrapes. Labels hold versions, codes and outcomes, never a link.

import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';

export type DownloadOutcome = 'ok' | 'dead-link' | 'transient' | 'refused';

/** Read at scrape time. */
export interface SiteFigures {
  readonly active: { readonly version: string; readonly digest: string; readonly files: number } | undefined;
  readonly swaps: number;
  readonly cachedBytes: number;
  /** Epoch ms, as the document says it; the server itself never judges by it. */
  readonly linkExpiresAt: number | undefined;
  /** True when what is served is what is published. */
  readonly isCurrent: boolean;
}

export interface SiteMetrics {
  readonly registry: Registry;
  countReply(status: number, bodyBytes: number): void;
  countDownload(outcome: DownloadOutcome): void;
}

const prefix = 'bundle_server_';

export function createSiteMetrics(figures: () => SiteFigures): SiteMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const replies = new Map<string, number>(['2xx', '3xx', '4xx', '5xx'].map((code) => [code, 0]));
  let bodyBytes = 0;
  const registers = [registry];

  const requests = new Counter({
    name: `${prefix}requests_total`,
    help: 'Requests answered on the site port, by class of status',
    labelNames: ['code'],
    registers,
    collect: () => {
      requests.reset();
      for (const [code, value] of replies) requests.inc({ code }, value);
    },
  });
  counter('response_body_bytes_total', 'Bytes of bodies sent on the site port', () => bodyBytes);
  const downloads = new Counter({
    name: `${prefix}downloads_total`,
    help: 'Archives fetched and prepared, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  for (const outcome of ['ok', 'dead-link', 'transient', 'refused']) downloads.inc({ outcome }, 0);
  const info = new Gauge({
    name: `${prefix}active_bundle_info`,
    help: 'The bundle being served; the value is always 1',
    labelNames: ['version', 'digest'],
    registers,
    collect: () => {
      info.reset();
      const { active } = figures();
      if (active !== undefined) info.set({ version: active.version, digest: active.digest }, 1);
    },
  });
  gauge('active_bundle_files', 'Files of the bundle being served', () => figures().active?.files ?? 0);
  counter('swaps_total', 'Times that another bundle became the active one', () => figures().swaps);
  gauge('cached_body_bytes', 'Bytes of bodies held in memory', () => figures().cachedBytes);
  gauge('is_current', '1 when what is served is what is published', () => (figures().isCurrent ? 1 : 0));
  gauge('link_expiry_timestamp_seconds', 'When the published link ends, as published; 0 when unknown', () =>
    Math.floor((figures().linkExpiresAt ?? 0) / 1000),
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

  function gauge(name: string, help: string, read: () => number): void {
    const made: Gauge = new Gauge({ name: prefix + name, help, registers, collect: () => made.set(read()) });
  }

  return {
    registry,
    countReply: (status, bytes) => {
      const code = `${Math.floor(status / 100)}xx`;
      replies.set(code, (replies.get(code) ?? 0) + 1);
      bodyBytes += bytes;
    },
    countDownload: (outcome) => downloads.inc({ outcome }),
  };
}
