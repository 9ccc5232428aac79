// Which failed calls of an export are a state of their own: a start that is refused again with the same inputs, and an export
// API that does not answer. Pure. Invariant: one lost answer is not a state, because the next attempt may succeed.

import type { Failure, Status } from '#operator/staticexport/status-schema.ts';
import { isRefusal, isUnanswered } from '../failure-policy.ts';
import type { Observation } from '../observation.ts';
import type { State } from '../state.ts';

/** A start with the same inputs is refused again, until the vendor or the spec changes. */
export function isStartRefused(
  { status: { failures }, wanted }: Observation,
  { want, export: operation }: State,
): boolean {
  const isUnsatisfied = want.kind === 'first' || want.kind === 'inputs';
  if (!isUnsatisfied || wanted.isSuspended || operation.kind !== 'waiting') return false;
  return failures?.export !== undefined && !isPutOff(failures) && isRefusal(failures.export.reason);
}

/** The next start waits for something that passes by itself, whatever became of the one before it. */
const isPutOff = ({ start }: NonNullable<Status['failures']>): boolean => start !== undefined;

/** Polls and links in a row without an answer, before status reports it. A start has as many attempts. */
const mostUnanswered = 3;

/** The failure of the operation in hand, if the export API does not answer. */
export function unansweredCall(
  { status: { failures } }: Observation,
  { export: operation }: State,
): Failure | undefined {
  switch (operation.kind) {
    case 'running':
    case 'complete': {
      const jobId = operation.kind === 'running' ? operation.jobId : operation.subject.jobId;
      const poll = failures?.poll?.subject === jobId ? failures.poll : undefined;
      return poll !== undefined && poll.count >= mostUnanswered && isUnanswered(poll.reason)
        ? poll
        : undefined;
    }
    default:
      return failures?.export !== undefined && !isPutOff(failures) && isUnanswered(failures.export.reason)
        ? failures.export
        : undefined;
  }
}
