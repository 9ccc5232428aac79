// Hooks: their quiet period, its bound, and what they never bypass.

import * as classify from '#operator/reconcile/classify.ts';
import * as hooks from '#operator/reconcile/hooks.ts';
import { exchange, type Mutations } from './exchange.ts';

export const hookMutations: Mutations = {
  'a hook starts an export before its quiet period has passed': {
    rule: '3',
    exchange: exchange(hooks, { dueHook: (_real, { pendingHook }) => pendingHook }),
    scenario: 'burstOfHooks',
    caught: /an export answers a hook \d+ ms after it/,
  },
  'every hook of a stream starts the quiet period again without end': {
    rule: '3',
    exchange: exchange(hooks, {
      recordHook: (real) => (observation) => {
        const status = real(observation);
        return { ...status, hook: status.hook && { ...status.hook, firstTime: status.hook.lastTime } };
      },
    }),
    scenario: 'endlessHooks',
    caught: /^AssertionError.*: \d exports in two hours/,
  },
  'the end of a quiet period wakes no process': {
    rule: '14',
    exchange: exchange(hooks, { hookTime: () => () => undefined }),
    scenario: 'burstOfHooks',
    caught: /the end of the quiet period starts no export/,
  },
  'a hook bypasses the back-off': {
    rule: '8',
    exchange: exchange(classify, {
      classify: (real) => (observation) => {
        const state = real(observation);
        const isHook = state.export.kind === 'waiting' && state.export.cause === 'Hook';
        return isHook ? { ...state, export: { kind: 'due', cause: 'Hook' } } : state;
      },
    }),
    scenario: 'hookInBackoff',
    caught: /a hook bypassed a back-off/,
  },
  'a hook that comes during a job is forgotten': {
    rule: '3',
    exchange: exchange(hooks, {
      recordHook: (real) => (observation) => {
        const { job } = observation.status;
        const isRunning = job !== undefined && job.verdict === undefined;
        const lastHandledHook = observation.hookRequest;
        return isRunning ? { ...observation.status, lastHandledHook } : real(observation);
      },
    }),
    scenario: 'hookDuringJob',
    caught: /another number of exports/,
  },
};
