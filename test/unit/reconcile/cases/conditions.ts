// Observations for conditions, derived from the calm and the fresh one, and the conditions as short text.
// Shared by the tests of conditions.

import { adopt } from '../../../../src/reconcile/adopt.ts';
import { classify } from '../../../../src/reconcile/classify.ts';
import type { Observation } from '../../../../src/reconcile/observation.ts';
import { statusOf } from '../../../../src/reconcile/status/status.ts';
import type { Status, TargetStatus } from '../../../../src/staticexport/status-schema.ts';
import { at, calm, fresh, inputHash, published, t0 } from './observations.ts';

/** Each condition by its type, as `status/reason`. */
export function conditionsOf(
  observation: Observation,
  targets: readonly TargetStatus[] = [],
): ReadonlyMap<string, string> {
  const seen = adopt(observation);
  const { conditions = [] } = statusOf(seen, classify(seen), targets);
  return new Map(conditions.map(({ type, status, reason }) => [type, `${status}/${reason}`]));
}

export const withStatus = (base: Observation, status: Status): Observation => ({
  ...base,
  status: { ...base.status, ...status },
});
export const withWanted = (base: Observation, wanted: Partial<Observation['wanted']>): Observation => ({
  ...base,
  wanted: { ...base.wanted, ...wanted },
});
export const running = { id: 'se_2', inputHash, startTime: at(-10) };
export const complete = { ...running, completionTime: at(-1) };
export const failure = {
  count: 1,
  lastFailureTime: at(-1),
  retryTime: at(60),
  reason: 'ServerError',
  subject: inputHash,
};
const candidate = { version: '20260105-115900-cccccccc', jobId: 'se_2', inputHash };
/** The published link has expired. */
export const dead = {
  ...calm,
  output: { kind: 'ours' as const, published: { ...published, expiresAt: t0 - 1000 } },
};
export const refusedKey = { secretVersion: 'u/1', reason: 'Unauthorized' as const, refusalTime: at(-1) };
/** A finished export that is not published, for this reason. */
export const held = (reason: string): Observation =>
  withStatus(fresh, {
    job: { ...complete, verdict: 'Held', message: reason },
    candidate: { ...candidate, reason },
  });
/** A first export whose candidate was rejected. */
export const rejected = adopt({ ...held('TooFewPages'), reject: candidate.version });
