// The thread's side of every task on a mirror: does it, and answers a mirror's failure as data, because its class does not
// cross. Invariant: nothing of a task goes on after its answer.

import { MirrorError } from '../mirror-error.ts';
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

/** @throws {BundleError} of the archive */
export async function runMirrorTask(
  task: MirrorTask,
  context: CopyContext,
): Promise<MirrorAnswer<CopyAnswer | Inspected | LookAnswer>> {
  const ended = new AbortController();
  try {
    return { kind: 'done', result: await run(task, context, ended.signal) };
  } catch (error) {
    if (!(error instanceof MirrorError)) throw error;
    return { kind: 'failed', failure: sentFailure(error) };
  } finally {
    ended.abort();
  }
}

function run(
  task: MirrorTask,
  context: CopyContext,
  signal: AbortSignal,
): Promise<CopyAnswer | Inspected | LookAnswer> {
  switch (task.task) {
    case 'copy-to-mirror':
      return runCopy(task, context, signal);
    case 'verify-copy':
      return runVerify(task, context, signal);
    case 'look-at-mirror':
      return runLook(task, context, signal);
    default:
      return task satisfies never;
  }
}
