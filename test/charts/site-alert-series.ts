// The situations of the site's alerts: in which each must fire, and the near misses. Series as two servers of one site
// show them.

import {
  type AlertCases,
  always,
  fires,
  line,
  over,
  type Series,
  type Span,
  seen,
  times,
} from './alert-series.ts';

/** For release `docs` in namespace `docs`. */
const job = 'docs-static-export-site-admin';
const of = (pod: string) => ({ namespace: 'docs', job, pod });
type Labels = Readonly<Record<string, string>>;

const series = (name: string, pod: string, labels: Labels, ...spans: readonly Span[]): Series => ({
  [line(name, { ...of(pod), ...labels })]: spans.length === 0 ? always(1) : over(...spans),
});
const up = (pod: string, ...spans: readonly Span[]): Series => series('up', pod, {}, ...spans);
const served = (pod: string, digest: string, ...spans: readonly Span[]): Series =>
  series('bundle_server_active_bundle_info', pod, { digest }, ...spans);
const current = (pod: string, ...spans: readonly Span[]): Series =>
  series('bundle_server_is_current', pod, {}, ...spans);
const rejected = (...spans: readonly Span[]): Series =>
  series('bundle_server_source_state', 'a', { state: 'rejected' }, ...spans);
const linkEnd = (pod: string, ...spans: readonly Span[]): Series =>
  series('bundle_server_link_expiry_timestamp_seconds', pod, {}, ...spans);
const requests = (bad: string, good: string): Series => ({
  [line('bundle_server_requests_total', { ...of('a'), code: '5xx', status: '503' })]: bad,
  [line('bundle_server_requests_total', { ...of('a'), code: '2xx', status: '200' })]: good,
});
const cronJob = { namespace: 'docs', cronjob: 'docs-static-export-site-conversations' };
const created = (at: number): Series => ({ [line('kube_cronjob_created', cronJob)]: over([at, 3120]) });
const succeeded = (...spans: readonly Span[]): Series => ({
  [line('kube_cronjob_status_last_successful_time', cronJob)]: over(...spans),
});
/** Ends a minute after each start, and is started again two minutes later. */
const crashing = (value: number): readonly Span[] => times(40, [value, 1], [undefined, 2]);

/** With the chart's own thresholds. */
export const siteAlerts: Readonly<Record<string, AlertCases>> = {
  StaticExportSiteAbsent: fires(
    seen(10, up('a', [0, 60])),
    seen(20, up('a', [1, 10], [undefined, 60])),
  ).stays(seen(10, up('a', [0, 60]), up('b'))),
  StaticExportSiteWithoutBundle: fires(
    seen(17, up('a'), up('b'), served('a', 'one')),
    // It ends over and over, before it has anything.
    seen(30, up('a', ...crashing(1))),
  ).stays(
    seen(13, up('a')),
    seen(17, up('a'), served('a', 'one')),
    // Started again, and served from its disk.
    seen(30, up('a'), served('a', 'one', [1, 10], [undefined, 4], [1, 60])),
    // Scaled in.
    seen(30, up('a', [1, 10], [undefined, 60])),
  ),
  StaticExportSiteBehind: fires(
    seen(37, current('a', [0, 60]), served('a', 'one')),
    seen(37, current('a', ...crashing(0)), served('a', 'one', ...crashing(1))),
  ).stays(
    seen(25, current('a', [0, 60]), served('a', 'one')),
    seen(37, current('a'), served('a', 'one')),
    // A new version every twenty minutes, each had after ten.
    seen(90, current('a', ...times(9, [0, 10], [1, 10])), served('a', 'one')),
    // Before it has anything at all, another alert tells.
    seen(37, current('a', [0, 60])),
  ),
  StaticExportSiteServersDisagree: fires(seen(22, served('a', 'one'), served('b', 'two'))).stays(
    seen(22, served('a', 'one'), served('b', 'one')),
    seen(13, served('a', 'one'), served('b', 'two')),
    seen(22, served('a', 'one'), {
      [line('bundle_server_active_bundle_info', { ...of('b'), job: 'other', digest: 'two' })]: always(1),
    }),
  ),
  StaticExportSiteBundleRejected: fires(
    // From the first scrape on.
    seen(1, rejected([1, 60])),
    // Between two tries.
    seen(12, rejected([1, 10], [0, 1], [1, 10])),
  ).stays(
    seen(15, rejected([0, 60])),
    // It was long ago.
    seen(60, rejected([1, 10], [0, 90])),
  ),
  StaticExportSiteLinkExpired: fires(
    seen(26, linkEnd('a', [600, 600]), linkEnd('b', [600, 600])),
    seen(26, linkEnd('a', [600, 12], [undefined, 3], [600, 60]), linkEnd('b', [600, 60])),
  ).stays(
    seen(20, linkEnd('a', [600, 600])),
    seen(60, linkEnd('a', [7200, 600])),
    // One has not seen the fresh one yet.
    seen(26, linkEnd('a', [600, 600]), linkEnd('b', [7200, 600])),
    // A document that says no end.
    seen(60, served('a', 'one')),
  ),
  StaticExportSiteErrors: fires(
    seen(20, requests('0+10x120', '0+100x120')),
    // From the first request on.
    seen(20, requests('_x5 1+10x120', '0x120')),
  ).stays(
    seen(20, requests('0+1x120', '0+1000x120')),
    seen(20, requests('0x120', '0x120')),
    // A bad minute.
    seen(20, requests('0x10 0+100x1 200x120', '0+100x120')),
  ),
  StaticExportSiteConversationsOverdue: fires(
    seen(51 * 60, created(0)),
    seen(51 * 60, created(0), succeeded([600, 3060])),
    // It succeeded once, long ago, and kube-state-metrics was started again.
    seen(52 * 60, created(0), succeeded([600, 600], [undefined, 3], [600, 2600])),
  ).stays(
    seen(49 * 60, created(0)),
    seen(51 * 60, created(0), succeeded([600, 1440], [87_000, 1620])),
    // Of another release.
    seen(51 * 60, {
      [line('kube_cronjob_created', { namespace: 'docs', cronjob: 'other-conversations' })]: over([0, 3060]),
    }),
  ),
};
