import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterPolicies, readStallMs } from '#operator/reconcile/failure-policy.ts';

const minuteMs = 60_000;

const stalls: Readonly<Record<string, readonly [Parameters<typeof readStallMs>, number]>> = {
  'a forbidden read stalls after ten seconds': [['Forbidden', undefined], 10_000],
  'an outage stalls after ten minutes': [['Unavailable', undefined], 10 * minuteMs],
  'an outage stalls after a quarter of the remaining lifetime': [
    ['Unavailable', 20 * minuteMs],
    5 * minuteMs,
  ],
  'an outage does not stall within ten seconds, even if the link expires': [['Unavailable', 1000], 10_000],
  'an outage does not stall within ten seconds after the link expired': [['Unavailable', -1000], 10_000],
  'a long lifetime does not extend ten minutes': [['Unavailable', 600 * minuteMs], 10 * minuteMs],
};
for (const [name, [input, expected]] of Object.entries(stalls)) {
  test(name, () => assert.equal(readStallMs(...input), expected));
}

test('a conflict is never a stall', () => {
  assert.equal(readStallMs('Conflict', undefined), Number.POSITIVE_INFINITY);
  assert.equal(clusterPolicies.Conflict.needsPerson, undefined);
});

test('an error that needs a person is not retried within the reconcile', () => {
  for (const [code, policy] of Object.entries(clusterPolicies)) {
    if (policy.needsPerson) assert.equal(policy.isBrief, undefined, code);
  }
});
