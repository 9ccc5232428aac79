// The worker's side of taking a copy from a peer: index and pack are asked for, received, hashed and committed
// here, so that the thread that serves does none of it.
// Invariant: it reports exactly one `done` or `failed`, last; before `done` the copy is verified and committed.

import type { Clock } from '../runtime/clock.ts';
import { publishableCode } from '../wire/publishable-error.ts';
import { copyRefused, maxIndexBytes, readCopyIndex, receiveCopy } from './bundle-copy.ts';
import { BundleError } from './bundle-error.ts';
import type { BundleIndex } from './bundle-index.ts';
import { watch } from './byte-stream.ts';
import type { CopyOrder } from './copy-order.ts';
import {
  chunksOf,
  openPeerConnection,
  type PeerAnswer,
  type PeerConnection,
  readText,
} from './peer-connection.ts';
import { reportOf } from './thread-answer.ts';
import { summaryOf, type ThreadReport } from './thread-message.ts';

/** A copy slower than this is no help: the link is as good. */
const leastBytesPerSecond = 1024 * 1024;
const graceMs = 10_000;
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
  const answer = await connection.get(origin, `/peers/${digest}/index`, clock.deadline(graceMs));
  requireOk(answer);
  const document = readCopyIndex(await readText(answer, maxIndexBytes(limits)), digest, limits);
  if (document === undefined) throw copyRefused();
  const longestMs = graceMs + (document.packBytes / leastBytesPerSecond) * 1000;
  const pack = await connection.get(origin, `/peers/${digest}/pack`, clock.deadline(longestMs));
  requireOk(pack);
  const bytes = watch(chunksOf(pack), progressOf(document.index.files.length, edge));
  return receiveCopy(storeDir, workDir, document, bytes);
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
