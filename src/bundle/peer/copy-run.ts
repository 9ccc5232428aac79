// The thread's side of a copy from a peer. Index and pack are requested, received, hashed and committed here, so that
// the serving thread does none of this work. Invariant: when it resolves, the copy is verified and committed; when it
// rejects, the store holds nothing of it.

import { chunksOf, discard, type HttpAnswer } from '#platform/http/exchange.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import type { BundleIndex } from '../bundle-index.ts';
import { type ProgressContext, throttleProgress } from '../bundle-task.ts';
import { type Bytes, watch } from '../byte-stream.ts';
import { copyRefused, receiveCopy } from './bundle-copy.ts';
import { maxIndexBytes, readCopyIndex } from './copy-index.ts';
import { isTooSlow, longestCopyMs } from './copy-pace.ts';
import type { PeerCopyTask } from './copying.ts';
import { openPeerConnection, type PeerConnection, readText } from './peer-connection.ts';

/**
 * @returns the index of what lies in the store now
 * @throws {PublishableError} see {@link TakeCopy}
 */
export async function runPeerCopy(task: PeerCopyTask, context: ProgressContext): Promise<BundleIndex> {
  const connection = openPeerConnection(task.userAgent);
  try {
    return await copy(task, connection, context);
  } catch (error) {
    throw error instanceof PublishableError ? error : peerLost(error);
  } finally {
    await connection.close();
  }
}

async function copy(
  { origin, digest, storeDir, workDir, limits, serveDotfiles }: PeerCopyTask,
  connection: PeerConnection,
  context: ProgressContext,
): Promise<BundleIndex> {
  const { clock } = context;
  const longestIndexBytes = maxIndexBytes(limits);
  const indexDeadline = clock.deadline(longestCopyMs(longestIndexBytes));
  const answer = await connection.get(origin, `/peers/${digest}/index`, indexDeadline);
  requireOk(answer);
  const text = await readText(inTime(answer, clock), longestIndexBytes);
  const document = readCopyIndex(text, digest, limits, serveDotfiles);
  if (document === undefined) throw copyRefused();
  const deadline = clock.deadline(longestCopyMs(document.packBytes));
  const pack = await connection.get(origin, `/peers/${digest}/pack`, deadline);
  requireOk(pack);
  const report = throttleProgress(context);
  const files = document.index.files.length;
  let receivedBytes = 0;
  const bytes = watch(inTime(pack, clock), (chunk) => {
    receivedBytes += chunk.length;
    report({ receivedBytes, files });
  });
  return receiveCopy(storeDir, workDir, document, bytes);
}

/** The peer states the sizes, and so it chooses the deadlines: the bytes that came are compared with the time too. */
function inTime(answer: HttpAnswer, clock: Clock): Bytes {
  const start = clock.monotonic();
  let receivedBytes = 0;
  return watch(chunksOf(answer), (chunk) => {
    receivedBytes += chunk.length;
    if (isTooSlow(receivedBytes, clock.monotonic() - start)) throw peerLost(undefined);
  });
}

/** @throws {PublishableError} */
function requireOk(answer: HttpAnswer): void {
  if (answer.statusCode === 200) return;
  discard(answer);
  if (answer.statusCode === 503) {
    throw new PublishableError('PeerBusy', 'the other server is sending its copy to others', {
      kind: 'retry',
    });
  }
  throw peerLost(undefined);
}

function peerLost(cause: unknown): PublishableError {
  const code = cause === undefined ? 'no copy' : publishableCode(cause);
  const message = `the other server gave no whole copy in time (${code})`;
  return new PublishableError('PeerLost', message, { kind: 'retry', cause });
}
