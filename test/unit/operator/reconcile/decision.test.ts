// Properties of every decision, for every combination of memory, output and process: no action before the wake-up and
// no later wake-up after a restart, idempotent adoption, and a status that the API server and kstatus accept.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import { choose } from '#operator/reconcile/choose.ts';
import { classify } from '#operator/reconcile/classify.ts';
import { copyLink } from '#operator/reconcile/mirror.ts';
import { type Observation, unreadOutput } from '#operator/reconcile/observation.ts';
import type { Plan } from '#operator/reconcile/state.ts';
import { isSameStatus, mergeStatus, statusOf } from '#operator/reconcile/status/status.ts';
import { nextWake } from '#operator/reconcile/wake.ts';
import { statusSchema } from '#operator/staticexport/status-schema.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { brokenRules } from '../../../support/kstatus-rules.ts';
import * as fc from '../../../support/properties.ts';
import { anyObservation, calm } from './cases/observations.ts';

const runs = { numRuns: 2000 };

function decide(observation: Observation): { readonly seen: Observation; readonly plan: Plan } {
  const seen = adopt(observation);
  return { seen, plan: choose(classify(seen), seen) };
}

test('property: adopting twice is adopting once', () => {
  fc.assert(
    fc.property(anyObservation, (observation) => {
      const once = adopt(observation);
      assert.deepEqual(adopt(once), once);
    }),
    runs,
  );
});

test('property: on unchanged input no action is chosen before the wake-up', () => {
  fc.assert(
    fc.property(anyObservation, fc.double({ min: 0, max: 0.999, noNaN: true }), (observation, share) => {
      const { seen, plan } = decide(observation);
      const wakeAt = nextWake(seen, plan);
      if (plan.action.kind !== 'none') return;
      const between = seen.now + Math.floor(((wakeAt - seen.now) * share) / 1000) * 1000;
      const early = decide({ ...seen, now: between });
      assert.equal(early.plan.action.kind, 'none', early.plan.because);
    }),
    runs,
  );
});

test('an issued link is inspected although the export API may not be called or asked to wait', () => {
  const candidate = {
    jobId: 'se_2',
    link: { issuedAt: calm.now, expiresAt: calm.now + 900_000 },
    inspection: 'not-started',
  } as const;
  const waiting: Observation = {
    ...calm,
    isHostAllowed: false,
    wanted: { ...calm.wanted, pin: { version: undefined, jobId: 'se_2' } },
    status: { ...calm.status, history: [{ version: '20260105-100000-bbbbbbbb', jobId: 'se_2' }] },
    rateLimit: { closedUntil: calm.now + 5000, closedAt: calm.now, refused: undefined },
    process: { ...calm.process, candidate },
  };
  assert.equal(decide(waiting).plan.action.kind, 'inspect');
  const poll = {
    count: 1,
    lastFailureTime: formatInstant(calm.now),
    retryTime: formatInstant(calm.now + 9000),
    reason: 'x',
    subject: 'se_2',
  };
  const failed = { ...waiting, status: { ...waiting.status, failures: { poll } } };
  const { seen, plan } = decide(failed);
  assert.equal(plan.action.kind, 'none');
  assert.equal(nextWake(seen, plan), calm.now + 9000);
});

test('property: before the wake-up the status does not change either', () => {
  fc.assert(
    fc.property(anyObservation, fc.double({ min: 0, max: 0.999, noNaN: true }), (observation, share) => {
      const { seen, plan } = decide(observation);
      if (plan.action.kind !== 'none') return;
      const wakeAt = nextWake(seen, plan);
      const stored = statusOf(seen, plan.state, []);
      const between = seen.now + Math.floor(((wakeAt - seen.now) * share) / 1000) * 1000;
      const early = decide({ ...seen, status: stored, now: between });
      const next = statusOf(early.seen, early.plan.state, []);
      assert.deepEqual(mergeStatus({}, next), mergeStatus({}, stored));
    }),
    runs,
  );
});

test('property: a restarted process requeues no later', () => {
  fc.assert(
    fc.property(anyObservation, (observation) => {
      const { seen, plan } = decide(observation);
      // Only this process has the running inspection; a new process waits for access to start it again.
      if (plan.action.kind === 'inspect') return;
      // The same holds for work on a copy, and for a link that was issued for it.
      if (seen.process.mirror?.isRunning === true) return;
      const isCopying = plan.action.kind === 'mirror' && plan.action.work === 'copy';
      if (isCopying && copyLink(seen) === 'issued') return;
      const forgetful = decide({
        ...seen,
        rateLimit: { closedUntil: undefined, closedAt: undefined, refused: undefined },
        process: { polledAt: undefined, pollAfterMs: undefined, candidate: undefined },
      });
      assert.ok(nextWake(forgetful.seen, forgetful.plan) <= nextWake(seen, plan));
    }),
    runs,
  );
});

test('property: a wake-up is never in the past, on whole seconds, and at most an hour ahead', () => {
  fc.assert(
    fc.property(anyObservation, (observation) => {
      const { seen, plan } = decide(observation);
      const wakeAt = nextWake(seen, plan);
      assert.ok(wakeAt >= seen.now && wakeAt <= seen.now + 3_600_000);
      assert.equal(wakeAt % 1000, 0);
    }),
    runs,
  );
});

test('property: the API server accepts the status, kstatus understands it, and it settles', () => {
  fc.assert(
    fc.property(anyObservation, (observation) => {
      const { seen, plan } = decide(observation);
      const status = statusOf(seen, plan.state, []);
      const stored = mergeStatus({}, status);
      assert.ok(statusSchema.safeParse(stored).success);
      assert.deepEqual(brokenRules(seen.generation, status, 'after a pass'), []);
      const again = decide({ ...seen, status });
      assert.ok(isSameStatus(stored, mergeStatus(stored, statusOf(again.seen, again.plan.state, []))));
    }),
    runs,
  );
});

test('property: no call is planned without an allowed host and a key, nor a start while suspended or pinned', () => {
  fc.assert(
    fc.property(anyObservation, (observation) => {
      const { seen, plan } = decide(observation);
      const { kind } = plan.action;
      if (!seen.isHostAllowed || seen.key.kind !== 'present')
        assert.ok(kind === 'none' || kind === 'inspect' || kind === 'mirror');
      if (seen.wanted.isSuspended || seen.wanted.pin !== undefined) assert.notEqual(kind, 'start');
      if (seen.output.kind === 'foreign' || seen.output.kind === 'unreadable') assert.equal(kind, 'none');
      if (unreadOutput(seen) !== undefined)
        assert.ok(
          kind === 'none' ||
            kind === 'mirror' ||
            (plan.action.kind === 'issue' && plan.action.cause !== 'subject'),
        );
    }),
    runs,
  );
});
