// Sends one request to another server of the same site and reads its body within a bound. The program's user named the
// peers, so internal addresses are allowed here. Redirects are not followed, proxies not used. Invariant: every wait is
// bounded: to connect, to the first byte, between two.

import { Agent, type Dispatcher } from 'undici';
import type { Bytes } from '../byte-stream.ts';
import { copyRefused } from './bundle-copy.ts';

export type PeerAnswer = Dispatcher.ResponseData;

export interface PeerConnection {
  /** @param path from the peer's root, such as `/peers/…` */
  get(origin: string, path: string, signal: AbortSignal): Promise<PeerAnswer>;
  close(): Promise<void>;
}

const connectTimeoutMs = 2_000;
const silenceMs = 5_000;

export function openPeerConnection(userAgent: string): PeerConnection {
  const dispatcher = new Agent({
    allowH2: false,
    connect: { timeout: connectTimeoutMs },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  });
  return {
    get: (origin, path, signal) =>
      dispatcher.request({ origin, path, method: 'GET', signal, headers: { 'user-agent': userAgent } }),
    close: () => dispatcher.destroy(),
  };
}

/** The body as it arrives; a consumer that stops early ends the connection. */
export async function* chunksOf(answer: PeerAnswer): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of answer.body) if (chunk instanceof Buffer) yield chunk;
  } finally {
    answer.body.on('error', () => {}).destroy();
  }
}

/** @throws {BundleError} `CopyRefused` for more than the bound; what the bytes' source throws */
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
