// Readers who take too little, of one kind and so many: `node test/bench/server/slow-reader-client.ts PORT KIND COUNT`.
// A program of its own, so that its pauses are not measured as the server's. Prints `open` when all have asked, and at
// SIGTERM how many the server has closed meanwhile. Ends by itself after five minutes.

import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const request = (target: string, more = ''): string => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;

interface Kind {
  /** @param at which reader it is */
  readonly send: (at: number) => string;
  /** How it reads what comes; nothing at all where this is left out. */
  readonly read?: (socket: Socket) => void;
}

const readAll = (socket: Socket): void => void socket.resume();

/** Once a second, one byte. */
function readSlowly(socket: Socket): void {
  const timer = setInterval(() => void socket.read(1), 1000);
  socket.once('close', () => clearInterval(timer));
}

const kinds: Readonly<Record<string, Kind>> = {
  large: { send: () => request('/large.bin') },
  medium: { send: (at) => request(`/medium-${at % 40}.bin`) },
  pipelined: { send: () => request('/page-1.html').repeat(64) },
  ahead: { send: () => request('/large.bin') + request('/page-1.html').repeat(2000) },
  last: { send: (at) => request(`/medium-${at % 40}.bin`, 'Connection: close\r\n') },
  heads: { send: () => 'GET /page-1.html HTTP/1.1\r\nHost: a\r\nX-Never: ' },
  idle: { send: () => request('/page-1.html'), read: readAll },
  http10: { send: () => 'GET /large.bin HTTP/1.0\r\n\r\n' },
  trickle: { send: () => request('/large.bin'), read: readSlowly },
};

const [port = '0', name = '', count = '0'] = process.argv.slice(2);
const kind = kinds[name];
if (kind === undefined) throw new Error(`not a kind of reader: ${name}; there are ${Object.keys(kinds)}`);

let closed = 0;
process.once('SIGTERM', () => {
  console.log(`closed ${closed}`);
  process.exit(0);
});
const opening = new Set<Socket>();
for (let at = 0; at < Number(count); at += 1) {
  const socket = connect(Number(port), '127.0.0.1');
  socket.pause();
  opening.add(socket);
  socket.once('connect', () => {
    opening.delete(socket);
    socket.write(kind.send(at));
    kind.read?.(socket);
  });
  socket.on('error', () => {});
  socket.once('close', () => {
    opening.delete(socket);
    closed += 1;
  });
  // In bursts that a listening socket can queue.
  if (at % 100 === 99) await sleep(50);
}
const latestMs = performance.now() + 60_000;
while (opening.size > 0 && performance.now() < latestMs) await sleep(50);
console.log(`open ${opening.size === 0 ? '' : `, but ${opening.size} not`}`);
await sleep(300_000);
process.exit(1);
