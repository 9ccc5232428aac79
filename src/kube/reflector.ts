// Keeps a cache of one resource in step with the API server and says which keys changed. A list in pages, then
// watches with bookmarks; a stream that is silent too long is dropped, errors back off with jitter, a lost place
// (410, in both of its forms) lists anew. Never trusted for ever: an audit lists from time to time and counts what
// only it found. Invariant: one loop, one connection at a time; nothing of an ended connection reaches the cache.

import type { Clock } from '../runtime/clock.ts';
import type { Random } from '../runtime/random.ts';
import { ClusterError } from '../wire/cluster-error.ts';
import { isRecord, recordAt, textAt } from './json.ts';
import { cacheKey, ObjectCache, type Remembered } from './object-cache.ts';
import type { Resource } from './resource-path.ts';
import { readResource, type StoredResource } from './stored-object.ts';
import type { Transport } from './transport.ts';
import { readWatchEvents, type WatchEvent } from './watch-stream.ts';

export interface ReflectorOptions<T extends Remembered> {
  readonly transport: Transport;
  readonly resource: Resource;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** Absent: all. What stops matching is gone, as if it had been deleted. */
  readonly labelSelector?: string;
  /** What is remembered of an object; its metadata decides about waking. The rest of it is let go. */
  readonly keep: (object: StoredResource) => T;
  readonly clock: Clock;
  readonly random: Random;
  /** Must not throw and must not wait: it puts the key into a queue. `listed`: found by the first list of all. */
  readonly wake: (key: string, found: 'listed' | 'watched') => void;
  /** Told once per outage and once when it is over (`undefined`). */
  readonly report: (trouble: ClusterError | undefined) => void;
}

export interface Reflector<T extends Remembered> {
  /** Runs until the signal aborts; never rejects. Call once. */
  run(signal: AbortSignal): Promise<void>;
  readonly cache: ObjectCache<T>;
  isSynced(): boolean;
  /** Milliseconds since the server last said anything; Infinity before it ever did. */
  silenceMs(): number;
  /** Changes that no watch brought, found by audits. */
  missedChanges(): number;
}

const pageSize = 500;
const silenceLimitMs = 70_000;
const firstBackoffMs = 800;
const maxBackoffMs = 30_000;
/** A stream that ended sooner than this counts as a failure, or a broken proxy would be hammered. */
const shortStreamMs = 1_000;
/** What the list saw may still be on its way through the watch. */
const auditGraceMs = 10_000;

interface Place {
  resourceVersion: string | undefined;
}

interface Listed<T> {
  readonly objects: readonly T[];
  readonly resourceVersion: string | undefined;
}

