// A client that asks at a constant rate whatever the answers take (an open loop): a request that waits for a free
// connection has been waiting since it was due. Runs as a program of its own, so that its pauses are its own:
// `node test/bench/server/steady-client.ts PORT PATHS-FILE REQUESTS-A-SECOND SECONDS CONNECTIONS`; SIGTERM ends it early.
// Prints one line of JSON at its end.

import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SteadyResult {
  readonly answers: number;
  readonly failures: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly slowestMs: number;
  /** Answers that took longer than 30 ms. */
  readonly above30Ms: number;
  /** Requests that were due and not answered when it ended. */
  readonly unanswered: number;
}

interface Connection {
  readonly socket: Socket;
  /** When the request under way was due; `undefined` while there is none. */
  dueMs: number | undefined;
  head: string;
  /** Of the answer's body; negative while its head is read. */
  bytesLeft: number;
}

const [port = '0', pathsFile = '', rate = '1', seconds = '1', connectionCount = '1'] = process.argv.slice(2);
const perMs = Number(rate) / 1000;
const requests = readFileSync(pathsFile, 'utf8')
  .trim()
  .split('\n')
  .map((path) => Buffer.from(`GET ${path} HTTP/1.1\r\nHost: docs.example.com\r\n\r\n`));

const free: Connection[] = [];
const waiting: number[] = [];
const tookMs: number[] = [];
let failures = 0;
let asked = 0;
let isOver = false;
process.once('SIGTERM', () => {
  isOver = true;
});

function send(connection: Connection, dueMs: number): void {
  connection.dueMs = dueMs;
  connection.head = '';
  connection.bytesLeft = -1;
  connection.socket.write(requests[asked++ % requests.length] ?? '');
}

function take(connection: Connection, piece: Buffer): void {
  let bodyBytes = piece.length;
  if (connection.bytesLeft < 0) {
    connection.head += piece.toString('latin1');
    const end = connection.head.indexOf('\r\n\r\n');
    if (end < 0) return;
    if (!connection.head.startsWith('HTTP/1.1 200')) failures += 1;
    connection.bytesLeft = Number(/\r\ncontent-length: (\d+)/i.exec(connection.head)?.[1]);
    bodyBytes = connection.head.length - end - 4;
  }
  connection.bytesLeft -= bodyBytes;
  if (connection.bytesLeft > 0 || connection.dueMs === undefined) return;
  tookMs.push(performance.now() - connection.dueMs);
  connection.dueMs = undefined;
  const due = waiting.shift();
  if (due === undefined) free.push(connection);
  else send(connection, due);
}

for (let at = 0; at < Number(connectionCount); at += 1) {
  const connection: Connection = {
    socket: connect(Number(port), '127.0.0.1'),
    dueMs: undefined,
    head: '',
    bytesLeft: -1,
  };
  connection.socket.setNoDelay(true);
  connection.socket.on('data', (piece) => take(connection, piece));
  connection.socket.on('error', () => {
    failures += 1;
  });
  connection.socket.once('connect', () => free.push(connection));
}
await sleep(200);

const startMs = performance.now();
const endMs = startMs + Number(seconds) * 1000;
for (let due = 0; !isOver && performance.now() < endMs; ) {
  const nowMs = performance.now();
  for (; due < (nowMs - startMs) * perMs; due += 1) {
    const connection = free.pop();
    // Due when this loop came round to it: what the client itself was late is not the server's.
    if (connection === undefined) waiting.push(nowMs);
    else send(connection, nowMs);
  }
  // A timer is no finer than 1 ms; at a high rate that would be a burst.
  if (perMs > 1) await new Promise(setImmediate);
  else await sleep(1);
}
await sleep(200);

tookMs.sort((a, b) => a - b);
const percentile = (share: number): number => tookMs[Math.floor((tookMs.length - 1) * share)] ?? Number.NaN;
const result: SteadyResult = {
  answers: tookMs.length,
  failures,
  p50Ms: percentile(0.5),
  p99Ms: percentile(0.99),
  slowestMs: percentile(1),
  above30Ms: tookMs.filter((one) => one > 30).length,
  unanswered: asked - tookMs.length + waiting.length,
};
console.log(JSON.stringify(result));
process.exit(0);
