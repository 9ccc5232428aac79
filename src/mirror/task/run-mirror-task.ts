// The thread's side of every task on a mirror: opens its place, and does it. Refuses nothing of its own. Invariant: nothing of a
// task goes on after its answer.

import type { Carrier } from '../carrier.ts';
import type { CarrierContext } from '../open-carrier.ts';
import { runPresenceCheck, runVerify } from './check-run.ts';
import { type CopyContext, runMirrorCopy } from './copy-run.ts';
import type { CopyAnswer, Inspected, LookAnswer, MirrorTask } from './mirror-task.ts';
import { withMirror } from './opened-mirror.ts';

/** @throws {PublishableError} of the mirror or the archive */
export async function runMirrorTask(
  task: MirrorTask,
  context: CopyContext & CarrierContext,
): Promise<CopyAnswer | Inspected | LookAnswer> {
  const ended = new AbortController();
  try {
    return await withMirror(task.place, context, (carrier) => run(task, carrier, context, ended.signal));
  } finally {
    ended.abort();
  }
}

function run(
  task: MirrorTask,
  carrier: Carrier,
  context: CopyContext,
  signal: AbortSignal,
): Promise<CopyAnswer | Inspected | LookAnswer> {
  switch (task.task) {
    case 'copy-to-mirror':
      return runMirrorCopy(task, carrier, context, signal);
    case 'verify-copy':
      return runVerify(task, carrier, context, signal);
    case 'look-at-mirror':
      return runPresenceCheck(task, carrier, context, signal);
    default:
      return task satisfies never;
  }
}
