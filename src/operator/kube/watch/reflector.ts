// Keeps a cache of one resource in step with the API server and reports which keys changed. Lists, then watches with
// bookmarks. A silent watch is dropped, and errors back off with jitter. An expired resourceVersion (410, in both of its
// forms) and watches that open and bring nothing lead to another list.
// Invariant: one loop, one connection at a time; nothing of an ended connection reaches the cache.

import type { Clock } from '#platform/runtime/clock.ts';
import type { Random } from '#platform/runtime/random.ts';
import { backOffMs } from '#platform/wire/back-off.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { createList, type ListSource } from '../objects/resource-list.ts';
import { readResource } from '../objects/stored-object.ts';
import { cacheKey, ObjectCache, type Remembered } from './object-cache.ts';
import { Outage, troubleOf } from './outage.ts';
import { WatchAudit } from './watch-audit.ts';
import { readWatchEvents, type WatchEvent } from './watch-stream.ts';

/** How a key was found: by the first list of all, by what changed since, or as going or gone. */
export type AuditFinding = 'listed' | 'changed' | 'gone';

/** `keep` maps an object to its cache entry; metadata changes trigger a wake. */
export interface ReflectorOptions<T extends Remembered> extends ListSource<T> {
  readonly clock: Clock;
  readonly random: Random;
  /** Must not throw and must not wait. */
  readonly wake: (key: string, found: AuditFinding) => void;
  /** Receives each outage as it begins or changes, and `undefined` when the first watch opens or an outage ends. */
  readonly report: (trouble: ClusterError | undefined) => void;
  /** Called for each watched object that has too many fields and is ignored. */
  readonly onLeftOut?: () => void;
}

export interface Reflector<T extends Remembered> {
  /** Runs until the signal aborts; never rejects. Call once. */
  run(signal: AbortSignal): Promise<void>;
  readonly cache: ObjectCache<T>;
  isSynced(): boolean;
  /** The outage at present. */
  trouble(): ClusterError | undefined;
  /** The server answers, but may not or cannot let this be watched (403, 404). */
  isRefused(): boolean;
  /** Milliseconds since anything came by a list or over a watch; Infinity before it ever did. */
  silenceMs(): number;
  /** Changes that no watch brought, found by lists. */
  missedChanges(): number;
  /** Epoch ms of the last list that the cache was compared with. */
  auditedAt(): number | undefined;
}

const silenceLimitMs = 70_000;
/**
 * Two bookmarks. A watch that opens proves little, because a proxy may let the headers through and hold back every event;
 * where watches open and bring nothing for this long, only a list shows what changed.
 */
const heldBackLimitMs = 120_000;
const watchBackOff = [800, 30_000] as const;
/** A stream that ended sooner counts as a failure, or a broken proxy would get requests without pause. */
const shortStreamMs = 1_000;
/** After this many failures in a row the next attempt lists, however the watches ended. */
const failuresPerVersion = 5;

const silent = new ClusterError('Unavailable', 'a watch went silent and was dropped');
const nothingComes = new ClusterError(
  'Unavailable',
  'watches open but bring nothing, not even bookmarks; listing every two minutes instead; ' +
    'check the proxy or load balancer in front of the Kubernetes API server',
);

