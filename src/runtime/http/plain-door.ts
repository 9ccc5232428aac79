// Connections before the full HTTP server has them. What comes in one piece and can be answered at once is answered
// here, without the objects that the full server makes of a request; at the first piece that is anything else the
// connection goes to the full server with that piece unread, and stays there. Owns such a connection's life: idle
// times, a reader that stalls, its end. Refuses: knowing HTTP, which is the answerer's, and answering ahead of a reader.
// Invariant: one answer at a time; the next piece is looked at when the system has taken the answer before it.

import type { Socket } from 'node:net';
import type { Clock } from '../clock.ts';
import { cutWhenStalled } from './stalled-reader.ts';

/** Bytes of an answer that stay as they are between `hold` and `release`. */
export interface HeldBytes {
  hold(): void;
  release(): void;
}

/** @param head ASCII. @param body `''` for none. @param held when the body is somebody else's memory */
export type SendPlainly = (head: string, body: string | Buffer, held?: HeldBytes) => void;

/** Calls `send` once before it returns true; false leaves the piece to the full server. Never throws. */
export type AnswerPlainly = (piece: Buffer, send: SendPlainly) => boolean;

export interface PlainDoorOptions {
  readonly answer: AnswerPlainly;
  /** Nothing was ever asked for so long. */
  readonly silentMs: number;
  /** Between two requests. */
  readonly idleMs: number;
  /** A reader that takes nothing of its answer for so long is let go. */
  readonly stalledMs: number;
}

export interface FullServer {
  /** Takes the connection over, what was not read of it included. */
  takeOver(socket: Socket): void;
  /** Tells a client that never asked that it waited too long, and ends the connection, whatever the client does. */
  refuseSilent(socket: Socket): void;
  /** From then on every request is for the full server, which says that it is the last. */
  isDraining(): boolean;
  /** Ends a connection that was idle for too long. */
  letGo(socket: Socket): void;
}

export interface PlainDoor {
  accept(socket: Socket): void;
  /** Ends what is idle now, and the others after the answer under way. */
  shut(): void;
  /** Ends everything. */
  cut(): void;
}

export function createPlainDoor(options: PlainDoorOptions, full: FullServer, clock: Clock): PlainDoor {
  const connections = new Map<Socket, PlainConnection>();
  const scratch = createScratch();
  let isShut = false;
  return {
    accept: (socket) => {
      const forget = (): void => void connections.delete(socket);
      connections.set(
        socket,
        attend(socket, options, { full, clock, scratch, forget, isShut: () => isShut }),
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

/** Memory that answers are put together in, head and body: one write costs less than two, and copying next to nothing. */
interface Scratch {
  readonly length: number;
  fill(head: string, body: string | Buffer): Buffer;
  /** What was filled last stays as it is. */
  renew(): void;
}

const scratchBytes = 64 * 1024;

function createScratch(): Scratch {
  let memory = Buffer.allocUnsafeSlow(scratchBytes);
  return {
    length: scratchBytes,
    fill: (head, body) => {
      const headBytes = memory.write(head, 0, 'latin1');
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

interface Surroundings {
  readonly full: FullServer;
  readonly clock: Clock;
  readonly scratch: Scratch;
  readonly forget: () => void;
  readonly isShut: () => boolean;
}

interface PlainConnection {
  readonly isSending: () => boolean;
}

function attend(
  socket: Socket,
  { answer, silentMs, idleMs, stalledMs }: PlainDoorOptions,
  { full, clock, scratch, forget, isShut }: Surroundings,
): PlainConnection {
  let hasAsked = false;
  /** There while the system has not taken the whole answer. */
  let sending: { readonly held: HeldBytes | undefined } | undefined;

  const taken = (): void => {
    if (sending === undefined || socket.writableLength > 0) return;
    sending.held?.release();
    sending = undefined;
    if (isShut()) {
      listenNoMore();
      socket.end();
      return;
    }
    socket.setTimeout(idleMs);
    socket.resume();
  };

  const send: SendPlainly = (head, body, held) => {
    const isCopied = head.length + body.length <= scratch.length;
    if (isCopied) {
      const bytes = scratch.fill(head, body);
      socket.write(bytes, taken);
      // Not ours any more; the next answer gets other memory.
      if (socket.writableLength > 0) scratch.renew();
    } else {
      socket.cork();
      socket.write(head, 'latin1');
      socket.write(body, taken);
      socket.uncork();
    }
    if (socket.writableLength === 0) return;
    if (!isCopied) held?.hold();
    sending = { held: isCopied ? undefined : held };
    socket.pause();
    socket.setTimeout(0);
    cutWhenStalled(socket, stalledMs, clock);
  };

  const read = (piece: Buffer): void => {
    if (full.isDraining() || !answer(piece, send)) {
      leave(piece);
    } else if (!hasAsked) {
      hasAsked = true;
      if (sending === undefined) socket.setTimeout(idleMs);
    }
  };

  /** What still comes is read and forgotten: unread, its end would not be seen, and the connection would stay. */
  const listenNoMore = (): void => void socket.off('data', read).resume();

  const end = (): void => void socket.end();
  const timeout = (): void => {
    if (hasAsked) {
      full.letGo(socket);
    } else {
      listenNoMore();
      socket.setTimeout(0);
      full.refuseSilent(socket);
    }
  };
  // Without a listener, an error of the connection would be one of the process; `close` follows.
  const ignore = (): void => {};
  const close = (): void => {
    forget();
    sending?.held?.release();
    sending = undefined;
  };

  const leave = (piece: Buffer): void => {
    socket.off('data', read).off('end', end).off('timeout', timeout).off('error', ignore).off('close', close);
    forget();
    socket.setTimeout(0);
    // Stopped first: a stream that flows would have nobody to give the piece to.
    socket.pause();
    socket.unshift(piece);
    full.takeOver(socket);
    socket.resume();
  };

  socket.setTimeout(silentMs);
  socket.on('data', read).on('end', end).on('timeout', timeout).on('error', ignore).on('close', close);
  return { isSending: () => sending !== undefined };
}
