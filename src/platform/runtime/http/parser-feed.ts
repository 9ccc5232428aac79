// Feeds Node's HTTP parser small pieces of a connection. By default it gets up to 64 KiB and makes objects of every
// request in them before any code can stop it: a thousand for each connection that pipelines. Once the rest is not
// answered, the parser gets nothing more. Refuses to read HTTP. Invariant: the parser gets the bytes of the connection
// in order, and none while the connection is paused.

import type { Socket } from 'node:net';

/** About twenty of the smallest requests; usual ones take some slices each. */
const sliceBytes = 512;

/** @param isOver the rest of what comes is not to be parsed. */
export function feedInSlices(socket: Socket, isOver: () => boolean): void {
  const parsers = socket.listeners('data');
  socket.removeAllListeners('data');
  const feed = (piece: Buffer): void => {
    for (let at = 0; at < piece.length && !socket.destroyed && hasParser(socket); at += sliceBytes) {
      if (socket.isPaused()) {
        socket.unshift(piece.subarray(at));
        return;
      }
      if (isOver()) return;
      for (const parse of parsers) Reflect.apply(parse, socket, [piece.subarray(at, at + sliceBytes)]);
    }
  };
  // A listener for data makes Node's parser leave the handle, which it reads by itself otherwise.
  socket.on('data', feed);
}

/** Gone behind a tunnel that was asked for, and at the end. */
function hasParser(socket: Socket): boolean {
  return typeof Reflect.get(socket, 'parser') === 'object' && Reflect.get(socket, 'parser') !== null;
}
