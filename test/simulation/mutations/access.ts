// The key and the rate limit of the export API: refused and forbidden keys, and the Retry-After that all share.

import * as access from '#operator/reconcile/access.ts';
import { forbiddenRetryMs } from '#operator/reconcile/failure-policy.ts';
import * as forbiddenCall from '#operator/reconcile/forbidden-call.ts';
import { pendingRequest } from '#operator/reconcile/observation.ts';
import * as settleFailure from '#operator/reconcile/settle/failed-call.ts';
import { exchange, type Mutations } from './exchange.ts';

export const accessMutations: Mutations = {
  'a refused key is used again': {
    rule: '8',
    exchange: exchange(access, {
      classifyAccess: (real) => (observation) => {
        const found = real(observation);
        return found.kind === 'closed' && found.reason === 'KeyRefused' ? { kind: 'open' } : found;
      },
    }),
    scenario: 'refusedKey',
    caught: /a call with a key that was refused/,
  },
  'a forbidden key is used again every minute': {
    rule: '8',
    exchange: exchange(access, {
      classifyAccess: (real, { recheckMs: lookAgainMs }) => {
        const earlierMs = forbiddenRetryMs - lookAgainMs;
        return (observation) => {
          const found = real({ ...observation, now: observation.now + earlierMs });
          return found.kind === 'closed' ? { ...found, recheckAt: found.recheckAt - earlierMs } : found;
        };
      },
    }),
    scenario: 'forbiddenKey',
    caught: /forbidden a moment ago/,
  },
  'a call forbidden to one operation blocks the whole key': {
    rule: '8',
    exchange: exchange(settleFailure, {
      callFailed: (real) => (observation, failure, status) => {
        const { active } = observation.status;
        const unpublished = { ...observation, status: { ...observation.status, active: undefined } };
        const settled = real(unpublished, failure, status);
        return { ...settled, status: { ...settled.status, active } };
      },
    }),
    scenario: 'forbiddenInputs',
    caught: /not replaced at its time|expired link/,
  },
  'a forbidden refresh keeps waiting after its key changes': {
    rule: '8',
    exchange: exchange(forbiddenCall, {
      freeOperations: (real) => (observation) =>
        pendingRequest(observation) === undefined ? observation.status : real(observation),
    }),
    scenario: 'changedKey',
    caught: /expired although its key was changed/,
  },
  'a forbidden key is not checked for a change': {
    rule: '8',
    exchange: exchange(forbiddenCall, { isHeldAgainstKey: () => () => false }),
    scenario: 'changedKey',
    caught: /expired although its key was changed/,
  },
  "the rate limit's Retry-After is not shared": {
    rule: '8',
    exchange: exchange(access, { rateLimitTime: () => () => undefined }),
    scenario: 'retryAfter',
    caught: /before Retry-After/,
  },
  'Retry-After holds only for the operation that received it': {
    rule: '8',
    exchange: exchange(settleFailure, {
      callFailed:
        (real) =>
        (...given) => {
          const settled = real(...given);
          return settled.rateLimit.kind === 'close' ? { ...settled, rateLimit: { kind: 'keep' } } : settled;
        },
    }),
    scenario: 'retryAfterStorm',
    caught: /before Retry-After was over/,
  },
};
