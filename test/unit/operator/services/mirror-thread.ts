// A thread in place of the one that works on mirrors. The version stamp, or the reference, says what it does; a look answers
// with what it was given.

import process from 'node:process';
import { BroadcastChannel } from 'node:worker_threads';
import type { CopyReport, MirrorTask } from '#mirror/task/mirror-task.ts';
import { type SendReport, serveTasks } from '#platform/runtime/task.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { hangChannel } from './hang-channel.ts';

const inspected = { digest: 'a'.repeat(64), pages: 3, sizeBytes: 9, notes: [] };
const failure = { code: 'Denied', message: 'No.', retryAfterMs: 7000 };
const refused = (): Error => new PublishableError(failure.code, failure.message, { retryAfterMs: 7000 });

serveTasks(async (task: MirrorTask, report: SendReport<CopyReport>): Promise<unknown> => {
  if (task.task === 'look-at-mirror') {
    if (task.ref === 'fail') throw refused();
    if (task.ref === 'exit') process.exit(1);
    if (task.ref === 'hang') await hang();
    const retentionFailure = task.ref === 'kept' ? failure : undefined;
    return { isThere: true, unlisted: [JSON.stringify(task)], retentionFailure };
  }
  if (task.task === 'verify-copy') return inspected;
  const [moment, what] = task.versionStamp.split(' ');
  if (moment !== 'opening') await report({ stage: 'inspecting' });
  if (moment === 'searching') await report({ stage: 'searching' });
  if (moment === 'copying') await report({ stage: 'copying', inspected });
  if (what === 'exit') process.exit(1);
  if (what === 'hang') await hang();
  if (what === 'fail') throw refused();
  if (what === 'grow') grow();
  if (what === 'fill') throw new PublishableError('SearchTooLarge', 'too many words');
  const copy = what === 'refused' ? { kind: 'failed', failure } : { kind: 'copied', ref: 'oci://x' };
  return { inspected, copy };
});

/** Until the heap of the thread is full. */
function grow(): never {
  for (const kept: number[][] = []; ; )
    kept.push(Array.from({ length: 100_000 }, (_, at) => at + kept.length));
}

function hang(): Promise<never> {
  new BroadcastChannel(hangChannel).postMessage('hangs');
  return new Promise(() => setInterval(() => {}, 60_000));
}
