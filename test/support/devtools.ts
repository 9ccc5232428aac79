// The protocol of Chromium's developer tools over its WebSocket: calls with their answers, and events by session.
// Invariant: a call ends, with an answer, an error, or the end of the connection.

import { z } from 'zod';

export interface DevtoolsEvent {
  readonly method: string;
  readonly params: unknown;
}

export interface Devtools {
  /** @throws Error with the browser's own words */
  call(method: string, parameters: object, sessionId?: string): Promise<unknown>;
  /** One listener for each session. */
  listen(sessionId: string, listener: (event: DevtoolsEvent) => void): void;
  close(): void;
}

const message = z.object({
  id: z.number().optional(),
  result: z.unknown().optional(),
  error: z.object({ message: z.string() }).optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
  sessionId: z.string().optional(),
});

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** @param url as the browser prints it when it starts */
export async function connectDevtools(url: string): Promise<Devtools> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, Waiting>();
  const listeners = new Map<string, (event: DevtoolsEvent) => void>();
  let calls = 0;
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('error', () => reject(new Error('the browser cannot be reached')), {
      once: true,
    });
  });
  socket.addEventListener('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('the browser is gone'));
    waiting.clear();
  });
  socket.addEventListener('message', ({ data }) => {
    const { id, result, error, method, params, sessionId } = message.parse(JSON.parse(String(data)));
    if (id === undefined) {
      if (method !== undefined) listeners.get(sessionId ?? '')?.({ method, params });
      return;
    }
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(error.message));
  });
  return {
    call: (method, params, sessionId) => {
      calls += 1;
      const id = calls;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) }));
      return promise;
    },
    listen: (sessionId, listener) => {
      listeners.set(sessionId, listener);
    },
    close: () => socket.close(),
  };
}
