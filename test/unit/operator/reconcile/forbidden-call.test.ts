// A forbidden call (403) while something is published: what its operation remembers, and what ends its wait.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import { choose } from '#operator/reconcile/choose.ts';
import { classify } from '#operator/reconcile/classify.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import { settle } from '#operator/reconcile/settle/settle.ts';
import { nextWake } from '#operator/reconcile/wake.ts';
import type { Failure, Status } from '#operator/staticexport/status-schema.ts';
import { at, calm, inputHash, t0 } from './cases/observations.ts';

type Operation = keyof NonNullable<Status['failures']>;

/** Of another domain than the published version, so a new export is due. */
const otherInputs: Observation = {
  ...calm,
  status: {
    ...calm.status,
    active: { version: '20260105-113000-aaaaaaaa', jobId: 'se_1', inputHash: 'old' },
  },
};
const running: Observation = {
  ...calm,
  status: { ...calm.status, job: { id: 'se_2', inputHash, cause: 'Schedule', startTime: at(-60) } },
};
const due: Observation = { ...calm, now: t0 + 600_000 };

const operations: readonly (readonly [Operation, string, Observation])[] = [
  ['export', 'start', otherInputs],
  ['poll', 'poll', running],
  ['link', 'issue', due],
];

function decide(observation: Observation) {
  const seen = adopt(observation);
  const plan = choose(classify(seen), seen);
  return { seen, plan, wakeAt: nextWake(seen, plan) };
}

/** The observation a minute after its one call was forbidden. */
function refused(observation: Observation, reason: 'Forbidden' | 'ServerError' = 'Forbidden'): Observation {
  const { seen, plan } = decide(observation);
  const failure = { code: reason, retryAfterMs: 15 * 60_000 };
  const record = { key: 'k', lastAttemptTime: at(0), inputHash, cause: 'Inputs' as const, attempts: 1 };
  const result = {
    start: { kind: 'start-failed' as const, record, failure },
    poll: { kind: 'poll-failed' as const, failure },
    issue: { kind: 'issue-failed' as const, failure },
  };
  const { kind } = plan.action;
  assert.ok(kind === 'start' || kind === 'poll' || kind === 'issue', kind);
  const { status } = settle(seen, plan, result[kind]);
  return { ...seen, status, now: seen.now + 60_000 };
}

const withKey = (observation: Observation, secretVersion: string): Observation => ({
  ...observation,
  key: { kind: 'present', secretVersion, hasUsualPrefix: true },
});

for (const [operation, action, observation] of operations) {
  test(`${operation}: the same key waits, and its Secret is read every minute`, () => {
    const { plan, wakeAt, seen } = decide(refused(observation));
    assert.equal(plan.action.kind, 'none');
    assert.equal(seen.status.failures?.[operation]?.secretVersion, 'u/1');
    assert.ok(wakeAt <= seen.now + 60_000, `${wakeAt - seen.now} ms`);
  });

  test(`${operation}: a changed key Secret permits one attempt at once`, () => {
    const changed = withKey(refused(observation), 'u/2');
    assert.equal(decide(changed).plan.action.kind, action);
    assert.equal(decide(refused(changed)).plan.action.kind, 'none');
  });

  test(`${operation}: a wait for another cause outlasts a change of the key`, () => {
    const changed = withKey(refused(observation, 'ServerError'), 'u/2');
    assert.equal(decide(changed).plan.action.kind, 'none');
  });

  test(`${operation}: a Secret that is missing for a moment does not end the wait`, () => {
    const { seen } = decide({ ...refused(observation), key: { kind: 'missing' } });
    const { retryTime: retryAt, lastFailureTime: failedAt } = seen.status.failures?.[operation] ?? {};
    assert.notEqual(retryAt, failedAt);
    assert.equal(decide({ ...seen, key: observation.key }).plan.action.kind, 'none');
  });
}

for (const [operation, action, observation] of [
  ['poll', 'poll', running] as const,
  ['link', 'issue', due] as const,
]) {
  test(`${operation}: a new request permits one attempt`, () => {
    const asked = { ...refused(observation), request: 'now' };
    assert.equal(decide(asked).plan.action.kind, action);
    const { seen, plan } = decide(refused(asked));
    assert.notEqual(plan.action.kind, action);
    assert.equal(seen.status.failures?.[operation]?.request, 'now');
  });
}

test('a wait stored by an earlier version without its key lasts until its time', () => {
  const link: Failure = { count: 1, lastFailureTime: at(540), retryTime: at(1440), reason: 'Forbidden' };
  const { plan } = decide({ ...due, status: { ...due.status, failures: { link } } });
  assert.equal(plan.action.kind, 'none');
});
