// A relay between a program and a server: records every request with its text, and holds an answer until the test
// releases it, so that it arrives at a chosen moment. Changes no byte.

import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type ServerResponse, request as sendHttp } from 'node:http';
import { request as sendHttps } from 'node:https';
import { pipeline } from 'node:stream/promises';

export interface RelayedRequest {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface Relay {
  readonly url: string;
  readonly requests: readonly RelayedRequest[];
  /** Selects the requests whose answer is held. */
  hold: (request: RelayedRequest) => boolean;
  /** Requests whose answer has arrived and is held. */
  readonly held: readonly RelayedRequest[];
  /** Releases all held answers. */
  release(): void;
  close(): Promise<void>;
}

/** @param caPem of a server that speaks TLS; the relay does not */
export async function startRelay(target: string, caPem?: string): Promise<Relay> {
  const requests: RelayedRequest[] = [];
  const held: RelayedRequest[] = [];
  const released = Promise.withResolvers<void>();
  const { protocol, host } = new URL(target);

  const ask = async (
    incoming: IncomingMessage,
    body: string,
    response: ServerResponse,
  ): Promise<IncomingMessage> => {
    const send = protocol === 'https:' ? sendHttps : sendHttp;
    const url = new URL(incoming.url ?? '', target);
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = send(
      url,
      { method: incoming.method, headers: { ...incoming.headers, host }, ca: caPem },
      resolve,
    );
    outgoing.on('error', reject);
    // The client has disconnected, and a watch would not end.
    response.once('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    outgoing.end(body);
    return promise;
  };
  const pass = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    let body = '';
    for await (const chunk of incoming) body += String(chunk);
    const seen = { method: incoming.method ?? '', path: incoming.url ?? '', body };
    requests.push(seen);
    const isHeld = relay.hold(seen);
    const answer = await ask(incoming, body, response);
    if (isHeld) {
      held.push(seen);
      await released.promise;
    }
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    response.flushHeaders();
    await pipeline(answer, response);
  };
  const server = createServer((incoming, response) => {
    // Either side may disconnect at any time, as without a relay.
    pass(incoming, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const relay: Relay = {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    hold: () => false,
    held,
    release: released.resolve,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return relay;
}
