// Ports for programs that must be told theirs. Outside of the range from which the kernel gives ports to connections:
// in between, a connection of any other process could take a port that was free. Each process claims blocks of ports,
// because another test process could take a port before the program listens on it. Refuses 10080, which `fetch` calls a
// bad port (WHATWG Fetch, "port blocking"): no port above it is one.

import { createServer, type Server } from 'node:net';

const firstPort = 10_200;
const blockSize = 200;
const blockCount = 100;
/** Ports of claimed blocks that were not handed out yet. */
const unused: number[] = [];
let nextBlock = process.pid % blockCount;
let claim: Promise<void> | undefined;

export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const port = unused.shift();
    if (port === undefined) {
      claim ??= claimBlock().finally(() => {
        claim = undefined;
      });
      await claim;
    } else if (await isFree(port, host)) return port;
  }
}

/** A block belongs to the process that listens on its first port, until that process ends. */
async function claimBlock(): Promise<void> {
  for (let attempt = 0; attempt < blockCount; attempt += 1) {
    const first = firstPort + nextBlock * blockSize;
    nextBlock = (nextBlock + 1) % blockCount;
    const server = await listen(first, '127.0.0.1');
    if (server !== undefined) {
      server.unref();
      // Not the same port first each time, because clients keep what they read of a server by its address.
      for (let at = 0; at < blockSize - 1; at += 1)
        unused.push(first + 1 + ((at + process.pid) % (blockSize - 1)));
      return;
    }
  }
  throw new Error('all blocks of ports are claimed');
}

async function isFree(port: number, host: string): Promise<boolean> {
  const server = await listen(port, host);
  if (server === undefined) return false;
  await new Promise((resolve) => server.close(resolve));
  return true;
}

function listen(port: number, host: string): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, host, () => resolve(server));
  });
}
