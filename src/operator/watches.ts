// The reflectors of all watched namespaces as one: what wakes the queue, what is known, how fresh it is.
// Owns the words with which an outage of a watch is logged, once when it begins and once when it ends.

import { createReflector, type Reflector } from '../kube/reflector.ts';
import { staticExports } from '../kube/resource-path.ts';
import type { StoredResource } from '../kube/stored-object.ts';
import type { Transport } from '../kube/transport.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import type { ClusterError } from '../wire/cluster-error.ts';

export interface WatchesOptions {
  readonly transport: Transport;
  /** Empty: all, with one watch across the cluster. */
  readonly namespaces: readonly string[];
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly wake: (key: string) => void;
}

export interface Watches {
  run(signal: AbortSignal): Promise<void>;
  isSynced(): boolean;
  /** Of the namespace that has been silent longest. */
  silenceMs(): number;
  get(key: string): StoredResource | undefined;
  figures(): { readonly missedChanges: number; readonly silenceSeconds: number; readonly objects: number };
}

export function createWatches(options: WatchesOptions): Watches {
  const namespaces = options.namespaces.length === 0 ? [undefined] : [...new Set(options.namespaces)];
  const reflectors: readonly Reflector[] = namespaces.map((namespace) =>
    createReflector({
      ...options,
      resource: staticExports,
      namespace,
      report: reporter(options.logger, namespace),
    }),
  );
  const silenceMs = (): number => Math.max(...reflectors.map((one) => one.silenceMs()));
  return {
    run: async (signal) => {
      await Promise.all(reflectors.map((one) => one.run(signal)));
    },
    isSynced: () => reflectors.every((one) => one.isSynced()),
    silenceMs,
    get: (key) => reflectors.map((one) => one.cache.get(key)).find((object) => object !== undefined),
    figures: () => ({
      missedChanges: reflectors.reduce((sum, one) => sum + one.missedChanges(), 0),
      silenceSeconds: silenceMs() / 1000,
      objects: reflectors.reduce((sum, one) => sum + one.cache.size, 0),
    }),
  };
}

function reporter(
  logger: Logger,
  namespace: string | undefined,
): (trouble: ClusterError | undefined) => void {
  let current: string | undefined;
  return (trouble) => {
    if (trouble?.message === current) return;
    current = trouble?.message;
    if (trouble === undefined) logger.info({ namespace }, 'StaticExports are watched again');
    else
      logger.warn({ namespace, error: trouble }, 'the watch of StaticExports is interrupted; trying again');
  };
}