export function createReflector<T extends Remembered>(options: ReflectorOptions<T>): Reflector<T> {
  const { transport, resource, namespace, clock, random, keep } = options;
  const cache = new ObjectCache<T>();
  const address = { resource, namespace };
  const selected = options.labelSelector === undefined ? {} : { labelSelector: options.labelSelector };
  const place: Place = { resourceVersion: undefined };
  /** Keys that a watch spoke of since the audit under way began. */
  let touched = new Set<string>();
  let synced = false;
  let heardAt: number | undefined;
  /** Of a watch alone: a list that is answered on another connection says nothing about it. */
  let streamedAt = 0;
  let missed = 0;
  /** Outlives connections, which last ten minutes at most. */
  let auditAt = Number.POSITIVE_INFINITY;

  const between = (from: number, to: number): number => from + (to - from) * random.fraction();
  const planAudit = (): void => {
    auditAt = clock.monotonic() + between(10, 30) * 60_000;
  };

  const readList = async (query: Readonly<Record<string, string>>, signal: AbortSignal) => {
    const page = await transport.call(
      { verb: 'list', method: 'GET', address, query: { ...selected, ...query } },
      signal,
    );
    heardAt = clock.monotonic();
    return readPage(page, keep);
  };

  const list = async (signal: AbortSignal): Promise<Listed<T>> => {
    const limit = String(pageSize);
    const first = await readList({ limit }, signal);
    const objects = [...first.objects];
    let { resourceVersion, next } = first;
    while (next !== undefined) {
      try {
        const page = await readList({ limit, continue: next }, signal);
        objects.push(...page.objects);
        ({ resourceVersion, next } = page);
      } catch (error) {
        if (!(error instanceof ClusterError) || error.code !== 'Gone') throw error;
        // The pages outlived the server's memory of them, and would again: all at once, as client-go does.
        return readList({}, signal);
      }
    }
    return { objects, resourceVersion };
  };

  const relist = async (signal: AbortSignal): Promise<void> => {
    const { objects, resourceVersion } = await list(signal);
    const changed = cache.replace(objects);
    place.resourceVersion = resourceVersion;
    const found = synced ? 'watched' : 'listed';
    synced = true;
    planAudit();
    for (const key of changed) options.wake(key, found);
  };

  const take = (event: WatchEvent): void => {
    heardAt = streamedAt = clock.monotonic();
    if (event.type === 'BOOKMARK') {
      place.resourceVersion = event.resourceVersion;
      return;
    }
    const object = keep(readResource(event.object));
    const key = cacheKey(object.metadata);
    touched.add(key);
    place.resourceVersion = object.metadata.resourceVersion;
    const isNews = event.type === 'DELETED' ? cache.drop(key) : cache.put(object);
    if (isNews) options.wake(key, 'watched');
  };

  /** One connection, from its request to its end; rejects unless the server closed it in order. */
  const watch = async (signal: AbortSignal): Promise<void> => {
    const connection = new AbortController();
    const ended = AbortSignal.any([connection.signal, signal]);
    const guard = watchSilence(connection, ended);
    const auditor = audit(connection, ended);
    try {
      const chunks = await transport.stream(
        {
          verb: 'watch',
          method: 'GET',
          address,
          query: {
            ...selected,
            watch: '1',
            allowWatchBookmarks: 'true',
            // Spread, so that the watches of many replicas don't end together.
            timeoutSeconds: String(Math.round(between(300, 600))),
            ...(place.resourceVersion !== undefined && { resourceVersion: place.resourceVersion }),
          },
        },
        ended,
      );
      heardAt = streamedAt = clock.monotonic();
      options.report(undefined);
      for await (const event of readWatchEvents(chunks)) {
        // Why it was ended counts, or an audit that found something would list nothing.
        ended.throwIfAborted();
        take(event);
      }
    } catch (error) {
      // Who ended it knows better why than the broken stream.
      throw connection.signal.aborted ? connection.signal.reason : error;
    } finally {
      connection.abort();
      await Promise.all([guard, auditor]);
    }
  };

  const watchSilence = async (connection: AbortController, ended: AbortSignal): Promise<void> => {
    const openedAt = clock.monotonic();
    const silence = (): number => clock.monotonic() - Math.max(openedAt, streamedAt);
    try {
      while (silence() < silenceLimitMs) await clock.after(silenceLimitMs - silence(), ended);
      connection.abort(new ClusterError('Unavailable', 'a watch went silent and was dropped'));
    } catch {
      // The connection ended first.
    }
  };

  const audit = async (connection: AbortController, ended: AbortSignal): Promise<void> => {
    try {
      for (;;) {
        await clock.after(auditAt - clock.monotonic(), ended);
        touched = new Set();
        const { objects } = await list(ended);
        await clock.after(auditGraceMs, ended);
        planAudit();
        const lost = cache.differences(objects).filter((key) => !touched.has(key));
        if (lost.length === 0) continue;
        missed += lost.length;
        connection.abort(new ClusterError('Gone', `a watch missed ${lost.length} changes; listing anew`));
        return;
      }
    } catch {
      // The connection ended, or the list failed: the watch is the one to notice an outage.
    }
  };

  return {
    cache,
    isSynced: () => synced,
    silenceMs: () => (heardAt === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() - heardAt),
    missedChanges: () => missed,
    run: async (signal) => {
      let failures = 0;
      while (!signal.aborted) {
        const startedAt = clock.monotonic();
        try {
          if (place.resourceVersion === undefined) await relist(signal);
          await watch(signal);
          failures = clock.monotonic() - startedAt < shortStreamMs ? failures + 1 : 0;
        } catch (error) {
          if (signal.aborted) return;
          const trouble = asTrouble(error);
          if (trouble.code === 'Gone' || trouble.code === 'NotFound') place.resourceVersion = undefined;
          failures = clock.monotonic() - startedAt < silenceLimitMs / 2 ? failures + 1 : 1;
          // Losing one's place is ordinary after a long sleep; only when it repeats is it worth a word.
          if (trouble.code !== 'Gone' || failures > 1) options.report(trouble);
        }
        // However a watch ended, a place that failed often is not worth keeping.
        if (failures >= 5) place.resourceVersion = undefined;
        const waitMs = backoffMs(failures) * between(0.5, 1);
        if (waitMs > 0) await clock.after(waitMs, signal).catch(() => {});
      }
    },
  };
}

function backoffMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(maxBackoffMs, firstBackoffMs * 2 ** (failures - 1));
}

function asTrouble(error: unknown): ClusterError {
  return error instanceof ClusterError
    ? error
    : new ClusterError('Unavailable', 'a watch failed unexpectedly', { cause: error });
}

function readPage<T>(page: unknown, keep: (object: StoredResource) => T) {
  const record = isRecord(page) ? page : {};
  const items = record['items'];
  if (!Array.isArray(items)) {
    throw new ClusterError('Unavailable', 'the API server answered a list with something else');
  }
  const metadata = recordAt(record, 'metadata');
  return {
    objects: items.map((item) => keep(readResource(item))),
    resourceVersion: textAt(metadata, 'resourceVersion'),
    next: textAt(metadata, 'continue') || undefined,
  };
}
