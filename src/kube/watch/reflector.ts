// Keeps a cache of one resource in step with the API server and says which keys changed. A list, then watches with
// bookmarks; a stream that is silent too long is dropped, errors back off with jitter, a lost place (410, in both of
// its forms) lists anew, and so do watches that open and bring nothing.
// Invariant: one loop, one connection at a time; nothing of an ended connection reaches the cache.

import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import { createList, type ListSource } from '../objects/resource-list.ts';
import { readResource } from '../objects/stored-object.ts';
import { Outage, troubleOf } from '../transport/outage.ts';
import { cacheKey, ObjectCache, type Remembered } from './object-cache.ts';
import { WatchAudit } from './watch-audit.ts';
import { WatchProof } from './watch-proof.ts';
import { readWatchEvents, type WatchEvent } from './watch-stream.ts';

/** How a key was found: by the first list of all, by what changed since, or as going or gone. */
export type Finding = 'listed' | 'changed' | 'gone';

/** Of an object, `keep` takes what is remembered; its metadata decides about waking. */
export interface ReflectorOptions<T extends Remembered> extends ListSource<T> {
  readonly clock: Clock;
  readonly random: Random;
  /** Must not throw and must not wait. */
  readonly wake: (key: string, found: Finding) => void;
  /** Told when an outage begins or becomes another one, and `undefined` when it watches, at first or again. */
  readonly report: (trouble: ClusterError | undefined) => void;
  /** Told of an object of too many fields that a watch brought, and that is not looked at. */
  readonly onLeftOut?: () => void;
}

export interface Reflector<T extends Remembered> {
  /** Runs until the signal aborts; never rejects. Call once. */
  run(signal: AbortSignal): Promise<void>;
  readonly cache: ObjectCache<T>;
  isSynced(): boolean;
  /** What stands in the way right now. */
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
const firstBackoffMs = 800;
const maxBackoffMs = 30_000;
/** A stream that ended sooner than this counts as a failure, or a broken proxy would be hammered. */
const shortStreamMs = 1_000;
/** However a watch ended, a place that failed as often in a row is not worth keeping. */
const failuresPerPlace = 5;

const silent = new ClusterError('Unavailable', 'a watch went silent and was dropped');
const nothingComes = new ClusterError(
  'Unavailable',
  'watches open, but nothing comes over them, not even bookmarks; listing every two minutes until something does: ' +
    'look at the proxy or load balancer in front of the API server',
);

export function createReflector<T extends Remembered>(options: ReflectorOptions<T>): Reflector<T> {
  const { clock, random, keep } = options;
  const cache = new ObjectCache<T>();
  const outage = new Outage(options.report);
  const proof = new WatchProof(clock);
  const listAll = createList(options);
  const list = (signal: AbortSignal) => listAll(() => proof.listed(), signal);
  const audit = new WatchAudit({ cache, list, outage, clock, random });
  let place: string | undefined;
  let synced = false;
  /** The one before opened and broke before anything of use came: that the next opens is no proof that it works. */
  let isDoubtful = false;

  const wakeFor = (object: T): void => {
    const isGoing = object.metadata.deletionTimestamp !== undefined;
    options.wake(cacheKey(object.metadata), isGoing ? 'gone' : synced ? 'changed' : 'listed');
  };

  /** Whole before any of it is worked on: an edit is heard of after it, and would wait for the passes between its pages. */
  const relist = async (signal: AbortSignal): Promise<void> => {
    const { objects, resourceVersion } = await list(signal);
    if (outage.of('heldBack') !== undefined) audit.count(cache.differences(objects).length);
    const { changed, gone } = cache.replace(objects);
    place = resourceVersion;
    audit.vouch();
    for (const object of changed) wakeFor(object);
    for (const key of gone) options.wake(key, 'gone');
    synced = true;
  };

  const take = (event: WatchEvent): void => {
    if (event.type === 'BOOKMARK') {
      place = event.resourceVersion;
      return;
    }
    const object = keep(readResource(event.object));
    const key = cacheKey(object.metadata);
    audit.touch(key);
    place = object.metadata.resourceVersion;
    if (event.type !== 'DELETED') {
      if (cache.put(object)) wakeFor(object);
    } else if (cache.drop(key)) options.wake(key, 'gone');
  };

  /** Something came that could be read: only that shows that a watch works. */
  const believe = (): void => {
    proof.proved();
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
      ...(place !== undefined && { resourceVersion: place }),
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
      proof.opened();
      if (!isDoubtful) outage.end('watch');
      for await (const event of readWatchEvents(chunks, options.onLeftOut)) {
        // Why it was ended counts, or an audit that found something would list nothing.
        ended.throwIfAborted();
        proof.spoke();
        take(event);
        believe();
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
    const silence = (): number => clock.monotonic() - Math.max(openedAt, proof.spokenAt);
    try {
      while (silence() < silenceLimitMs) await clock.after(silenceLimitMs - silence(), ended);
      connection.abort(silent);
    } catch {
      // The connection ended first.
    }
  };

  const attempt = async (signal: AbortSignal): Promise<ClusterError | undefined> => {
    proof.begin();
    try {
      if (place === undefined) await relist(signal);
      await watch(signal);
      return undefined;
    } catch (error) {
      return troubleOf(error);
    }
  };

  /** What follows from how a watch ended. */
  const judge = (trouble: ClusterError | undefined, failures: number): void => {
    const isLost = trouble?.code === 'Gone' || trouble?.code === 'NotFound';
    if (isLost || failures >= failuresPerPlace) place = undefined;
    if (!isLost && proof.isHeldBack) {
      place = undefined;
      isDoubtful = false;
      outage.begin('heldBack', nothingComes);
      outage.end('watch');
      return;
    }
    // A silent one is opened again at once: that fails, or something comes, or nothing does, which is told then.
    if (trouble === undefined || (trouble === silent && proof.hasOpened)) return;
    // Losing one's place is ordinary after a long sleep; only when it repeats is it worth a word.
    if (trouble.code === 'Gone' && failures === 1) return;
    if (proof.isEmpty && outage.of('heldBack') !== undefined) return;
    isDoubtful = proof.hasOpened && !proof.isProved && !isLost;
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
    silenceMs: () => proof.silenceMs(),
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
        const backedOffMs = backoffMs(failures) * (0.5 + random.fraction() / 2);
        // Spread above what the server asked for: every watch of every replica heard it in the same moment.
        const askedMs = (trouble?.retryAfterMs ?? 0) * (1 + random.fraction() / 5);
        const waitMs = Math.max(askedMs, backedOffMs);
        if (waitMs > 0) await clock.after(waitMs, signal).catch(() => {});
      }
    },
  };
}

/** In a row: one that lasted is the first of its row, and one that ended in order is none. */
function countFailures(before: number, trouble: ClusterError | undefined, lastedMs: number): number {
  if (trouble === undefined) return lastedMs < shortStreamMs ? before + 1 : 0;
  return lastedMs < silenceLimitMs / 2 ? before + 1 : 1;
}

function backoffMs(failures: number): number {
  return failures === 0 ? 0 : Math.min(maxBackoffMs, firstBackoffMs * 2 ** (failures - 1));
}
