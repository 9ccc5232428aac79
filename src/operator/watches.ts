// The reflectors of all watched namespaces as one: what wakes the queue, what is known, how fresh it is.
// Owns the words with which an outage of a watch is logged, once when it begins and once when it ends.

import { cacheKey } from '../kube/object-cache.ts';
import { createReflector, type Reflector } from '../kube/reflector.ts';
import { staticExports } from '../kube/resource-path.ts';
import type { StoredResource } from '../kube/stored-object.ts';
import type { Transport } from '../kube/transport.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { Random } from '../runtime/random.ts';
import type { ClusterError } from '../wire/cluster-error.ts';
import { type KnownResource, knownOf } from './known-resource.ts';

export interface WatchesOptions {
  readonly transport: Transport;
  /** Empty: all, with one watch across the cluster. */
  readonly namespaces: readonly string[];
  readonly labelSelector: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly wake: (key: string, found: 'listed' | 'watched') => void;
  /** Who we are in a status: `<namespace>/<name>` of our lease. */
  readonly installation: string;
  /** Told when another installation wrote the status of a known resource. */
  readonly contested: (key: string) => void;
}

export interface Watches {
  run(signal: AbortSignal): Promise<void>;
  isSynced(): boolean;
  /** What keeps a namespace from being watched right now, in words for the person on call. */
  trouble(): string | undefined;
  /** Of the namespace that has been silent longest. */
  silenceMs(): number;
  get(key: string): KnownResource | undefined;
  figures(): { readonly missedChanges: number; readonly silenceSeconds: number; readonly objects: number };
}

export function createWatches(options: WatchesOptions): Watches {
  const namespaces = options.namespaces.length === 0 ? [undefined] : [...new Set(options.namespaces)];
  const troubles = new Map<string | undefined, string>();
  const get = (key: string): KnownResource | undefined => {
    for (const { cache } of reflectors) {
      const found = cache.get(key);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const keep = (object: StoredResource): KnownResource => {
    const known = knownOf(object);
    const key = cacheKey(known.metadata);
    const before = get(key)?.metadata;
    const isChanged = before !== undefined && before.resourceVersion !== known.metadata.resourceVersion;
    const isTheirs = known.installation !== undefined && known.installation !== options.installation;
    if (isChanged && isTheirs) options.contested(key);
    return known;
  };
  const reflectors: readonly Reflector<KnownResource>[] = namespaces.map((namespace) =>
    createReflector({
      ...options,
      resource: staticExports,
      namespace,
      keep,
      report: (trouble) => note(troubles, options.logger, namespace, trouble),
    }),
  );
  const silenceMs = (): number => Math.max(...reflectors.map((one) => one.silenceMs()));
  return {
    run: async (signal) => {
      await Promise.all(reflectors.map((one) => one.run(signal)));
    },
    isSynced: () => reflectors.every((one) => one.isSynced()),
    trouble: () => [...troubles.values()][0],
    silenceMs,
    get,
    figures: () => ({
      missedChanges: reflectors.reduce((sum, one) => sum + one.missedChanges(), 0),
      silenceSeconds: silenceMs() / 1000,
      objects: reflectors.reduce((sum, one) => sum + one.cache.size, 0),
    }),
  };
}

function note(
  troubles: Map<string | undefined, string>,
  logger: Logger,
  namespace: string | undefined,
  trouble: ClusterError | undefined,
): void {
  if (trouble?.message === troubles.get(namespace)) return;
  if (trouble === undefined) {
    troubles.delete(namespace);
    logger.info({ namespace }, 'StaticExports are watched again');
  } else {
    troubles.set(namespace, trouble.message);
    logger.warn({ namespace, error: trouble }, 'the watch of StaticExports is interrupted; trying again');
  }
}
