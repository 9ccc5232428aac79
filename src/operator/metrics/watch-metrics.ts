// What /metrics shows of the watches: known resources, duration of silence, time of the last successful list, missed
// events, and refused namespaces. Collected at the scrape.

import type { Registry } from 'prom-client';
import { type GaugeRow, registerGauges } from './collected-gauge.ts';

export interface WatchFigures {
  readonly objects: number;
  readonly missedChanges: number;
  /** Infinity before the first message. */
  readonly silenceSeconds: number;
  /** Epoch ms, of the namespace where it was longest ago; `undefined` before the first list. */
  readonly auditedAt: number | undefined;
  /** `''` is all of them. */
  readonly namespaces: readonly { readonly namespace: string; readonly isRefused: boolean }[];
}

const gauges: readonly GaugeRow<WatchFigures>[] = [
  ['staticexport_resources', 'StaticExports in the watched namespaces', ({ objects }) => objects],
  [
    'staticexport_watch_silence_seconds',
    'Time since the last answer to a list or message of a watch; absent before the first',
    ({ silenceSeconds }) => (Number.isFinite(silenceSeconds) ? silenceSeconds : undefined),
  ],
  [
    'staticexport_watch_missed_changes',
    'Changes that no watch brought and a list found',
    ({ missedChanges }) => missedChanges,
  ],
  [
    'staticexport_watch_audited_timestamp_seconds',
    'When a list was last compared with what the watches brought',
    ({ auditedAt }) => auditedAt && auditedAt / 1000,
  ],
  [
    'staticexport_watch_refused',
    '1 while the Kubernetes API server refuses the watch of a namespace (403, 404)',
    ({ namespaces }) =>
      namespaces.map(({ namespace, isRefused }) => ({
        // Prometheus treats an empty label as absent, and does not put the operator's own namespace there.
        labels: namespace === '' ? {} : { namespace },
        value: isRefused ? 1 : 0,
      })),
    ['namespace'],
  ],
];

export function registerWatches(registry: Registry, figures: () => WatchFigures): void {
  registerGauges(registry, gauges, [], () => [[{}, figures()]]);
}
