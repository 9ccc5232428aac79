// The way to a server, as TCP sees it: bytes pass, or vanish without a word, or one end is gone and the other was
// never told. Knows nothing of what it carries. Invariant: what went dark stays dark; only new connections recover.

import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';

export interface NetworkPath {
  readonly port: number;
  /** Connections that are carried or stuck right now. */
  open(): number;
  /** Nothing gets through any more in either direction, on these connections and on new ones. */
  goDark(): void;
  /** New connections pass again. */
  restore(): void;
  /** The server's ends close; the client's stay as if nothing had happened. */
  halfOpen(): void;
  /** RST to the client. */
  reset(): void;
  close(): Promise<void>;
}

interface Carried {
  readonly client: Socket;
  readonly server: Socket;
  isDark: boolean;
}

export async function startNetworkPath(targetPort: number): Promise<NetworkPath> {
  const carried = new Set<Carried>();
  let isDark = false;
  const listener = createServer((client) => {
    const one: Carried = { client, server: connect(targetPort, '127.0.0.1'), isDark };
    carried.add(one);
    const relay = (from: Socket, to: Socket): void => {
      from.on('error', () => {});
      from.on('data', (chunk: Buffer) => {
        if (!one.isDark) to.write(chunk);
      });
      from.on('close', () => {
        if (!one.isDark) to.destroy();
        if (one.client.destroyed) carried.delete(one);
      });
    };
    relay(client, one.server);
    relay(one.server, client);
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const address = listener.address();
  assert.ok(typeof address === 'object' && address !== null);
  return {
    port: address.port,
    open: () => carried.size,
    goDark: () => {
      isDark = true;
      for (const one of carried) one.isDark = true;
    },
    restore: () => {
      isDark = false;
    },
    halfOpen: () => {
      for (const one of carried) {
        one.isDark = true;
        one.server.destroy();
      }
    },
    reset: () => {
      for (const { client } of carried) client.resetAndDestroy();
    },
    close: async () => {
      for (const { client, server } of carried) {
        client.destroy();
        server.destroy();
      }
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
