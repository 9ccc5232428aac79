// Writes events for users: the loop's `Events` port. Repeats are counted into one event and written at most every few
// minutes. An object with too many events is cut off; an event that cannot be written is counted, logged and dropped.
// Invariant: never throws, never waits, never grows without bound.

import type { EventStore } from '#operator/kube/objects/event-store.ts';
import type { Events } from '#operator/loop/ports.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { Random } from '#platform/runtime/random.ts';
import type { EventNote, StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';

export interface RecorderOptions {
  readonly store: EventStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Ends what is being sent. */
  readonly signal: AbortSignal;
  /** Called for every event that is not written. */
  readonly dropped: (reason: EventLoss) => void;
}

/** Too many of one object, too many being sent, or refused by the API server. */
export const eventLosses = ['flood', 'crowd', 'refused'] as const;
export type EventLoss = (typeof eventLosses)[number];

interface Series {
  readonly namespace: string;
  /** Set once the server has taken the event. */
  name: string | undefined;
  count: number;
  writtenAt: number;
}

/** An event, or a repeat of it. */
interface Occurrence {
  /** The same for each time. */
  readonly id: string;
  readonly object: StaticExportObject;
  readonly note: EventNote;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

const maxRemembered = 4096;
const maxPending = 100;
/** A repeat is only counted until this has passed since the last write. */
const repeatEveryMs = 5 * 60_000;
/** As client-go's spam filter: 25 at once, then one in five minutes, per object. */
const burst = 25;
const refillMs = 5 * 60_000;

export interface EventRecorder extends Events {
  /** Resolves when every recorded event is written or dropped. */
  settled(): Promise<void>;
}

export function createEventRecorder(options: RecorderOptions): EventRecorder {
  const { store, clock, random, logger, signal, dropped } = options;
  const series = new Map<string, Series>();
  const buckets = new Map<string, Bucket>();
  let sending: Promise<void> = Promise.resolve();
  let pending = 0;

  /** One after the other, because a repeat needs the name that its first event got. False where too many wait. */
  const send = (work: () => Promise<void>): boolean => {
    if (pending >= maxPending) return false;
    pending += 1;
    sending = sending.then(work).finally(() => {
      pending -= 1;
    });
    return true;
  };

  const write = async (one: Series, { id, object, note }: Occurrence): Promise<void> => {
    const suffix = Buffer.from(random.bytes(8)).toString('hex');
    const event = { ...note, regarding: object.metadata, at: clock.now(), suffix };
    try {
      one.name = await store.create(event, signal);
    } catch (error) {
      series.delete(id);
      dropped('refused');
      const { namespace, name } = object.metadata;
      const subject = { object: `${namespace}/${name}`, reason: note.reason };
      logger.warn({ error, ...subject }, 'could not write an event');
    }
  };

  const create = (one: Series, occurrence: Occurrence): void => {
    if (send(() => write(one, occurrence))) return;
    // Otherwise its repeats would be counted into an event that does not exist.
    series.delete(occurrence.id);
    dropped('crowd');
  };

  const count = (one: Series, occurrence: Occurrence): void => {
    send(async () => {
      const { namespace, name } = one;
      if (name === undefined) return;
      try {
        await store.count({ namespace, name, count: one.count, at: clock.now() }, signal);
      } catch (error) {
        if (error instanceof ClusterError && error.code === 'NotFound') {
          // The server deletes events after an hour, and a nightly event should be seen each morning.
          one.count = 1;
          await write(one, occurrence);
          return;
        }
        series.delete(occurrence.id);
        logger.warn({ error, event: `${namespace}/${name}` }, 'could not update the count of an event');
      }
    });
  };

  const spend = (uid: string): boolean => {
    const now = clock.monotonic();
    const bucket = buckets.get(uid) ?? { tokens: burst, filledAt: now };
    const refill = Math.floor((now - bucket.filledAt) / refillMs);
    bucket.tokens = Math.min(burst, bucket.tokens + refill);
    bucket.filledAt += refill * refillMs;
    remember(buckets, uid, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens -= 1;
    return true;
  };

  return {
    record: (object, note) => {
      const { uid, namespace } = object.metadata;
      const id = JSON.stringify([uid, note.type, note.reason, note.message]);
      const now = clock.monotonic();
      const known = series.get(id);
      if (known === undefined) {
        if (!spend(uid)) {
          dropped('flood');
          return;
        }
        const first: Series = { namespace, name: undefined, count: 1, writtenAt: now };
        remember(series, id, first);
        create(first, { id, object, note });
        return;
      }
      known.count += 1;
      remember(series, id, known);
      if (now - known.writtenAt < repeatEveryMs) return;
      known.writtenAt = now;
      count(known, { id, object, note });
    },
    settled: () => sending,
  };
}

/** Least recently used goes first. */
function remember<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxRemembered && oldest !== undefined) map.delete(oldest);
}
