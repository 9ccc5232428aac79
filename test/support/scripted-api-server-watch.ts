// One watch of the scripted API server: an answer without an end, and the ways in which it may end after all.
// Owns the framing of watch events; sends what it is told, sense or nonsense.

import type { ServerResponse } from 'node:http';

export interface ScriptedObject {
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly generation: number;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

export interface OpenWatch {
  /** The place that it was asked to begin from. */
  readonly from: number;
  readonly query: URLSearchParams;
  isOpen(): boolean;
  send(type: string, object: object): void;
  /** Any bytes at all. */
  write(text: string): void;
  bookmark(version: number): void;
  /** In order, as after `timeoutSeconds`. */
  end(): void;
}

export function openWatch(from: number, query: URLSearchParams, response: ServerResponse): OpenWatch {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  const isOpen = (): boolean => !response.writableEnded && !response.destroyed;
  const write = (text: string): void => {
    if (isOpen()) response.write(text);
  };
  const send = (type: string, object: object): void => write(`${JSON.stringify({ type, object })}\n`);
  return {
    from,
    query,
    isOpen,
    send,
    write,
    bookmark: (version) => send('BOOKMARK', { metadata: { resourceVersion: String(version) } }),
    end: () => response.end(),
  };
}
