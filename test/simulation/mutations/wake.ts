// When a resource is reconciled next.

import * as spread from '#operator/reconcile/spread.ts';
import * as wake from '#operator/reconcile/wake.ts';
import * as absence from '#operator/watch/absence.ts';
import { exchange, type Mutations } from './exchange.ts';

export const wakeMutations: Mutations = {
  'no timer is set for the next poll': {
    rule: '14',
    exchange: exchange(wake, {
      nextWake: (real) => (observation, plan) => {
        const { export: operation } = plan.state;
        const unpolled = operation.kind === 'running' ? { ...operation, pollAt: 0 } : operation;
        return real(observation, { ...plan, state: { ...plan.state, export: unpolled } });
      },
    }),
    scenario: 'prompt',
    caught: /not within/,
  },
  'the hourly check comes once a day': {
    rule: '10',
    exchange: exchange(spread, {
      // The hourly check comes up to a tenth early: 230 tenths less early is 23 hours later.
      spreadOf:
        (real) =>
        (...parts) =>
          real(...parts) - (parts.at(-1) === 'look' ? 230 : 0),
    }),
    scenario: 'quietDay',
    caught: /longer than the hourly check/,
  },
  'a resource that reads as gone once is never checked again': {
    rule: '14',
    exchange: exchange(absence, { nextLookMs: () => (wakeAfterMs) => wakeAfterMs }),
    scenario: 'unknownOnce',
    caught: /never checked again/,
  },
};
