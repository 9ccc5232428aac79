// A registry whose answers a test writes, on a loopback port, and a client of it whose pauses pass at once. For faults of
// the network and of hostile servers only; the real registry is in test/integration/mirror.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Carrier, Descriptor, OpenBytes } from '#mirror/carrier.ts';
import type { MirrorErrorCode } from '#mirror/mirror-error.ts';
import { openRegistry, type RegistryOptions } from '#mirror/registry/registry-client.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type Storage, type StorageAnswer, startStorage } from '../../../support/storage-server.ts';

/** No message may hold it. */
export const password = 'hunter2-of-the-registry';
export const login = { kind: 'password', username: 'bot', password } as const;
export const never = new AbortController().signal;
export const noProxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };

const opened: { close(): Promise<void> }[] = [];

/** For `afterEach` of each file that opens something. */
export async function closeOpened(): Promise<void> {
  for (const one of opened.splice(0)) await one.close();
}

/** Odd, so that the clock knows a limit from a pause. */
const limits = { idleTimeoutMs: 20_001, answerTimeoutMs: 20_002, transferTimeoutMs: 20_003 };

export interface ScriptedRegistry {
  readonly carrier: Carrier;
  readonly requests: readonly IncomingMessage[];
  /** Host and port. */
  readonly host: string;
  /** Of all pauses between attempts, in ms. */
  readonly pauses: readonly number[];
}

export type Overrides = Partial<RegistryOptions> & {
  readonly tls?: { readonly cert: string; readonly key: string };
};

export async function serve(answer: StorageAnswer, tls?: Overrides['tls']): Promise<Storage> {
  const server = await startStorage(answer, tls);
  opened.push(server);
  return server;
}

export async function startRegistry(
  answer: StorageAnswer,
  overrides: Overrides = {},
): Promise<ScriptedRegistry> {
  const { tls, ...options } = overrides;
  const server = await serve(answer, tls);
  const host = server.origin.replace(/^https?:\/\//, '');
  const pauses: number[] = [];
  const carrier = openClient(`oci://${host}/docs/site`, {
    isHttpAllowed: tls === undefined,
    clock: hastyClock(pauses),
    ...options,
  });
  return { carrier, requests: server.requests, host, pauses };
}

export function openClient(repository: string, overrides: Partial<RegistryOptions> = {}): Carrier {
  const carrier = openRegistry({
    repository,
    credentials: undefined,
    allowPrivateAddresses: true,
    isHttpAllowed: true,
    extraCaPem: undefined,
    proxy: noProxy,
    userAgent: 'static-export-operator/test',
    clock: systemClock,
    ...overrides,
    limits: { ...limits, ...overrides.limits },
  });
  opened.push(carrier);
  return carrier;
}

/** Time limits are real, and pauses pass at once. */
export function hastyClock(pauses: number[] = []): Clock {
  const isLimit = (ms: number): boolean => ms % 1000 !== 0;
  return {
    ...systemClock,
    after: async (ms, signal) => {
      if (isLimit(ms)) return systemClock.after(ms, signal);
      signal?.throwIfAborted();
      pauses.push(ms);
    },
  };
}

export function blobOf(bytes: Buffer): Descriptor {
  const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
  return { mediaType: 'application/octet-stream', digest, size: bytes.length };
}

/** The source of an upload, in pieces. */
export const sourceOf = (...pieces: readonly Buffer[]): OpenBytes =>
  async function* () {
    yield* pieces;
  };

/** @returns the error, which holds no credentials, no address with a query and no body */
export async function faultOf(work: Promise<unknown>, code: MirrorErrorCode): Promise<PublishableError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof PublishableError, String(error));
    assert.equal(error.code, code, error.message);
    assert.doesNotMatch(error.message, /hunter2|secret|https?:\/\/|\?/);
    assert.match(error.message, /^[A-Z][^\n]*\.$/, 'a sentence');
    for (const sentence of error.message.split(/(?<=\.) /)) {
      assert.ok(sentence.split(' ').length <= 26, `${sentence.split(' ').length} words: ${sentence}`);
    }
    return error;
  }
  return assert.fail('it should have failed');
}

export async function readAll(carrier: Carrier, blob: Descriptor, signal = never): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(carrier.readBlob(blob, signal)));
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(request));
}

/** In the registry's own form. */
export function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  message = 'secret words of the registry',
): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ errors: [{ code, message }] }));
}

/** What was asked, as `METHOD /path?query`. */
export const linesOf = (requests: readonly IncomingMessage[]): readonly string[] =>
  requests.map(({ method, url }) => `${method} ${url?.replace('/v2/docs/site/', '')}`);
