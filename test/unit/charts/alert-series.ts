// For each alert of both charts, what Prometheus would have scraped when it must fire, and when it must not: the near
// misses. Pure data; times are minutes from the first scrape, one scrape a minute.

export interface SeriesCase {
  /** Series → values in promtool's notation (`1x60`, `0+5x60`). */
  readonly series: Readonly<Record<string, string>>;
  readonly atMinutes: number;
}

export interface AlertCases {
  readonly fires: readonly SeriesCase[];
  readonly stays: readonly SeriesCase[];
}

type Series = Readonly<Record<string, string>>;
const seen = (atMinutes: number, series: Series): SeriesCase => ({ series, atMinutes });
const cases = (fires: SeriesCase | readonly SeriesCase[], stays: readonly SeriesCase[]): AlertCases => ({
  fires: 'series' in fires ? [fires] : fires,
  stays,
});

const operatorJob = 'job="ops-static-export-operator-admin"';
const operator = `namespace="ops",${operatorJob}`;
const docs = `${operatorJob},namespace="docs",name="docs"`;
const condition = (type: string, status: string, reason: string): string =>
  `staticexport_condition{${docs},type="${type}",status="${status}",reason="${reason}"}`;
const failures = (lane: string, reason: string): string =>
  `staticexport_failures{${docs},lane="${lane}",reason="${reason}"}`;
const link = (issued: number, expiry: number): Series => ({
  [`staticexport_link_issued_timestamp_seconds{${docs}}`]: `${issued}x600`,
  [`staticexport_link_expiry_timestamp_seconds{${docs}}`]: `${expiry}x600`,
});
const served = (job: string, pod: string, digest: string): string =>
  `bundle_server_active_bundle_info{namespace="docs",job="${job}",pod="${pod}",digest="${digest}"}`;

/** For release `ops` in namespace `ops`, with the chart's own thresholds. */
export const operatorAlerts: Readonly<Record<string, AlertCases>> = {
  StaticExportOperatorAbsent: cases(
    [seen(10, { 'up{namespace="other",job="other"}': '1x60' }), seen(10, { [`up{${operator}}`]: '0x60' })],
    [seen(10, { [`up{${operator}}`]: '1x60' })],
  ),
  StaticExportOperatorWithoutLeader: cases(
    seen(10, {
      [`leader_election_master_status{${operator},pod="a"}`]: '0x60',
      [`leader_election_master_status{${operator},pod="b"}`]: '0x60',
    }),
    [
      seen(10, {
        [`leader_election_master_status{${operator},pod="a"}`]: '0x60',
        [`leader_election_master_status{${operator},pod="b"}`]: '1x60',
      }),
      // A leader that changes leaves a gap of seconds.
      seen(10, { [`leader_election_master_status{${operator},pod="a"}`]: '1x6 0 0 1x60' }),
    ],
  ),
  StaticExportOperatorErrors: cases(
    seen(45, { [`controller_runtime_reconcile_errors_total{${operator}}`]: '0+1x60' }),
    [seen(45, { [`controller_runtime_reconcile_errors_total{${operator}}`]: '0+0.5x60' })],
  ),
  StaticExportLinkDead: cases(seen(13, link(0, 600)), [
    seen(9, link(0, 600)),
    // Nothing is published yet.
    seen(60, link(0, 0)),
  ]),
  StaticExportLinkExpiring: cases(seen(55, link(0, 3600)), [
    seen(45, link(0, 3600)),
    // Dead is another alert.
    seen(70, link(0, 3600)),
  ]),
  StaticExportFailing: cases(
    [
      seen(365, { [failures('export', 'JobFailed')]: '3x400' }),
      seen(365, { [failures('poll', 'Unreachable')]: '3x400' }),
    ],
    [
      seen(355, { [failures('export', 'JobFailed')]: '3x400' }),
      seen(365, { [failures('export', 'JobFailed')]: '3x200 0 3x200' }),
      seen(365, { [failures('link', 'Unreachable')]: '3x400' }),
    ],
  ),
  StaticExportStalled: cases(seen(15, { [condition('Stalled', 'True', 'OutputNotOwned')]: '1x60' }), [
    seen(5, { [condition('Stalled', 'True', 'OutputNotOwned')]: '1x60' }),
    // A refused key and held-back exports have alerts of their own.
    seen(15, { [condition('Stalled', 'True', 'KeyRefused')]: '1x60' }),
    seen(15, { [condition('Stalled', 'True', 'AwaitingPromotion')]: '1x60' }),
  ]),
  StaticExportKeyRefused: cases(seen(10, { [failures('key', 'Unauthorized')]: '1x60' }), [
    seen(10, { [failures('key', 'Unauthorized')]: '0x60' }),
    seen(10, { [failures('link', 'Unauthorized')]: '1x60' }),
  ]),
  StaticExportPageCountDropped: cases(
    [
      seen(1, { [condition('Exported', 'False', 'PageCountDropped')]: '1x60' }),
      seen(1, { [condition('Exported', 'False', 'TooFewPages')]: '1x60' }),
    ],
    [seen(1, { [condition('Exported', 'True', 'Promoted')]: '1x60' })],
  ),
  StaticExportTargetsContested: cases(
    seen(1, { [condition('TargetsSynced', 'False', 'Contested')]: '1x60' }),
    [seen(1, { [condition('TargetsSynced', 'True', 'Synced')]: '1x60' })],
  ),
  StaticExportTargetsNotSynced: cases(
    seen(35, { [condition('TargetsSynced', 'False', 'NotGranted')]: '1x60' }),
    [
      seen(25, { [condition('TargetsSynced', 'False', 'NotGranted')]: '1x60' }),
      seen(35, { [condition('TargetsSynced', 'False', 'Contested')]: '1x60' }),
      seen(35, { [condition('TargetsSynced', 'Unknown', 'NotPublished')]: '1x60' }),
    ],
  ),
  StaticExportClockSkew: cases(
    [
      seen(35, { [`staticexport_api_clock_skew_seconds{${operatorJob},host="a"}`]: '90x60' }),
      seen(35, { [`staticexport_api_clock_skew_seconds{${operatorJob},host="a"}`]: '-90x60' }),
    ],
    [seen(35, { [`staticexport_api_clock_skew_seconds{${operatorJob},host="a"}`]: '-50x60' })],
  ),
  StaticExportServersDisagree: cases(
    seen(25, { [served('docs-admin', 'a', 'one')]: '1x60', [served('docs-admin', 'b', 'two')]: '1x60' }),
    [
      seen(25, { [served('docs-admin', 'a', 'one')]: '1x60', [served('docs-admin', 'b', 'one')]: '1x60' }),
      // Two sites are not one.
      seen(25, { [served('docs-admin', 'a', 'one')]: '1x60', [served('blog-admin', 'b', 'two')]: '1x60' }),
      // A swap in which one server is ten minutes behind.
      seen(25, {
        [served('docs-admin', 'a', 'two')]: '1x60',
        [served('docs-admin', 'b', 'one')]: '1x10 stale',
        [served('docs-admin', 'b', 'two')]: '_x11 1x60',
      }),
    ],
  ),
};

