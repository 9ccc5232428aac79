// The worker's side of taking a copy from a peer: index and pack are asked for, received, hashed and committed
// here, so that the thread that serves does none of it.
// Invariant: it reports exactly one `done` or `failed`, last; before `done` the copy is verified and committed.

import type { Clock } from '../../runtime/clock.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { BundleError } from '../bundle-error.ts';
import type { BundleIndex } from '../bundle-index.ts';
import { type Bytes, watch } from '../byte-stream.ts';
import { reportOf } from '../thread/thread-answer.ts';
import { summaryOf, type ThreadReport } from '../thread/thread-message.ts';
import { copyRefused, receiveCopy } from './bundle-copy.ts';
import { maxIndexBytes, readCopyIndex } from './copy-index.ts';
import type { CopyOrder } from './copy-order.ts';
import { isTooSlow, longestCopyMs } from './copy-pace.ts';
import {
  chunksOf,
  openPeerConnection,
  type PeerAnswer,
  type PeerConnection,
  readText,
} from './peer-connection.ts';

const reportEveryMs = 200;

export interface CopyEdge {
  readonly clock: Clock;
  readonly report: (report: ThreadReport) => void;
}

/**
 * Does the order and reports how it went. Never rejects.
 *
 * @returns the index of what lies in the store now; `undefined` when it failed
 */
export async function runCopy(order: CopyOrder, edge: CopyEdge): Promise<BundleIndex | undefined> {
  const connection = openPeerConnection(order.userAgent);
  try {
    const index = await copy(order, connection, edge);
    edge.report({ type: 'done', summary: summaryOf(index) });
    return index;
  } catch (error) {
    edge.report(reportOf(error instanceof BundleError ? error : lost(error)));
    return undefined;
  } finally {
    await connection.close();
  }
}

async function copy(order: CopyOrder, connection: PeerConnection, edge: CopyEdge): Promise<BundleIndex> {
  const { origin, digest, storeDir, workDir, limits } = order;
  const { clock } = edge;
  const longestIndexBytes = maxIndexBytes(limits);
  const asking = clock.deadline(longestCopyMs(longestIndexBytes));
  const answer = await connection.get(origin, `/peers/${digest}/index`, asking);
  requireOk(answer);
  const text = await readText(inTime(answer, clock), longestIndexBytes);
  const document = readCopyIndex(text, digest, limits);
  if (document === undefined) throw copyRefused();
  const deadline = clock.deadline(longestCopyMs(document.packBytes));
  const pack = await connection.get(origin, `/peers/${digest}/pack`, deadline);
  requireOk(pack);
  const bytes = watch(inTime(pack, clock), progressOf(document.index.files.length, edge));
  return receiveCopy(storeDir, workDir, document, bytes);
}

/** The sizes are the other side's word, and so is a deadline made of them: what came is held against the time too. */
function inTime(answer: PeerAnswer, clock: Clock): Bytes {
  const start = clock.monotonic();
  let receivedBytes = 0;
  return watch(chunksOf(answer), (chunk) => {
    receivedBytes += chunk.length;
    if (isTooSlow(receivedBytes, clock.monotonic() - start)) throw lost(undefined);
  });
}

function progressOf(files: number, { clock, report }: CopyEdge): (chunk: Buffer) => void {
  let receivedBytes = 0;
  let saidAt = Number.NEGATIVE_INFINITY;
  return (chunk) => {
    receivedBytes += chunk.length;
    if (clock.monotonic() - saidAt < reportEveryMs) return;
    saidAt = clock.monotonic();
    report({ type: 'progress', receivedBytes, files });
  };
}

/** @throws {BundleError} */
function requireOk(answer: PeerAnswer): void {
  if (answer.statusCode === 200) return;
  answer.body.on('error', () => {}).destroy();
  if (answer.statusCode === 503) {
    throw new BundleError('transient', 'PeerBusy', 'the other server hands its copy to others just now');
  }
  throw lost(undefined);
}

function lost(cause: unknown): BundleError {
  const code = cause === undefined ? 'no copy' : publishableCode(cause);
  const words = `the other server gave no whole copy in time (${code})`;
  return new BundleError('transient', 'PeerLost', words, { cause });
}
