// Every reason of LinkFresh with its message, and the condition of a link whose Secret or ConfigMap may not be read.
// A reason without a row here is untested.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import { classify } from '#operator/reconcile/classify.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import { statusOf } from '#operator/reconcile/status/status.ts';
import type * as reasons from '#operator/staticexport/reasons.ts';
import { conditionsOf, dead, failure, withStatus, withWanted } from '../cases/conditions.ts';
import { at, calm, fresh, published, t0 } from '../cases/observations.ts';

const past = (seconds: number): Observation => ({ ...calm, now: t0 + seconds * 1000 });
const linkFresh: Readonly<Record<reasons.LinkReason, readonly [Observation, string]>> = {
  Fresh: [calm, 'True'],
  Due: [
    withStatus(past(800), {
      failures: { link: { ...failure, lastFailureTime: at(799), retryTime: at(820) } },
    }),
    'False',
  ],
  Expired: [dead, 'False'],
  JobGone: [withStatus(calm, { failures: { link: { ...failure, reason: 'JobGone' } } }), 'False'],
  LifetimeTooShort: [withWanted(calm, { minIntervalMs: 900_000 }), 'False'],
  NotPublished: [fresh, 'Unknown'],
};

for (const [reason, [observation, status]] of Object.entries(linkFresh)) {
  test(`LinkFresh=${status}/${reason}`, () => {
    assert.equal(conditionsOf(observation).get('LinkFresh'), `${status}/${reason}`);
  });
}

for (const [what, observation, words] of [
  [
    'a fresh link shows its expiry only',
    calm,
    /^Link is valid until 2026-01-05T12:14:00Z and is not due for refresh\.$/,
  ],
  [
    'a link past its refresh time shows when it was due, its expiry, the failure and the retry time',
    withStatus(past(560), {
      failures: {
        link: {
          ...failure,
          reason: 'NetworkError',
          message: 'ECONNREFUSED',
          lastFailureTime: at(610),
          retryTime: at(640),
        },
      },
    }),
    /^Link is valid until .*12:14:00Z\. Its refresh was due at 2026-01-05T12:0\d:\d\dZ and has not succeeded yet\. The export API at api\.example\.com refused the connection \(ECONNREFUSED\)\. Check the port, and that the service runs \(NetworkError\)\. Retrying at 2026-01-05T12:10:40Z\.$/,
  ],
  [
    'an overdue link shows the same',
    withStatus(past(800), {
      failures: { link: { ...failure, lastFailureTime: at(799), retryTime: at(820) } },
    }),
    /its refresh is overdue\. Refresh was due at .* Retrying at 2026-01-05T12:13:40Z\.$/,
  ],
  [
    'an expired link shows its retry time',
    withStatus(dead, { failures: { link: failure } }),
    /expired at .* \(ServerError\)\. Retrying at 2026-01-05T12:01:00Z\.$/,
  ],
  [
    'an expired link shows no retry time while the export API may not be called',
    { ...withStatus(dead, { failures: { link: failure } }), key: { kind: 'missing' } },
    /\(ServerError\)\.$/,
  ],
] as const) {
  test(`${what}`, () => {
    const seen = adopt(observation);
    const { conditions = [] } = statusOf(seen, classify(seen), []);
    assert.match(conditions.find(({ type }) => type === 'LinkFresh')?.message ?? '', words);
  });
}

/** The status of a published link from before its Secret became unreadable, and the observation after that. */
function unreadAt(seconds: number): Observation {
  const { status } = adopt(calm);
  const why = 'the role does not allow "get" on secrets "site-bundle"';
  return { ...past(seconds), status, output: { kind: 'unreadable', why } };
}

for (const [seconds, reason] of [
  [0, 'True/Fresh'],
  [800, 'False/Due'],
  [840, 'False/Expired'],
] as const) {
  test(`a link in an unreadable Secret is judged by the clock: LinkFresh=${reason} after ${seconds} s`, () => {
    const seen = adopt(unreadAt(seconds));
    const { active: known, conditions = [] } = statusOf(seen, classify(seen), []);
    assert.equal(known?.linkExpirationTime, at(840), 'what was known is kept');
    const told = new Map(conditions.map((one) => [one.type, one]));
    assert.equal(`${told.get('LinkFresh')?.status}/${told.get('LinkFresh')?.reason}`, reason);
    for (const type of ['Ready', 'Stalled']) {
      assert.equal(told.get(type)?.reason, 'OutputUnreadable');
      assert.match(
        told.get(type)?.message ?? '',
        /The role does not allow "get" on secrets "site-bundle"\. /,
      );
      assert.match(
        told.get(type)?.message ?? '',
        seconds < 840 ? /valid until .*12:14:00Z/ : /expired at .*12:14:00Z/,
      );
    }
  });
}

test('a link that was lost before its Secret became unreadable is not reported as valid', () => {
  const lost = adopt({ ...calm, output: { kind: 'absent' } });
  const found = conditionsOf({ ...lost, output: { kind: 'unreadable', why: 'no' } });
  assert.equal(found.get('LinkFresh'), 'False/Expired');
});

test('while a ConfigMap may not be read, promotions wait and the link is refreshed and judged as usual', () => {
  const unreadConfigMap = 'the role does not allow "get" on configmaps "site-bundle"';
  for (const [seconds, link] of [
    [0, 'fresh'],
    [800, 'due'],
  ] as const) {
    const seen = adopt({ ...past(seconds), output: { kind: 'ours', published, unreadConfigMap } });
    const state = classify(seen);
    assert.deepEqual(state.export, { kind: 'held', why: 'OutputUnreadable' });
    assert.equal(state.link.kind, link);
  }
});
