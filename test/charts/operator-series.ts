// What the operator of release `ops` in namespace `ops` shows of itself and of the StaticExport docs/docs. Pure data.

import { always, line, over, type Series, type Span } from './alert-series.ts';

export const job = 'ops-static-export-operator-admin';
export const ofOperator = (pod: string) => ({ namespace: 'ops', job, pod });
export const ofDocs = (pod: string) => ({ job, pod, namespace: 'docs', name: 'docs' });
type Labels = Readonly<Record<string, string>>;

/** Of the resource docs/docs, by the leader `a`. */
export const docs = (name: string, labels: Labels, ...spans: readonly Span[]): Series => ({
  [line(name, { ...ofDocs('a'), ...labels })]: spans.length === 0 ? always(1) : over(...spans),
});
/** The same until `a` goes; `b` leads a minute later. */
export const handedOver = (name: string, labels: Labels, value: number, minutes: number): Series => ({
  [line(name, { ...ofDocs('a'), ...labels })]: over([value, minutes], [undefined, 600]),
  [line(name, { ...ofDocs('b'), ...labels })]: `_x${2 * minutes + 2} ${always(value)}`,
});
export const operator = (name: string, pod: string, ...spans: readonly Span[]): Series => ({
  [line(name, ofOperator(pod))]: over(...spans),
});
export const notifications = (outcome: string, ...spans: readonly Span[]): Series => ({
  [line('staticexport_notifications_total', { ...ofOperator('a'), outcome })]: over(...spans),
});
export const condition = (type: string, status: string, reason: string, ...spans: readonly Span[]): Series =>
  docs('staticexport_condition', { type, status, reason }, ...spans);
export const target = (type: string, reason: string, value: 0 | 1): Series =>
  docs('staticexport_target_synced', { target: 'live', type, reason }, [value, 60]);
export const failures = (operation: string, reason: string, ...spans: readonly Span[]): Series =>
  docs('staticexport_failures', { operation, reason }, ...spans);
export const blocked = (reason: string, ...spans: readonly Span[]): Series =>
  docs('staticexport_calls_blocked', { reason }, ...spans);
export const instant = (name: string, seconds: number): Series =>
  docs(`staticexport_${name}_timestamp_seconds`, {}, [seconds, 600]);
/** A link by when it was issued, shall be refreshed, and dies, in seconds from the first scrape. */
export const link = (issued: number, refresh: number | undefined, expiry: number): Series => ({
  ...instant('link_issued', issued),
  ...instant('link_expiry', expiry),
  ...(refresh === undefined ? {} : instant('next_refresh', refresh)),
});
export const fresh = condition('LinkFresh', 'True', 'Fresh');
export const due = condition('LinkFresh', 'False', 'Due');
export const servers = (
  ...served: readonly (readonly [job: string, pod: string, digest: string, ...spans: Span[]])[]
): Series =>
  Object.assign(
    {},
    ...served.map(([job, pod, digest, ...spans]) => ({
      [line('bundle_server_active_bundle_info', { namespace: 'docs', job, pod, digest })]:
        spans.length === 0 ? always(1) : over(...spans),
    })),
  );
export const skew = (seconds: number, ...spans: readonly Span[]): Series => ({
  [line('staticexport_api_clock_skew_seconds', { ...ofOperator('a'), host: 'api.example.com' })]:
    spans.length === 0 ? always(seconds) : over(...spans),
});
