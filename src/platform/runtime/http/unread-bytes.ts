// Bounds the memory that all readers hold together: written but unread bytes, in this process and in the kernel's
// sockets, and each connection's own cost. An answer asks for room before it is written. Where room is short, this asks
// the kernel twice what each connection holds. It resets the connections that would take longest to give it back.
// Refuses to know what is sent. Invariant: bytes are written only within the limit. An answer waits for room only while
// other connections hold it, and connections that hold it without reading lose it.

import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import type { SocketQueues } from './socket-memory.ts';
import { takenBytes } from './stalled-reader.ts';

export interface UnreadBytes {
  /** Counts a connection until it closes. */
  track(socket: Socket): void;
  /** Counts what else a connection makes this process hold, until it is counted off or the connection closes. */
  keep(socket: Socket, bytes: number): void;
  /** Takes the room where it is free at once. */
  tryTake(bytes: number): boolean;
  /**
   * Waits for the room, which stays reserved until `settle` gets the same number of bytes.
   *
   * @returns false where no room came free within the longest wait
   */
  take(bytes: number): Promise<boolean>;
  /** What was waited for is written now, or never will be. */
  settle(bytes: number): void;
  /** Readers hold more than half of what they may. */
  readonly isScarce: () => boolean;
}

export interface UnreadBytesContext {
  /** Bytes that the kernel holds in sockets and that count towards this process's memory limit. */
  readonly socketMemory: () => Promise<number>;
  /** What each connection of a port holds in the kernel. */
  readonly socketQueues: (port: number) => Promise<SocketQueues>;
  readonly clock: Clock;
  readonly onCut?: (connections: number) => void;
}

/** Objects of a connection, in this process and in the kernel. */
const connectionBytes = 12 * 1024;
/** Small answers have this much beyond the limit, so that a page is answered while large files wait. */
const reservedFor = (limitBytes: number): number => Math.min(64 * 1024 * 1024, (limitBytes * 2) / 5);
const smallBytes = 64 * 1024;
/** A connection as young as this is judged only by what it holds. */
const youngMs = 1000;
const tooMuchForYoungBytes = 256 * 1024;
/** Readers are judged by what they take in this time. A mean since they came would favour the newest over the idle. */
const windowMs = 250;
const checkEveryMs = 100;
export const longestWaitMs = 5000;

/** The kernel's memory for what is in its sockets is larger than that by about a quarter. */
const costOf = (bytes: number): number => bytes * 1.25;

interface Reader {
  keptBytes: number;
  readonly sinceMs: number;
}

/** What a reader holds, and the bounds of what it has read by then: the system takes more while it is asked. */
interface Standing {
  readonly unreadBytes: number;
  readonly leastReadBytes: number;
  readonly mostReadBytes: number;
}

interface Sample {
  readonly startMs: number;
  readonly endMs: number;
  /** In the kernel, of our ports; those count too that have closed and not been taken. */
  readonly queuedBytes: number;
  readonly standings: ReadonlyMap<Socket, Standing>;
}

interface Waiting {
  readonly bytes: number;
  readonly sinceMs: number;
  readonly resolve: (isThere: boolean) => void;
}

