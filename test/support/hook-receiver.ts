// A receiver of webhooks on loopback: keeps the headers and the body of each request, and answers with the statuses that a
// test gives.

import type { IncomingMessage } from 'node:http';
import { startStorage } from './storage-server.ts';

export interface ReceivedHook {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface HookReceiver {
  readonly origin: string;
  /** In order. */
  readonly received: readonly ReceivedHook[];
  close(): Promise<void>;
}

/** @param statuses of the answers in order; then 204. 0: no answer at all */
export async function startHookReceiver(
  statuses: readonly number[],
  headers: Readonly<Record<string, string>> = {},
): Promise<HookReceiver> {
  const received: ReceivedHook[] = [];
  const left = [...statuses];
  const { origin, close } = await startStorage((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(pieces).toString('utf8') });
      const status = left.shift() ?? 204;
      if (status !== 0) response.writeHead(status, { location: '/elsewhere', ...headers }).end();
    });
  });
  return { origin, received, close };
}
