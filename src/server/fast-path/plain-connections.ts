// Connections before Node's HTTP server has them. A piece that is one plain request is answered here, without the objects
// that Node makes of a request. The first other piece hands its connection over for good, from that piece on.
// Owns such a connection: idle times, a stalled reader, its end. Refuses to parse HTTP and to answer ahead of a reader.
// Invariant: one answer at a time; the next piece is read when the system has taken the answer before it.

import type { Socket } from 'node:net';
import type { Clock } from '#platform/runtime/clock.ts';
import type {
  ConnectionHandler,
  FullServer,
  OpenConnectionHandler,
} from '#platform/runtime/http/http-listener.ts';
import { cutWhenStalled } from '#platform/runtime/http/stalled-reader.ts';
import type { HeldBytes } from '../content/body-cache.ts';

/**
 * @param head ASCII, without its last fields. @param lastFields of the head, with the empty line
 * @param body `''` for none. @param held when the body is memory of the cache
 * @returns false if nothing was sent: the connection has closed, or its last answer is the HTTP server's, since a drain began
 */
export type SendPlainly = (
  head: string,
  lastFields: string,
  body: string | Buffer,
  held?: HeldBytes,
) => boolean;

/**
 * Calls `send` at most once, and is true if that sent the answer; false leaves the piece to the HTTP server. A promise
 * holds the connection until then: nothing more is read of it. Never throws or rejects.
 */
export type AnswerPlainly = (piece: Buffer, send: SendPlainly) => boolean | Promise<boolean>;

export interface PlainTimes {
  /** A reader that takes nothing of its answer for so long is cut. */
  readonly stalledMs: number;
}

export interface PlainOptions extends PlainTimes {
  readonly answer: AnswerPlainly;
}

export function plainConnections(options: PlainOptions): OpenConnectionHandler {
  return (full, clock) => createPlainConnections(options, full, clock);
}

function createPlainConnections(options: PlainOptions, full: FullServer, clock: Clock): ConnectionHandler {
  const connections = new Map<Socket, PlainConnection>();
  const scratch = createScratch();
  let isShut = false;
  return {
    accept: (socket) => {
      const forget = (): void => void connections.delete(socket);
      connections.set(
        socket,
        handleConnection(socket, options, { full, clock, scratch, forget, isShut: () => isShut }),
      );
    },
    shut: () => {
      isShut = true;
      for (const [socket, connection] of connections) if (!connection.isSending()) socket.destroy();
    },
    cut: () => {
      for (const socket of connections.keys()) socket.destroy();
    },
  };
}

/** Memory that joins head and body: one write costs less than two, and copying next to nothing. */
interface Scratch {
  readonly length: number;
  fill(head: string, lastFields: string, body: string | Buffer): Buffer;
  /** What was filled last stays as it is. */
  renew(): void;
}

const scratchBytes = 64 * 1024;
const nothing = Buffer.alloc(0);

function createScratch(): Scratch {
  let memory = Buffer.allocUnsafeSlow(scratchBytes);
  return {
    length: scratchBytes,
    fill: (head, lastFields, body) => {
      const headBytes = memory.write(head, 0, 'latin1') + memory.write(lastFields, head.length, 'latin1');
      if (typeof body === 'string')
        return memory.subarray(0, headBytes + memory.write(body, headBytes, 'latin1'));
      memory.set(body, headBytes);
      return memory.subarray(0, headBytes + body.length);
    },
    renew: () => {
      memory = Buffer.allocUnsafeSlow(scratchBytes);
    },
  };
}

interface ConnectionContext {
  readonly full: FullServer;
  readonly clock: Clock;
  readonly scratch: Scratch;
  readonly forget: () => void;
  readonly isShut: () => boolean;
}

interface PlainConnection {
  readonly isSending: () => boolean;
}

function handleConnection(
  socket: Socket,
  { answer, stalledMs }: PlainOptions,
  { full, clock, scratch, forget, isShut }: ConnectionContext,
): PlainConnection {
  /** An answer is being made, and was not sent yet. */
  let isWaiting = false;
  /** There while the system has not taken the whole answer. */
  let sending: { readonly held: HeldBytes | undefined } | undefined;

  const taken = (): void => {
    if (sending === undefined || socket.writableLength > 0) return;
    sending.held?.release();
    sending = undefined;
    readOn();
  };

  const readOn = (): void => {
    if (isShut()) {
      ignoreInput();
      socket.end();
      return;
    }
    socket.setTimeout(full.idleMs());
    socket.resume();
  };

  const send: SendPlainly = (head, lastFields, body, held) => {
    if (isWaiting && (socket.destroyed || full.isDraining())) return false;
    const isCopied = head.length + lastFields.length + body.length <= scratch.length;
    if (isCopied) {
      socket.write(scratch.fill(head, lastFields, body));
      // The socket still sends from it; the next answer gets other memory.
      if (socket.writableLength > 0) scratch.renew();
    } else {
      socket.cork();
      socket.write(head + lastFields, 'latin1');
      socket.write(body);
      socket.uncork();
    }
    if (socket.writableLength === 0) return true;
    if (!isCopied) held?.hold();
    sending = { held: isCopied ? undefined : held };
    socket.pause();
    socket.setTimeout(0);
    // Most answers are taken at once: a callback of theirs would cost a turn of the queue each.
    socket.write(nothing, taken);
    cutWhenStalled(socket, stalledMs, clock);
    return true;
  };

  const read = (piece: Buffer): void => {
    const answered = !full.isDraining() && answer(piece, send);
    if (typeof answered !== 'boolean') {
      void wait(piece, answered);
    } else if (!answered) {
      handOver(piece);
    }
  };

  const wait = async (piece: Buffer, answered: Promise<boolean>): Promise<void> => {
    isWaiting = true;
    socket.pause();
    socket.setTimeout(0);
    const isAnswered = await answered;
    isWaiting = false;
    if (socket.destroyed) return;
    if (!isAnswered) handOver(piece);
    else if (sending === undefined) readOn();
  };

  /** Further input is read and dropped: unread, its end would not be seen, and the connection would stay. */
  const ignoreInput = (): void => void socket.off('data', read).resume();

  const end = (): void => void socket.end();
  // Without a 408 also before the first request: a balancer opens connections ahead, and would take it for an answer.
  const timeout = (): void => full.letGo(socket);
  // Without a listener, a connection's error would end the process; `close` follows.
  const ignore = (): void => {};
  const close = (): void => {
    forget();
    sending?.held?.release();
    sending = undefined;
  };

  const handOver = (piece: Buffer): void => {
    socket.off('data', read).off('end', end).off('timeout', timeout).off('error', ignore).off('close', close);
    forget();
    socket.setTimeout(0);
    // Paused first: a flowing stream without a listener would lose the piece.
    socket.pause();
    socket.unshift(piece);
    full.takeOver(socket);
    socket.resume();
  };

  socket.setTimeout(full.idleMs());
  socket.on('data', read).on('end', end).on('timeout', timeout).on('error', ignore).on('close', close);
  return { isSending: () => isWaiting || sending !== undefined };
}