export function createReflector<T extends Remembered>(options: ReflectorOptions<T>): Reflector<T> {
  const { clock, random, keep } = options;
  const cache = new ObjectCache<T>();
  const outage = new Outage(options.report);
  const listAll = createList(options);
  const list = (signal: AbortSignal) => listAll(heard, signal);
  const audit = new WatchAudit({ cache, list, outage, clock, random });
  let resourceVersion: string | undefined;
  let synced = false;
  /** Monotonic: when an event, a bookmark or a list came last, and when anything came over a watch. */
  let heardAt: number | undefined;
  let spokenAt = Number.NEGATIVE_INFINITY;
  /** Of the present watch: whether it opened, brought anything, and brought anything that could be read. */
  let seen = { hasOpened: false, hasSpoken: false, isProved: false };
  /** The watch before opened and broke before it brought anything of use: that the next one opens proves nothing. */
  let isDoubtful = false;

  const heard = (): void => {
    heardAt = clock.monotonic();
  };
  const silenceMs = (): number =>
    heardAt === undefined ? Number.POSITIVE_INFINITY : clock.monotonic() - heardAt;

  const wakeFor = (object: T): void => {
    const isGoing = object.metadata.deletionTimestamp !== undefined;
    options.wake(cacheKey(object.metadata), isGoing ? 'gone' : synced ? 'changed' : 'listed');
  };

  /** The whole list comes first: edits are only seen after it, and would wait for reconciles between its pages. */
  const relist = async (signal: AbortSignal): Promise<void> => {
    const listed = await list(signal);
    const { objects } = listed;
    if (outage.of('heldBack') !== undefined) audit.count(cache.differences(objects).length);
    const { changed, gone } = cache.replace(objects);
    ({ resourceVersion } = listed);
    audit.vouch();
    for (const object of changed) wakeFor(object);
    for (const key of gone) options.wake(key, 'gone');
    synced = true;
  };

  const take = (event: WatchEvent): void => {
    if (event.type === 'BOOKMARK') {
      ({ resourceVersion } = event);
      return;
    }
    const object = keep(readResource(event.object));
    const key = cacheKey(object.metadata);
    audit.touch(key);
    ({ resourceVersion } = object.metadata);
    if (event.type !== 'DELETED') {
      if (cache.put(object)) wakeFor(object);
    } else if (cache.drop(key)) options.wake(key, 'gone');
  };

  /** Only an event that could be read shows that a watch works. */
  const believe = (): void => {
    seen.isProved = true;
    isDoubtful = false;
    outage.end('watch');
    outage.end('heldBack');
  };

  const openStream = (signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> => {
    const { resource, namespace, labelSelector } = options;
    const query = {
      ...(labelSelector !== undefined && { labelSelector }),
      watch: '1',
      allowWatchBookmarks: 'true',
      // Spread, so that the watches of many replicas don't end together.
      timeoutSeconds: String(Math.round(300 + 300 * random.fraction())),
      ...(resourceVersion !== undefined && { resourceVersion }),
    };
    const call = { verb: 'watch', method: 'GET', address: { resource, namespace }, query } as const;
    return options.transport.stream(call, signal);
  };

  /** One connection, from its request to its end; rejects unless the server closed it in order, or it was silent. */
  const watch = async (signal: AbortSignal): Promise<void> => {
    const connection = new AbortController();
    const ended = AbortSignal.any([connection.signal, signal]);
    const guard = watchSilence(connection, ended);
    const auditor = audit.run(connection, ended);
    try {
      const chunks = await openStream(ended);
      seen.hasOpened = true;
      if (!isDoubtful) outage.end('watch');
      for await (const event of readWatchEvents(chunks, options.onLeftOut)) {
        // The reason of an abort counts, or an audit that found missed changes would lead to no list.
        ended.throwIfAborted();
        seen.hasSpoken = true;
        heard();
        spokenAt = clock.monotonic();
        take(event);
        believe();
      }
    } catch (error) {
      // An abort's own reason is more precise than the broken stream's error.
      throw connection.signal.aborted ? connection.signal.reason : error;
    } finally {
      connection.abort();
      await Promise.all([guard, auditor]);
    }
  };

  const watchSilence = async (connection: AbortController, ended: AbortSignal): Promise<void> => {
    const openedAt = clock.monotonic();
    const silence = (): number => clock.monotonic() - Math.max(openedAt, spokenAt);
    try {
      while (silence() < silenceLimitMs) await clock.after(silenceLimitMs - silence(), ended);
      connection.abort(silent);
    } catch {
      // The connection ended first.
    }
  };

  const attempt = async (signal: AbortSignal): Promise<ClusterError | undefined> => {
    seen = { hasOpened: false, hasSpoken: false, isProved: false };
    try {
      if (resourceVersion === undefined) await relist(signal);
      await watch(signal);
      return undefined;
    } catch (error) {
      return troubleOf(error);
    }
  };

  /** Decides whether to list, and what to report, from how a watch ended. */
  const judge = (trouble: ClusterError | undefined, failures: number): void => {
    const isLost = trouble?.code === 'Gone' || trouble?.code === 'NotFound';
    const isEmpty = seen.hasOpened && !seen.hasSpoken;
    if (isLost || failures >= failuresPerVersion) resourceVersion = undefined;
    if (!isLost && isEmpty && silenceMs() >= heldBackLimitMs) {
      resourceVersion = undefined;
      isDoubtful = false;
      outage.begin('heldBack', nothingComes);
      outage.end('watch');
      return;
    }
    // A silent watch is opened again at once; the next one fails, brings something, or counts as held back.
    if (trouble === undefined || (trouble === silent && seen.hasOpened)) return;
    // An expired resourceVersion is ordinary after a long sleep; it is reported when it repeats.
    if (trouble.code === 'Gone' && failures === 1) return;
    if (isEmpty && outage.of('heldBack') !== undefined) return;
    isDoubtful = seen.hasOpened && !seen.isProved && !isLost;
    outage.begin('watch', trouble);
  };

  return {
    cache,
    isSynced: () => synced,
    trouble: () => outage.current(),
    isRefused: () => {
      const code = outage.of('watch')?.code;
      return code === 'Forbidden' || code === 'NotFound';
    },
    silenceMs,
    missedChanges: () => audit.missed,
    auditedAt: () => audit.vouchedAt,
    run: async (signal) => {
      let failures = 0;
      while (!signal.aborted) {
        const startedAt = clock.monotonic();
        const trouble = await attempt(signal);
        if (signal.aborted) return;
        failures = countFailures(failures, trouble, clock.monotonic() - startedAt);
        judge(trouble, failures);
        const backedOffMs = backOffMs(watchBackOff, failures) * (0.5 + random.fraction() / 2);
        // Spread above the requested time, because every watch of every replica got that answer at once.
        const askedMs = (trouble?.retryAfterMs ?? 0) * (1 + random.fraction() / 5);
        const waitMs = Math.max(askedMs, backedOffMs);
        if (waitMs > 0) await clock.after(waitMs, signal).catch(() => {});
      }
    },
  };
}

/** Failures in a row: a watch that lasted is the first of a row, and one that the server closed in order is none. */
function countFailures(before: number, trouble: ClusterError | undefined, lastedMs: number): number {
  if (trouble === undefined) return lastedMs < shortStreamMs ? before + 1 : 0;
  return lastedMs < silenceLimitMs / 2 ? before + 1 : 1;
}
