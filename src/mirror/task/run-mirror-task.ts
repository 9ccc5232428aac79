// The thread's side of every task on a mirror: does it, and answers a mirror's failure as data, because its class does not
// cross. Invariant: nothing of a task goes on after its answer.

import type { Carrier } from '../carrier.ts';
import { MirrorError } from '../mirror-error.ts';
import type { CarrierContext } from '../open-carrier.ts';
import { type CopyContext, runCopy } from './copy-run.ts';
import { runLook, runVerify } from './look-run.ts';
import {
  type CopyAnswer,
  type Inspected,
  type LookAnswer,
  type MirrorAnswer,
  type MirrorTask,
  sentFailure,
} from './mirror-task.ts';
import { withPlace } from './opened-place.ts';

/** @throws {BundleError} of the archive */
export async function runMirrorTask(
  task: MirrorTask,
  context: CopyContext & CarrierContext,
): Promise<MirrorAnswer<CopyAnswer | Inspected | LookAnswer>> {
  const ended = new AbortController();
  try {
    const result = await withPlace(task.place, context, (carrier) =>
      run(task, carrier, context, ended.signal),
    );
    return { kind: 'done', result };
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    return { kind: 'failed', failure: sentFailure(error) };
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
      return runCopy(task, carrier, context, signal);
    case 'verify-copy':
      return runVerify(task, carrier, context, signal);
    case 'look-at-mirror':
      return runLook(task, carrier, context, signal);
    default:
      return task satisfies never;
  }
}
