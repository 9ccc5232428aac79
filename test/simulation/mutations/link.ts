// The published link: when it is refreshed, which new link is worth writing, and the clock it is measured by.

import * as setBack from '#operator/loop/clock-set-back.ts';
import * as execute from '#operator/loop/execute.ts';
import * as linkTiming from '#operator/reconcile/link-timing.ts';
import type { ActionResult } from '#operator/reconcile/result.ts';
import * as settle from '#operator/reconcile/settle/settle.ts';
import * as spread from '#operator/reconcile/spread.ts';
import { exchange, type Mutations } from './exchange.ts';

const late = /not replaced at its time|expired link/;

type Settle = typeof settle.settle;
type Issued = Extract<ActionResult, { kind: 'issued' }>;

/** Settles a refresh as if its link were new, if `isTakenForNew` returns true. */
function publishAgain(
  real: Settle,
  isTakenForNew: (settled: settle.Settled, issued: Issued) => boolean,
): Settle {
  return (observation, plan, result) => {
    const settled = real(observation, plan, result);
    const published = observation.output.kind === 'ours' ? observation.output.published : undefined;
    const isRefresh = plan.action.kind === 'issue' && plan.action.cause === 'refresh';
    if (!isRefresh || result.kind !== 'issued' || published === undefined) return settled;
    if (!isTakenForNew(settled, result)) return settled;
    const { failures } = settled.status;
    return {
      ...settled,
      status: { ...settled.status, failures: { ...failures, link: undefined } },
      publish: { ...published, link: result.times },
    };
  };
}

export const linkMutations: Mutations = {
  'a refresh comes late': {
    rule: '1',
    exchange: exchange(linkTiming, {
      refreshTime: (real) => (uid, clock, rule) =>
        real(uid, clock, { ...rule, refreshAtPercent: (rule.refreshAtPercent * 100) / 60 }),
    }),
    scenario: 'day',
    caught: late,
  },
  'jitter makes a refresh later': {
    rule: '10',
    exchange: exchange(spread, {
      spreadOf:
        (real) =>
        (...parts) =>
          parts.at(-1) === 'refresh' ? -real(...parts) : real(...parts),
    }),
    scenario: 'day',
    caught: late,
  },
  'a link that is not fresher is written': {
    rule: '1',
    exchange: exchange(settle, {
      settle: (real) => publishAgain(real, ({ status }) => status.failures?.link?.reason === 'NotFresher'),
    }),
    scenario: 'sameLink',
    caught: /issued again|expired link/,
  },
  'a published link that is issued again gets a new issue time': {
    rule: '1',
    exchange: exchange(settle, {
      settle: (real) => publishAgain(real, (_settled, { isPublished }) => isPublished),
    }),
    scenario: 'oldLink',
    caught: /not replaced at its time/,
  },
  'after a link that is not fresher the last attempt comes long after expiry': {
    rule: '1',
    exchange: exchange(linkTiming, {
      retryAfterStale: (real) => (published, now, minIntervalMs) => {
        const at = real(published, now, minIntervalMs);
        return at > published.expiresAt ? at + 599_000 : at;
      },
    }),
    scenario: 'sameLink',
    caught: late,
  },
  'the probe of a new link is ignored': {
    rule: '9',
    exchange: exchange(execute, {
      execute: (real) => (input, context, signal) =>
        real(input, { ...context, bundles: { ...context.bundles, probe: async () => undefined } }, signal),
    }),
    scenario: 'deadOnArrival',
    caught: /expired link/,
  },
  'a clock that is set back is not noticed': {
    rule: '1',
    exchange: exchange(setBack, {
      correctTimes: (real) => (links, id, link, clock) => {
        real(links, id, link, clock);
        return link;
      },
    }),
    scenario: 'setBack',
    caught: /outlived by a clock/,
  },
};