/** @param limitBytes for all readers together */
export function createUnreadBytes(limitBytes: number, context: UnreadBytesContext): UnreadBytes {
  const { clock } = context;
  const readers = new Map<Socket, Reader>();
  const ports = new Set<number>();
  let waiting: Waiting[] = [];
  /** As they were at the last check. */
  let heldBytes = 0;
  /** Taken since the last check began. */
  let newBytes = 0;
  /** Granted to waiting answers, and not written yet: no check would find it anywhere. */
  let givenBytes = 0;
  let isChecking = false;

  const total = (): number => heldBytes + newBytes + givenBytes;
  const askedBytes = (): number => waiting.reduce((sum, { bytes }) => sum + costOf(bytes), 0);
  const isRoom = (bytes: number): boolean => {
    const most = bytes <= smallBytes ? limitBytes + reservedFor(limitBytes) : limitBytes;
    return total() + costOf(bytes) <= most;
  };
  const spend = (bytes: number): void => {
    newBytes += costOf(bytes);
    if (newBytes > limitBytes / 4 || total() > limitBytes / 2) check();
  };
  const check = (): void => {
    if (isChecking) return;
    isChecking = true;
    checkOnce()
      .catch(() => {})
      .finally(() => {
        isChecking = false;
        if (waiting.length > 0) check();
      });
  };
  const checkOnce = async (): Promise<void> => {
    const before = await measure();
    if (!serve() && before !== undefined) {
      await clock.after(windowMs);
      const now = await measure();
      if (!serve() && now !== undefined) {
        cut(before, now);
        await clock.after(0);
        await measure();
        serve();
      }
    }
    // The next check comes later: reset connections must first free their memory, and others read meanwhile.
    if (total() > limitBytes / 2) await clock.after(checkEveryMs);
  };
  /** @returns what each reader holds, where there is too little room */
  const measure = async (): Promise<Sample | undefined> => {
    const newBefore = newBytes;
    // Before what has to be waited for: bytes that move to the kernel meanwhile count twice rather than never.
    let ownBytes = readers.size * connectionBytes;
    for (const [socket, { keptBytes }] of readers) ownBytes += socket.writableLength + keptBytes;
    let inSockets = await context.socketMemory();
    const sinceBytes = newBytes - newBefore + givenBytes;
    let sample: Sample | undefined;
    if (inSockets + ownBytes + sinceBytes + askedBytes() > limitBytes) {
      sample = await sampleReaders();
      // The rest belongs to another process, another port, or this process's downloads. No reset would free it.
      inSockets = Math.min(inSockets, costOf(sample.queuedBytes));
    }
    heldBytes = inSockets + ownBytes;
    newBytes -= newBefore;
    return sample;
  };
  const sampleReaders = async (): Promise<Sample> => {
    const startMs = clock.monotonic();
    const earlier = new Map([...readers.keys()].map((socket) => [socket, takenBytes(socket)]));
    const queues = await Promise.all([...ports].map(context.socketQueues));
    let queuedBytes = 0;
    for (const one of queues) for (const bytes of one.values()) queuedBytes += bytes;
    const standings = new Map<Socket, Standing>();
    for (const [socket, { keptBytes }] of readers) {
      const key = `${socket.remoteAddress} ${socket.remotePort}`;
      const queued = queues.reduce((sum, one) => sum + (one.get(key) ?? 0), 0);
      standings.set(socket, {
        unreadBytes: queued + socket.writableLength + keptBytes,
        leastReadBytes: (earlier.get(socket) ?? 0) - queued,
        mostReadBytes: takenBytes(socket) - queued,
      });
    }
    return { startMs, endMs: clock.monotonic(), queuedBytes, standings };
  };
  /** @returns true if no answer waits any more */
  const serve = (): boolean => {
    const nowMs = clock.monotonic();
    const left: Waiting[] = [];
    for (const one of waiting) {
      if (isRoom(one.bytes)) {
        givenBytes += costOf(one.bytes);
        one.resolve(true);
      } else if (nowMs - one.sinceMs >= longestWaitMs) {
        one.resolve(false);
      } else {
        left.push(one);
      }
    }
    waiting = left;
    return left.length === 0 && total() <= limitBytes;
  };

  /** Resets the connections that would take longest to free their bytes, until waiting answers have room. */
  const cut = (before: Sample, now: Sample): void => {
    const paceOver = Math.max(1, now.startMs - before.endMs);
    const judged = [...now.standings].map(([socket, { unreadBytes, leastReadBytes }]) => {
      const first = before.standings.get(socket);
      const readBytes = Math.max(0, leastReadBytes - (first?.mostReadBytes ?? 0));
      const bytes = unreadBytes + connectionBytes;
      const isIdle = unreadBytes === 0;
      const isYoung =
        now.endMs - (readers.get(socket)?.sinceMs ?? 0) < youngMs && unreadBytes < tooMuchForYoungBytes;
      // A reader that held nothing at first has not had the full time window.
      const isSpared = isYoung || first === undefined || (first.unreadBytes === 0 && !isIdle);
      return { socket, bytes, isIdle, leftMs: isSpared ? 0 : bytes / (readBytes / paceOver + 0.001) };
    });
    const neededBytes = Math.max(0, total() + askedBytes() - limitBytes) + limitBytes / 8;
    let tooManyBytes = Math.min(neededBytes, total() - limitBytes / 2);
    let idleBytes = judged.filter(({ isIdle }) => isIdle).length * connectionBytes;
    let connections = 0;
    for (const { socket, bytes, isIdle, leftMs } of judged.toSorted((a, b) => b.leftMs - a.leftMs)) {
      // A reader that holds only its connection, or waits for room too, blocks no other, unless there are too many.
      if (isIdle && idleBytes <= limitBytes / 2) continue;
      if (tooManyBytes <= 0 || leftMs < youngMs) break;
      // It may have closed since.
      if (!readers.has(socket)) continue;
      socket.resetAndDestroy();
      readers.delete(socket);
      tooManyBytes -= isIdle ? bytes : costOf(bytes);
      if (isIdle) idleBytes -= bytes;
      connections += 1;
    }
    if (connections > 0) context.onCut?.(connections);
  };

  return {
    track: (socket) => {
      readers.set(socket, { keptBytes: 0, sinceMs: clock.monotonic() });
      if (socket.localPort !== undefined) ports.add(socket.localPort);
      socket.once('close', () => readers.delete(socket));
      spend(connectionBytes);
    },
    keep: (socket, bytes) => {
      const reader = readers.get(socket);
      if (reader === undefined) return;
      reader.keptBytes += bytes;
      if (bytes > 0) spend(bytes);
    },
    tryTake: (bytes) => {
      if (!isRoom(bytes)) return false;
      spend(bytes);
      return true;
    },
    take: (bytes) => {
      if ((waiting.length === 0 || bytes <= smallBytes) && isRoom(bytes)) {
        givenBytes += costOf(bytes);
        return Promise.resolve(true);
      }
      const { promise, resolve } = Promise.withResolvers<boolean>();
      waiting.push({ bytes, sinceMs: clock.monotonic(), resolve });
      check();
      return promise;
    },
    settle: (bytes) => {
      givenBytes -= costOf(bytes);
      spend(bytes);
    },
    isScarce: () => total() > limitBytes / 2,
  };
}

const mostBytes = 160 * 1024 * 1024;

/** @param memoryBytes memory limit of this process; 0, or more than any machine has, means no limit */
export function unreadLimit(memoryBytes: number): number {
  return memoryBytes > 0 ? Math.min(mostBytes, Math.floor((memoryBytes * 5) / 16)) : mostBytes;
}
