// Ports for programs that must be told theirs. Outside of the range from which the kernel gives ports to connections:
// in between, a connection of any other process could take a port that was free. Each process starts elsewhere.

import { createServer } from 'node:net';

const firstPort = 10_000;
const portCount = 20_000;
let next = (process.pid * 97) % portCount;

export async function findFreePort(host = '127.0.0.1'): Promise<number> {
  for (let tries = 0; tries < portCount; tries += 1) {
    const port = firstPort + next;
    next = (next + 1) % portCount;
    if (await isFree(port, host)) return port;
  }
  throw new Error(`no port of ${host} is free`);
}

function isFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}
