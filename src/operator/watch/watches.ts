// The reflectors of all watched namespaces as one: what wakes the queue, what is known, how fresh it is.
// Owns the words with which an outage of a watch is logged, once when it begins and once when it ends. A namespace
// that the API server refuses is known to be refused: it keeps none of the others from being ready.

import { staticExports } from '../../kube/transport/resource-path.ts';
import type { Transport } from '../../kube/transport/transport.ts';
import { cacheKey } from '../../kube/watch/object-cache.ts';
import { createReflector, type Finding, type Reflector } from '../../kube/watch/reflector.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import type { StaticExportObject } from '../../wire/cluster.ts';
import type { ClusterError } from '../../wire/cluster-error.ts';
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
  readonly wake: (key: string, found: Finding) => void;
  /** Who we are in a status: `<namespace>/<name>` of our lease. */
  readonly operatorLease: string;
  /** Told when another installation wrote the status of a known resource. */
  readonly contested: (key: string) => void;
}

export interface Watches {
  run(signal: AbortSignal): Promise<void>;
  /** Every namespace has been listed, or is refused. */
  isSynced(): boolean;
  /** Every namespace is refused (403, 404): nothing at all can be watched. */
  isRefused(): boolean;
  /** What keeps a namespace from being watched right now, in words for the person on call; an outage before a refusal. */
  trouble(): string | undefined;
  /** Of the namespace that has been silent longest, those that are refused left out. */
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
    const isTheirs = known.operatorLease !== undefined && known.operatorLease !== options.operatorLease;
    if (isChanged && isTheirs) options.contested(key);
    return known;
  };
  const reflectors: readonly Reflector<KnownResource>[] = namespaces.map((namespace) =>
    createReflector({
      ...options,
      resource: staticExports,
      namespace,
      keep,
      report: logOutages(options.logger, namespace),
      onLeftOut: () => logLeftOut(options.logger, staticExports.plural),
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
    trouble: () =>
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

/** Which one it is, is known only by reading it. */
export function logLeftOut(logger: Logger, resource: string): void {
  logger.warn(
    { resource },
    'a Kubernetes object with more than 50,000 fields is ignored; remove its labels or managed fields',
  );
}

function logOutages(
  logger: Logger,
  namespace: string | undefined,
): (trouble: ClusterError | undefined) => void {
  let isTold = false;
  return (trouble) => {
    if (trouble !== undefined) {
      logger.warn(
        { namespace, error: trouble },
        'StaticExports are not watched as they should be; trying again',
      );
    } else if (isTold) logger.info({ namespace }, 'StaticExports are watched again');
    isTold = trouble !== undefined;
  };
}
