// What /metrics shows of the watches: known resources, duration of silence, time of the last successful list, missed
// events, and refused namespaces. Collected at the scrape.

import type { Registry } from 'prom-client';
import { CollectedGauge, type GaugeLine } from './collected-gauge.ts';

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

export function registerWatches(registry: Registry, figures: () => WatchFigures): void {
  const register = (
    name: string,
    help: string,
    read: (found: WatchFigures) => readonly GaugeLine[],
  ): void => {
    const labelNames = name === refused ? ['namespace'] : [];
    new CollectedGauge({ name, help, labelNames, registry, read: () => read(figures()) });
  };
  register('staticexport_resources', 'StaticExports in the watched namespaces', ({ objects }) =>
    one(objects),
  );
  register(
    'staticexport_watch_silence_seconds',
    'Since a list was answered or anything came over a watch; absent before that',
    ({ silenceSeconds }) => (Number.isFinite(silenceSeconds) ? one(silenceSeconds) : []),
  );
  register(
    'staticexport_watch_missed_changes',
    'Changes that no watch brought and a list found',
    ({ missedChanges }) => one(missedChanges),
  );
  register(
    'staticexport_watch_audited_timestamp_seconds',
    'When a list was last compared with what the watches brought',
    ({ auditedAt }) => (auditedAt === undefined ? [] : one(auditedAt / 1000)),
  );
  register(
    refused,
    '1 while the API server refuses to let a namespace be watched (403, 404)',
    ({ namespaces }) =>
      namespaces.map(({ namespace, isRefused }) => ({
        // Prometheus takes an empty label that is honored for none, and does not put the operator's own namespace there.
        labels: namespace === '' ? {} : { namespace },
        value: isRefused ? 1 : 0,
      })),
  );
}

const refused = 'staticexport_watch_refused';
const one = (value: number): readonly GaugeLine[] => [{ labels: {}, value }];
