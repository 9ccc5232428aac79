// A reader of the demo's sites: plain GET requests over connections that stay open, as a browser's do. Owns its connections.
// Refuses proxies of the environment, because all of the demo is on this machine.

import { Agent, get, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Clock } from '#platform/runtime/clock.ts';

export interface VisitorAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface Visitor {
  /** The whole answer. @throws the system's error where there is none, a `TimeoutError` after 10 s */
  open(url: string, headers?: Readonly<Record<string, string>>): Promise<VisitorAnswer>;
  close(): void;
}

const timeoutMs = 10_000;

export function createVisitor(clock: Clock): Visitor {
  const agent = new Agent({ keepAlive: true });
  return {
    open: (url, headers = {}) =>
      new Promise((resolve, reject) => {
        const request = get(url, { agent, headers, signal: clock.deadline(timeoutMs) }, (response) => {
          buffer(response).then((body) => {
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
          }, reject);
        });
        request.on('error', reject);
      }),
    close: () => agent.destroy(),
  };
}
