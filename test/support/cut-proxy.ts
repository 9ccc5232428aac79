// A TCP proxy on loopback that counts pieces of data in both directions and stops at one of them: before it is passed on, or
// when the other side has it. Then nothing passes any more, and the caller is told to end the client. So a test stops a
// program at each of its waits for a network, the middle of a body included.

import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { portOf } from './storage-server.ts';

export interface Cut {
  /** The piece, counted from 0. */
  readonly at: number;
  readonly moment: 'before' | 'after';
  /** Ends the client. The connections stay open until it resolves. */
  readonly end: () => Promise<void>;
}

export interface CutProxy {
  /** Host and port. */
  readonly host: string;
  /** Pieces so far. */
  readonly pieces: () => number;
  close(): Promise<void>;
}

/**
 * @param host of the server behind it, with its port
 * @param cut `undefined`: counts only
 */
export async function startCutProxy(host: string, cut?: Cut): Promise<CutProxy> {
  const [address = '', port = ''] = host.split(':');
  const sockets = new Set<Socket>();
  let pieces = 0;
  let isCut = false;

  const breakOff = async (end: () => Promise<void>): Promise<void> => {
    isCut = true;
    await end();
    for (const socket of sockets) socket.destroy();
  };
  const forward = (from: Socket, to: Socket): void => {
    from.on('data', (piece) => {
      if (isCut) return;
      const isLast = pieces === cut?.at;
      pieces += 1;
      if (isLast && cut?.moment === 'before') void breakOff(cut.end);
      else if (!isLast) to.write(piece);
      else {
        // What comes from now on is later than the last piece.
        isCut = true;
        to.write(piece, () => void breakOff(cut.end));
      }
    });
    from.on('error', () => {});
    from.on('end', () => to.end());
    from.on('close', () => {
      sockets.delete(from);
      if (!isCut) to.destroy();
    });
  };
  const server = createServer((client) => {
    const upstream = connect(Number(port), address);
    for (const socket of [client, upstream]) sockets.add(socket.setNoDelay(true));
    forward(client, upstream);
    forward(upstream, client);
  });
  server.listen(0, address);
  await once(server, 'listening');
  return {
    host: `${address}:${portOf(server)}`,
    pieces: () => pieces,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}
