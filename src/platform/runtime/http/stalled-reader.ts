// Cuts readers that stop reading. The only measure is how many bytes the system took over for them, checked at
// intervals. A socket's own timer restarts with every incoming byte, so a client that sends one now and then could hold
// an answer's memory forever. Refuses to know what is sent, or why. Invariant: a reader that took anything between two
// checks is never cut. One check runs for each connection, however many answers requested it.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Clock } from '../clock.ts';

const watched = new WeakSet<Socket>();

/**
 * Cuts the connection when nothing of what waits to be sent is taken for this long, twice as long at most. Partly taken
 * counts as taken. Ends by itself when all is taken; called again meanwhile, it changes nothing.
 */
export function cutWhenStalled(socket: Socket, stalledMs: number, clock: Clock): void {
  if (socket.writableLength > 0) watchOnce(socket, stalledMs, clock);
}

/**
 * Once an answer was ended: cuts its connection when the reader takes none of what is left for this long. Partly
 * taken counts as taken; what the system took over at once costs nothing here.
 */
export function cutStalledReader(
  { socket, writableLength }: ServerResponse,
  stalledMs: number,
  clock: Clock,
): void {
  // Node 26 keeps chunks with the answer until its next tick. The socket alone would say that nothing waits.
  if (socket !== null && writableLength > 0) watchOnce(socket, stalledMs, clock);
}

/** Resolves when the reader has taken what was written, or is gone. One who takes none of it is cut, as above. */
export async function waitForReader(
  response: ServerResponse,
  stalledMs: number,
  clock: Clock,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  response.once('drain', resolve).once('close', resolve);
  cutStalledReader(response, stalledMs, clock);
  await promise;
  response.off('drain', resolve).off('close', resolve);
}

function watchOnce(socket: Socket, stalledMs: number, clock: Clock): void {
  if (watched.has(socket)) return;
  watch(socket, stalledMs, clock).catch(() => {
    // It has closed.
  });
}

async function watch(socket: Socket, stalledMs: number, clock: Clock): Promise<void> {
  const closed = new AbortController();
  const close = (): void => closed.abort();
  socket.once('close', close);
  watched.add(socket);
  try {
    for (let before = takenBytes(socket); ; ) {
      await clock.after(stalledMs, closed.signal);
      if (socket.writableLength === 0) return;
      const taken = takenBytes(socket);
      if (taken === before) {
        // A connection that is closed in the usual way would leave what it holds with the kernel for minutes.
        socket.resetAndDestroy();
        return;
      }
      before = taken;
    }
  } finally {
    socket.off('close', close);
    watched.delete(socket);
  }
}

/** Cuts what has not closed by then, whatever comes in meanwhile. */
export function cutAfter(socket: Duplex, ms: number, clock: Clock): void {
  if (socket.destroyed) return;
  const closed = new AbortController();
  socket.once('close', () => closed.abort());
  clock.after(ms, closed.signal).then(
    () => socket.destroy(),
    () => {
      // It has closed.
    },
  );
}

/** All bytes of the connection that the system took over. */
export function takenBytes(socket: Socket): number {
  // Only the handle knows what was taken of a write that is under way; a large one may take hours.
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle === 'object' && handle !== null) {
    const given: unknown = Reflect.get(handle, 'bytesWritten');
    const waiting: unknown = Reflect.get(handle, 'writeQueueSize');
    if (typeof given === 'number' && typeof waiting === 'number') return given - waiting;
  }
  return socket.bytesWritten - socket.writableLength;
}
