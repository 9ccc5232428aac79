// Observations for conditions, derived from the calm and the fresh one, and the conditions as short text.
// Shared by the tests of conditions.

import { adopt } from '#operator/reconcile/adopt.ts';
import { classify } from '#operator/reconcile/classify.ts';
import { mirrorPlaceName } from '#operator/reconcile/mirror.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import { statusOf } from '#operator/reconcile/status/status.ts';
import type { Status, TargetStatus } from '#operator/staticexport/status-schema.ts';
import {
  active,
  at,
  calm,
  copyOf,
  fresh,
  inputHash,
  mirror,
  published,
  publishedLink,
  t0,
} from './observations.ts';

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
  output: {
    kind: 'ours' as const,
    published: { ...published, link: { ...publishedLink, expiresAt: t0 - 1000 } },
  },
};
/** The reference of the published version's copy in the mirror. */
export const ref = copyOf(published.digest);
/** Published with a link, and its copy in the mirror. */
export const copied: Observation = {
  ...withStatus(withWanted(calm, { mirror }), { active: { ...active, ref, mirrorCheckTime: at(-60) } }),
  output: { kind: 'ours', published: { ...published, ref } },
};
/** Published by its copy in the mirror alone. */
export const linkless: Observation = {
  ...withWanted(copied, { publishesLink: false }),
  output: { kind: 'ours', published: { ...published, ref, link: undefined } },
};
/** The last look did not find the copy. */
export const withoutCopy = (base: Observation): Observation =>
  withStatus(base, { active: { ...active, ref, mirrorCheckTime: at(-60), copyLossTime: at(-1) } });
/** The mirror operation failed at the place that the spec names. */
export const withMirrorFailure = (base: Observation, reason: string, message = 'Detail.'): Observation =>
  withStatus(base, {
    failures: { mirror: { ...failure, reason, message, subject: mirrorPlaceName(mirror) } },
  });
export const refusedKey = { secretVersion: 'u/1', reason: 'Unauthorized' as const, refusalTime: at(-1) };
/** A finished export that is not published, for this reason. */
export const held = (reason: string): Observation =>
  withStatus(fresh, {
    job: { ...complete, verdict: 'Held', message: reason },
    candidate: { ...candidate, reason },
  });
/** A first export whose candidate was rejected. */
export const rejected = adopt({ ...held('TooFewPages'), reject: candidate.version });
