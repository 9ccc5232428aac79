// Combines the reflectors of all watched namespaces: what is queued, what is known, how fresh it is. Logs an outage of
// a watch when it begins and when it ends. A namespace that the API server refuses keeps no other from being ready.

import { staticExports } from '#operator/kube/transport/resource-path.ts';
import type { Transport } from '#operator/kube/transport/transport.ts';
import { cacheKey } from '#operator/kube/watch/object-cache.ts';
import { type AuditFinding, createReflector, type Reflector } from '#operator/kube/watch/reflector.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { Random } from '#platform/runtime/random.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import type { ClusterError } from '#platform/wire/cluster-error.ts';
import type { WatchFigures } from '../metrics/watch-metrics.ts';
import { type KnownResource, knownOf } from './known-resource.ts';

export interface WatchesOptions {
  readonly transport: Transport;
  /** Empty: all, with one watch across the cluster. */
  readonly namespaces: readonly string[];
  readonly labelSelector: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly wake: (key: string, found: AuditFinding) => void;
  /** This operator in a status: `<namespace>/<name>` of its lease. */
  readonly operatorLease: string;
  /** Called when another operator wrote the status of a known resource. */
  readonly onOverlap: (key: string) => void;
}

export interface Watches {
  run(signal: AbortSignal): Promise<void>;
  /** Every namespace has been listed, or is refused. */
  isSynced(): boolean;
  /** Every namespace is refused (403, 404). */
  isRefused(): boolean;
  /** Why a namespace is not watched, for the on-call engineer; an outage before a refusal. */
  outage(): string | undefined;
  /** Of the namespace that has been silent longest, refused ones left out. */
  silenceMs(): number;
  get(key: string): KnownResource | undefined;
  keys(): readonly string[];
  figures(): WatchFigures;
}

export function createWatches(options: WatchesOptions): Watches {
  const namespaces = options.namespaces.length === 0 ? [undefined] : [...new Set(options.namespaces)];
  const get = (key: string): KnownResource | undefined => {
    for (const { cache } of reflectors) {
      const found = cache.get(key);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const keep = (object: StaticExportObject): KnownResource => {
    const known = knownOf(object);
    const key = cacheKey(known.metadata);
    const before = get(key)?.metadata;
    const isChanged = before !== undefined && before.resourceVersion !== known.metadata.resourceVersion;
    const isForeign = known.operatorLease !== undefined && known.operatorLease !== options.operatorLease;
    if (isChanged && isForeign) options.onOverlap(key);
    return known;
  };
  const reflectors: readonly Reflector<KnownResource>[] = namespaces.map((namespace) =>
    createReflector({
      ...options,
      resource: staticExports,
      namespace,
      keep,
      report: logOutages(options.logger, namespace),
      onLeftOut: () => logIgnoredObject(options.logger, staticExports.plural),
    }),
  );
  const isRefused = (): boolean => reflectors.every((one) => one.isRefused());
  const admitted = (): readonly Reflector<KnownResource>[] =>
    isRefused() ? reflectors : reflectors.filter((one) => !one.isRefused());
  const silenceMs = (): number => Math.max(...admitted().map((one) => one.silenceMs()));
  return {
    run: async (signal) => {
      await Promise.all(reflectors.map((one) => one.run(signal)));
    },
    isSynced: () => !isRefused() && admitted().every((one) => one.isSynced()),
    isRefused,
    outage: () =>
      [...admitted(), ...reflectors]
        .map((one) => one.trouble()?.message)
        .find((words) => words !== undefined),
    silenceMs,
    keys: () => reflectors.flatMap(({ cache }) => cache.keys()),
    get,
    figures: () => ({
      missedChanges: reflectors.reduce((sum, one) => sum + one.missedChanges(), 0),
      silenceSeconds: silenceMs() / 1000,
      objects: reflectors.reduce((sum, one) => sum + one.cache.size, 0),
      auditedAt: earliest(admitted().map((one) => one.auditedAt())),
      namespaces: reflectors.map((one, index) => ({
        namespace: namespaces[index] ?? '',
        isRefused: one.isRefused(),
      })),
    }),
  };
}

function earliest(instants: readonly (number | undefined)[]): number | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** The object has no name here, because reading the name means parsing the object. */
export function logIgnoredObject(logger: Logger, resource: string): void {
  logger.warn(
    { resource },
    'a Kubernetes object with more than 50,000 fields is ignored; remove its labels or managed fields',
  );
}

function logOutages(
  logger: Logger,
  namespace: string | undefined,
): (trouble: ClusterError | undefined) => void {
  let isReported = false;
  return (trouble) => {
    if (trouble !== undefined) {
      logger.warn({ namespace, error: trouble }, 'cannot watch StaticExports; retrying');
    } else if (isReported) logger.info({ namespace }, 'watching StaticExports again');
    isReported = trouble !== undefined;
  };
}
