// Sends one request to another server of the same site and reads its body within a bound. The program's user named the
// peers, so internal addresses are allowed here. Redirects are not followed, proxies not used. Invariant: every wait is
// bounded: to connect, to the first byte, between two.

import { createAgent } from '#platform/http/agent.ts';
import type { HttpAnswer } from '#platform/http/exchange.ts';
import type { Bytes } from '../byte-stream.ts';
import { copyRefused } from './bundle-copy.ts';

export interface PeerConnection {
  /** @param path from the peer's root, such as `/peers/…` */
  get(origin: string, path: string, signal: AbortSignal): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const connectTimeoutMs = 2_000;
const silenceMs = 5_000;

export function openPeerConnection(userAgent: string): PeerConnection {
  const agent = createAgent({ allowPrivateAddresses: true, connectTimeoutMs, idleTimeoutMs: silenceMs });
  return {
    get: (origin, path, signal) =>
      agent.send({ method: 'GET', url: new URL(path, origin), headers: { 'user-agent': userAgent } }, signal),
    close: () => agent.destroy(),
  };
}

/** @throws {PublishableError} `CopyRefused` for more than the bound; what the bytes' source throws */
export async function readText(source: Bytes, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw copyRefused();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
