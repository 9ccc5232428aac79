// Asking another server of the same site: what it has of a bundle, and for its copy. Peers are addresses that the
// program's own user named, so internal ones are fine here; redirects are not followed, proxies not used.
// Invariant: every wait is bounded: to connect, to the first byte, between two, and for the whole copy.

import { Agent, type Dispatcher, request } from 'undici';
import { z } from 'zod';
import type { Clock } from '../runtime/clock.ts';
import { publishableCode } from '../wire/publishable-error.ts';
import { copyRefused, maxIndexBytes, readCopyIndex, receiveCopy } from './bundle-copy.ts';
import { BundleError } from './bundle-error.ts';
import type { BundleLimits } from './limits.ts';

/** `claiming`: about to fetch by link unless somebody else is; `fetching`: at it. */
export const peerStates = ['none', 'claiming', 'fetching', 'have'] as const;
export type PeerState = (typeof peerStates)[number];

/** What a server says of one digest. */
export interface PeerWord {
  /** Of the server's run, so that each can tell itself among the addresses. */
  readonly id: string;
  readonly state: PeerState;
  /** By link, so far. */
  readonly receivedBytes: number;
}

export interface PeerClientOptions {
  readonly clock: Clock;
  readonly limits: BundleLimits;
  readonly storeDir: string;
  readonly userAgent: string;
}

export interface PeerClient {
  /** @returns `undefined` when it does not answer in time, or not as a peer does. Never rejects, but for the signal. */
  ask(origin: string, digest: string, signal: AbortSignal): Promise<PeerWord | undefined>;
  /**
   * Takes the peer's copy into the store.
   *
   * @param copyName unique, names the folder while it is on its way
   * @throws {BundleError} `CopyRefused` (it lied), `PeerBusy`, `PeerLost` (gone, slow or silent), the store's faults
   */
  take(origin: string, digest: string, copyName: string, watcher: CopyWatcher): Promise<void>;
  close(): Promise<void>;
}

export interface CopyWatcher {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: { readonly receivedBytes: number; readonly files: number }) => void;
}

const wordShape = z.object({
  id: z.string().min(1).max(64),
  state: z.enum(peerStates),
  receivedBytes: z.number().nonnegative(),
});

const askTimeoutMs = 2_000;
const silenceMs = 5_000;
const maxWordBytes = 1024;
/** A copy slower than this is no help: the link is as good. */
const leastBytesPerSecond = 1024 * 1024;
const copyGraceMs = 10_000;

export function createPeerClient(options: PeerClientOptions): PeerClient {
  const { clock, limits, storeDir, userAgent } = options;
  const dispatcher = new Agent({
    allowH2: false,
    connect: { timeout: askTimeoutMs },
    headersTimeout: silenceMs,
    bodyTimeout: silenceMs,
  });
  const get = (origin: string, path: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> =>
    request(`${origin}${path}`, { dispatcher, signal, headers: { 'user-agent': userAgent } });

  return {
    ask: async (origin, digest, signal) => {
      const deadline = clock.deadline(askTimeoutMs, signal);
      try {
        const answer = await get(origin, `/peers/${digest}`, deadline);
        const text = await readText(answer, maxWordBytes);
        return answer.statusCode === 200 ? wordShape.parse(JSON.parse(text)) : undefined;
      } catch {
        signal.throwIfAborted();
        return undefined;
      }
    },
    take: async (origin, digest, copyName, { signal, onProgress }) => {
      let deadline = clock.deadline(copyGraceMs, signal);
      try {
        const answer = await get(origin, `/peers/${digest}/index`, deadline);
        requireOk(answer);
        const document = readCopyIndex(await readText(answer, maxIndexBytes(limits)), digest, limits);
        if (document === undefined) throw copyRefused();
        const copyMs = copyGraceMs + (document.packBytes / leastBytesPerSecond) * 1000;
        deadline = clock.deadline(copyMs, signal);
        const pack = await get(origin, `/peers/${digest}/pack`, deadline);
        requireOk(pack);
        const files = document.index.files.length;
        let receivedBytes = 0;
        const counted = chunksOf(pack, (count) => {
          receivedBytes += count;
          onProgress({ receivedBytes, files });
        });
        await receiveCopy(storeDir, copyName, document, counted);
      } catch (error) {
        signal.throwIfAborted();
        throw error instanceof BundleError ? error : lost(error);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

async function* chunksOf(
  answer: Dispatcher.ResponseData,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of answer.body) {
      if (!(chunk instanceof Buffer)) continue;
      count(chunk.length);
      yield chunk;
    }
  } finally {
    answer.body.on('error', () => {}).destroy();
  }
}

/** @throws {BundleError} `CopyRefused` for more than the bound */
async function readText(answer: Dispatcher.ResponseData, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(answer, () => {})) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw copyRefused();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @throws {BundleError} */
function requireOk(answer: Dispatcher.ResponseData): void {
  if (answer.statusCode === 200) return;
  answer.body.on('error', () => {}).destroy();
  if (answer.statusCode === 503) {
    throw new BundleError('transient', 'PeerBusy', 'the other server hands its copy to others just now');
  }
  throw lost(undefined);
}

function lost(cause: unknown): BundleError {
  const code = cause === undefined ? 'no copy' : publishableCode(cause);
  return new BundleError('transient', 'PeerLost', `the other server gave no whole copy in time (${code})`, {
    cause,
  });
}