const siteJob = 'docs-static-export-site-admin';
const site = `namespace="docs",job="${siteJob}"`;
const siteLink = (expiry: number): Series => ({
  [`bundle_server_link_expiry_timestamp_seconds{${site},pod="a"}`]: `${expiry}x600`,
});
const requests = (bad: string, good: string): Series => ({
  [`bundle_server_requests_total{${site},pod="a",code="5xx",status="503"}`]: bad,
  [`bundle_server_requests_total{${site},pod="a",code="2xx",status="200"}`]: good,
});

/** For release `docs` in namespace `docs`. */
export const siteAlerts: Readonly<Record<string, AlertCases>> = {
  StaticExportSiteAbsent: cases(seen(10, { [`up{${site},pod="a"}`]: '0x60' }), [
    seen(10, { [`up{${site},pod="a"}`]: '0x60', [`up{${site},pod="b"}`]: '1x60' }),
  ]),
  StaticExportSiteWithoutBundle: cases(
    seen(20, {
      [`up{${site},pod="a"}`]: '1x60',
      [`up{${site},pod="b"}`]: '1x60',
      [served(siteJob, 'a', 'one')]: '1x60',
    }),
    [
      seen(10, { [`up{${site},pod="a"}`]: '1x60' }),
      seen(20, { [`up{${site},pod="a"}`]: '1x60', [served(siteJob, 'a', 'one')]: '1x60' }),
    ],
  ),
  StaticExportSiteBehind: cases(seen(35, { [`bundle_server_is_current{${site},pod="a"}`]: '0x60' }), [
    seen(25, { [`bundle_server_is_current{${site},pod="a"}`]: '0x60' }),
    seen(35, { [`bundle_server_is_current{${site},pod="a"}`]: '1x60' }),
  ]),
  StaticExportSiteServersDisagree: cases(
    seen(20, { [served(siteJob, 'a', 'one')]: '1x60', [served(siteJob, 'b', 'two')]: '1x60' }),
    [
      seen(20, { [served(siteJob, 'a', 'one')]: '1x60', [served(siteJob, 'b', 'one')]: '1x60' }),
      seen(20, { [served(siteJob, 'a', 'one')]: '1x60', [served('other', 'b', 'two')]: '1x60' }),
    ],
  ),
  StaticExportSiteBundleRefused: cases(
    seen(15, { [`bundle_server_downloads_total{${site},pod="a",outcome="refused"}`]: '0x10 1x60' }),
    [
      seen(15, { [`bundle_server_downloads_total{${site},pod="a",outcome="ok"}`]: '0x10 1x60' }),
      // It was long ago.
      seen(90, { [`bundle_server_downloads_total{${site},pod="a",outcome="refused"}`]: '0x10 1x90' }),
    ],
  ),
  StaticExportSiteLinkDead: cases(seen(26, siteLink(600)), [
    seen(20, siteLink(600)),
    seen(60, siteLink(0)),
    seen(60, siteLink(7200)),
  ]),
  StaticExportSiteErrors: cases(seen(20, requests('0+10x60', '0+100x60')), [
    seen(20, requests('0+1x60', '0+1000x60')),
    seen(20, requests('0x60', '0x60')),
  ]),
};
