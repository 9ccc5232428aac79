// Every reason of every condition, each from the smallest observation that leads to it. A reason without a row
// here is a reason that nobody has seen.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '../../../src/reconcile/adopt.ts';
import { classify } from '../../../src/reconcile/classify.ts';
import type { Observation } from '../../../src/reconcile/observation.ts';
import { statusOf, statusOfUnreadable } from '../../../src/reconcile/status.ts';
import * as reasons from '../../../src/staticexport/reasons.ts';
import type { Status, TargetStatus } from '../../../src/staticexport/status-schema.ts';
import { active, at, calm, fresh, inputHash, published, t0 } from './cases/observations.ts';

function conditionsOf(
  observation: Observation,
  targets: readonly TargetStatus[] = [],
): ReadonlyMap<string, string> {
  const seen = adopt(observation);
  const { conditions = [] } = statusOf(seen, classify(seen), targets);
  return new Map(conditions.map(({ type, status, reason }) => [type, `${status}/${reason}`]));
}

const withStatus = (base: Observation, status: Status): Observation => ({
  ...base,
  status: { ...base.status, ...status },
});
const withWanted = (base: Observation, wanted: Partial<Observation['wanted']>): Observation => ({
  ...base,
  wanted: { ...base.wanted, ...wanted },
});
const running = { id: 'se_2', inputHash, startedAt: at(-10) };
const complete = { ...running, finishedAt: at(-1) };
const failure = { count: 1, at: at(-1), retryAt: at(60), reason: 'ServerError', about: inputHash };
const candidate = { version: '20260105-115900-cccccccc', jobId: 'se_2', inputHash };
const dead = {
  ...calm,
  output: { kind: 'ours' as const, published: { ...published, expiresAt: t0 - 1000 } },
};
const refusedKey = { secretVersion: 'u/1', reason: 'Unauthorized' as const, at: at(-1) };
const held = (reason: string): Observation =>
  withStatus(fresh, {
    job: { ...complete, verdict: 'Held', why: reason },
    candidate: { ...candidate, reason },
  });

const stalled: Readonly<Record<Exclude<reasons.StalledReason, 'InvalidSpec'>, Observation>> = {
  InvalidSchedule: withWanted(calm, { schedule: '0 0 30 2 *' }),
  BaseUrlMissing: withWanted(fresh, { baseUrl: undefined }),
  HostNotAllowed: { ...fresh, isHostAllowed: false },
  KeyUnreadable: { ...fresh, key: { kind: 'unreadable' } },
  KeyEmpty: { ...fresh, key: { kind: 'empty' } },
  KeyInvalid: { ...dead, key: { kind: 'invalid' } },
  KeyRefused: withStatus(fresh, { refusedKey }),
  KeyForbidden: withStatus(fresh, { refusedKey: { ...refusedKey, reason: 'Forbidden' } }),
  OutputNotOwned: { ...calm, output: { kind: 'foreign', objectKind: 'ConfigMap' } },
  OutputUnreadable: { ...calm, output: { kind: 'unreadable', why: 'no "get" on secrets' } },
  PinnedVersionUnknown: withWanted(calm, { pin: { version: 'v', jobId: undefined } }),
  PinnedJobGone: withStatus(withWanted(calm, { pin: { version: active.version, jobId: undefined } }), {
    failures: { link: { ...failure, reason: 'JobGone' } },
  }),
  PinnedJobFailed: withStatus(withWanted(calm, { pin: { version: undefined, jobId: 'se_2' } }), {
    job: { ...complete, cause: 'Pin', verdict: 'JobFailed' },
  }),
  PinnedContentChanged: withStatus(withWanted(calm, { pin: { version: 'old', jobId: undefined } }), {
    history: [{ version: 'old', jobId: 'se_0' }],
    failures: { poll: { ...failure, reason: 'PinnedContentChanged', about: 'se_0' } },
  }),
  AwaitingPromotion: held('AwaitingPromotion'),
  TooFewPages: held('TooFewPages'),
  PageCountDropped: held('PageCountDropped'),
};

for (const [reason, observation] of Object.entries(stalled)) {
  test(`Stalled=True/${reason}, and Ready=False with it`, () => {
    const found = conditionsOf(observation);
    assert.equal(found.get('Stalled'), `True/${reason}`);
    assert.equal(found.get('Ready'), `False/${reason}`);
    assert.ok(!found.has('Reconciling'));
  });
}

test('Stalled=True/InvalidSpec names the fields', () => {
  const { conditions = [] } = statusOfUnreadable({}, ['spec.domain (invalid_type)'], 3, t0);
  assert.ok(conditions.every(({ observedGeneration }) => observedGeneration === 3));
  const found = conditions.find(({ type }) => type === 'Stalled');
  assert.equal(found?.reason, 'InvalidSpec');
  assert.match(found?.message ?? '', /spec\.domain/);
});

test('a spec of which enough remains stalls with its fields, and the rest speaks of what is published', () => {
  const found = adopt({ ...calm, specProblems: ['spec.schedule (invalid_type)'] });
  const { conditions = [] } = statusOf(found, classify(found), []);
  assert.deepEqual(
    conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`),
    ['Ready=False/InvalidSpec', 'Stalled=True/InvalidSpec', 'Exported=True/Promoted', 'LinkFresh=True/Fresh'],
  );
  assert.match(conditions[0]?.message ?? '', /spec\.schedule/);
});

test('a spec of which nothing remains keeps what was said of the published things, until the link is dead', () => {
  const seen = adopt(calm);
  const targets = [{ target: 'values/ConfigMap/a/b/c', synced: true, reason: 'Synced' }];
  const before = statusOf(seen, classify(seen), targets);
  const kept = (now: number): readonly string[] =>
    (statusOfUnreadable(before, ['spec.api (invalid_type)'], 2, now).conditions ?? []).map(
      ({ type, status, reason }) => `${type}=${status}/${reason}`,
    );
  const stalling = ['Ready=False/InvalidSpec', 'Stalled=True/InvalidSpec'];
  const synced = 'TargetsSynced=True/Synced';
  assert.deepEqual(kept(t0), [...stalling, 'Exported=True/Promoted', 'LinkFresh=True/Fresh', synced]);
  assert.deepEqual(kept(published.expiresAt), [
    ...stalling,
    'LinkFresh=False/Dead',
    'Exported=True/Promoted',
    synced,
  ]);
  const once = statusOfUnreadable(before, [], 2, t0);
  assert.deepEqual(statusOfUnreadable(once, [], 2, t0 + 60_000), once);
});

const reconciling: Readonly<Record<reasons.ReconcilingReason, Observation>> = {
  StartPending: fresh,
  StartUnconfirmed: withStatus(fresh, {
    start: { key: 'k', at: at(-1), inputHash, cause: 'First', sends: 1 },
  }),
  Exporting: withStatus(fresh, { job: running }),
  Inspecting: withStatus(fresh, { job: complete }),
  BackingOff: withStatus(fresh, { failures: { export: failure } }),
  PinPending: withStatus(withWanted(calm, { pin: { version: 'old', jobId: undefined } }), {
    history: [{ version: 'old', jobId: 'se_0' }],
  }),
  KeyMissing: { ...fresh, key: { kind: 'missing' } },
};

for (const [reason, observation] of Object.entries(reconciling)) {
  test(`Reconciling=True/${reason}, and Ready=False with it`, () => {
    const found = conditionsOf(observation);
    assert.equal(found.get('Reconciling'), `True/${reason}`);
    assert.equal(found.get('Ready'), `False/${reason}`);
    assert.ok(!found.has('Stalled'));
  });
}

const ready = [
  ['Published', calm, 'True'],
  ['Pinned', withWanted(calm, { pin: { version: active.version, jobId: undefined } }), 'True'],
  ['Suspended', withWanted(calm, { isSuspended: true }), 'True'],
  ['LinkDead', dead, 'False'],
] as const;

for (const [reason, observation, status] of ready) {
  test(`Ready=${status}/${reason}`, () => {
    assert.equal(conditionsOf(observation).get('Ready'), `${status}/${reason}`);
  });
}

test('a suspended resource that never published is not ready, and nobody is asked to act', () => {
  const found = conditionsOf(withWanted(fresh, { isSuspended: true }));
  assert.equal(found.get('Ready'), 'False/Suspended');
  assert.ok(!found.has('Stalled') && !found.has('Reconciling'));
});

test('a scheduled run is no reconciliation, and a failed one does not unset Ready', () => {
  for (const job of [running, complete, { ...complete, verdict: 'JobFailed' as const }]) {
    const found = conditionsOf(withStatus(calm, { job }));
    assert.equal(found.get('Ready'), 'True/Published');
    assert.ok(!found.has('Reconciling'));
  }
});

test('a refused key unsets nothing while the published link lives', () => {
  assert.equal(conditionsOf(withStatus(calm, { refusedKey })).get('Ready'), 'True/Published');
});

/** An export is due. */
const requested: Observation = { ...calm, request: 'token' };
const scheduled: Observation = withStatus(withWanted(calm, { schedule: '0 * * * *' }), {
  nextExportTime: at(0),
});
const exported: Readonly<Record<reasons.ExportedReason, readonly [Observation, string]>> = {
  Promoted: [calm, 'True'],
  Unchanged: [withStatus(calm, { job: { ...complete, verdict: 'Unchanged' } }), 'True'],
  Pending: [fresh, 'Unknown'],
  JobFailed: [withStatus(calm, { job: { ...complete, verdict: 'JobFailed' } }), 'False'],
  TimedOut: [withStatus(calm, { job: { ...running, verdict: 'TimedOut' } }), 'False'],
  JobLost: [withStatus(calm, { job: { ...complete, verdict: 'JobLost', cause: 'JobLost' } }), 'False'],
  BundleRejected: [
    withStatus(calm, { job: { ...complete, verdict: 'BundleRejected', why: 'NotAnArchive: x' } }),
    'False',
  ],
  InspectionFailed: [
    withStatus(calm, { job: complete, failures: { poll: { ...failure, about: 'se_2' } } }),
    'False',
  ],
  OutputWriteFailed: [
    withStatus(calm, {
      job: complete,
      failures: { poll: { ...failure, reason: 'OutputWriteFailed', about: 'se_2' } },
    }),
    'False',
  ],
  StartRefused: [withStatus(fresh, { failures: { export: { ...failure, reason: 'BadRequest' } } }), 'False'],
  StartUnconfirmed: [
    withStatus(fresh, { failures: { export: { ...failure, reason: 'StartUnconfirmed' } } }),
    'False',
  ],
  AwaitingPromotion: [held('AwaitingPromotion'), 'False'],
  TooFewPages: [held('TooFewPages'), 'False'],
  PageCountDropped: [held('PageCountDropped'), 'False'],
  KeyMissing: [{ ...requested, key: { kind: 'missing' } }, 'False'],
  BaseUrlMissing: [withWanted(requested, { baseUrl: undefined }), 'False'],
  HostNotAllowed: [{ ...requested, isHostAllowed: false }, 'False'],
  KeyUnreadable: [{ ...requested, key: { kind: 'unreadable' } }, 'False'],
  KeyEmpty: [{ ...requested, key: { kind: 'empty' } }, 'False'],
  KeyInvalid: [{ ...requested, key: { kind: 'invalid' } }, 'False'],
  KeyRefused: [withStatus(scheduled, { refusedKey }), 'False'],
  KeyForbidden: [withStatus(scheduled, { refusedKey: { ...refusedKey, reason: 'Forbidden' } }), 'False'],
};

for (const [reason, [observation, status]] of Object.entries(exported)) {
  test(`Exported=${status}/${reason}`, () => {
    assert.equal(conditionsOf(observation).get('Exported'), `${status}/${reason}`);
  });
}

test('a refused key is no news of Exported where no export is due, nor before anything was published', () => {
  assert.equal(conditionsOf(withStatus(calm, { refusedKey })).get('Exported'), 'True/Promoted');
  assert.equal(conditionsOf(withStatus(fresh, { refusedKey })).get('Exported'), 'Unknown/Pending');
});

test('an export that is being read needs no key, one that still has to be fetched does', () => {
  const waiting = withStatus(calm, { job: complete, refusedKey });
  assert.equal(conditionsOf(waiting).get('Exported'), 'False/KeyRefused');
  const candidate = { jobId: 'se_2', issuedAt: t0, expiresAt: t0 + 1000, reading: 'running' as const };
  const reading = { ...waiting, process: { ...waiting.process, candidate } };
  assert.equal(
    conditionsOf(reading).get('Exported'),
    conditionsOf(withStatus(calm, { job: complete })).get('Exported'),
  );
});

test('an output that the cluster will not take is said until it does, and of a withheld one until it is published', () => {
  const unwritten = { ...calm, unwritten: 'a quota refused to patch configmaps "site-bundle"' };
  const { conditions = [] } = statusOf(unwritten, classify(unwritten), []);
  const words = conditions.find(({ type }) => type === 'Exported');
  assert.equal(words?.reason, 'OutputWriteFailed');
  assert.match(words?.message ?? '', /tried again\. A quota refused to patch configmaps "site-bundle"\.$/);
  const next = withStatus(calm, { job: running, conditions });
  assert.equal(conditionsOf(next).get('Exported'), 'True/Promoted');
  const poll = { ...failure, reason: 'OutputWriteFailed', about: 'se_2' };
  const withheld = withStatus(calm, { job: complete, conditions, failures: { poll } });
  const suspended = withWanted(withheld, { isSuspended: true });
  assert.equal(conditionsOf(suspended).get('Exported'), 'False/OutputWriteFailed');
});

test('while a job runs, the outcome of the one before stays', () => {
  const seen = adopt(withStatus(calm, { job: { ...complete, verdict: 'JobFailed' } }));
  const { conditions } = statusOf(seen, classify(seen), []);
  assert.equal(
    conditionsOf(withStatus(calm, { job: running, conditions })).get('Exported'),
    'False/JobFailed',
  );
});

const past = (seconds: number): Observation => ({ ...calm, now: t0 + seconds * 1000 });
const linkFresh: Readonly<Record<reasons.LinkReason, readonly [Observation, string]>> = {
  Fresh: [calm, 'True'],
  Due: [
    withStatus(past(800), { failures: { link: { ...failure, at: at(799), retryAt: at(820) } } }),
    'False',
  ],
  Dead: [dead, 'False'],
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
    'a fresh link names its end, and no more',
    calm,
    /not overdue\. The published link ends at 2026-01-05T12:14:00Z\.$/,
  ],
  [
    'a link past its time of refresh says since when, how long it lives, what failed, and when it is tried again',
    withStatus(past(560), {
      failures: {
        link: { ...failure, reason: 'NetworkError', why: 'ECONNREFUSED', at: at(610), retryAt: at(640) },
      },
    }),
    /not overdue\. It is due to be replaced since 2026-01-05T12:0\d:\d\dZ\. The published link ends at .*12:14:00Z\. The API at api\.example\.com could not be reached: ECONNREFUSED\. \(NetworkError\) Next try at 2026-01-05T12:10:40Z\.$/,
  ],
  [
    'an overdue one too',
    withStatus(past(800), { failures: { link: { ...failure, at: at(799), retryAt: at(820) } } }),
    /should have been replaced by now\. It is due to be replaced since .* Next try at 2026-01-05T12:13:40Z\.$/,
  ],
  [
    'a dead one says when it is tried again',
    withStatus(dead, { failures: { link: failure } }),
    /ended at .* \(ServerError\) Next try at 2026-01-05T12:01:00Z\.$/,
  ],
  [
    'and names no time while the API may not be called',
    { ...withStatus(dead, { failures: { link: failure } }), key: { kind: 'missing' } },
    /\(ServerError\)$/,
  ],
] as const) {
  test(`${what}`, () => {
    const seen = adopt(observation);
    const { conditions = [] } = statusOf(seen, classify(seen), []);
    assert.match(conditions.find(({ type }) => type === 'LinkFresh')?.message ?? '', words);
  });
}

/** What status knows of the published link after a pass that could read it, seen by one that cannot. */
function unreadAt(seconds: number): Observation {
  const { status } = adopt(calm);
  const why = 'the role does not allow "get" on secrets "site-bundle"';
  return { ...past(seconds), status, output: { kind: 'unreadable', why } };
}

for (const [seconds, reason] of [
  [0, 'True/Fresh'],
  [800, 'False/Due'],
  [840, 'False/Dead'],
] as const) {
  test(`a link whose Secret may not be read is judged by the clock: LinkFresh=${reason} after ${seconds} s`, () => {
    const seen = adopt(unreadAt(seconds));
    const { active: known, conditions = [] } = statusOf(seen, classify(seen), []);
    assert.equal(known?.linkExpiresAt, at(840), 'what was known is kept');
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
        seconds < 840 ? /ends at .*12:14:00Z/ : /ended at .*12:14:00Z/,
      );
    }
  });
}

test('a link that was lost before its Secret could no longer be read is not called alive', () => {
  const lost = adopt({ ...calm, output: { kind: 'absent' } });
  const found = conditionsOf({ ...lost, output: { kind: 'unreadable', why: 'no' } });
  assert.equal(found.get('LinkFresh'), 'False/Dead');
});

test('a ConfigMap that may not be read holds promotions, and the link is refreshed and judged as ever', () => {
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

for (const reason of Object.keys(reasons.targetReasons)) {
  test(`TargetsSynced names ${reason} of the first target that is not in step`, () => {
    const good: TargetStatus = { target: 'values/ConfigMap/a/b/c', synced: true, reason: 'Synced' };
    const other: TargetStatus = { target: 'values/ConfigMap/a/d/c', synced: reason === 'Synced', reason };
    const resting = ['NotPublished', 'Suspended'].includes(reason) ? 'Unknown' : 'False';
    const expected = reason === 'Synced' ? 'True/Synced' : `${resting}/${reason}`;
    assert.equal(conditionsOf(calm, [good, other]).get('TargetsSynced'), expected);
  });
}

test('a target that only waits hides none that is wrong', () => {
  const waiting: TargetStatus = { target: 'values/ConfigMap/a/b/c', synced: false, reason: 'Suspended' };
  const wrong: TargetStatus = { target: 'values/ConfigMap/a/d/c', synced: false, reason: 'Refused' };
  assert.equal(conditionsOf(calm, [waiting, wrong]).get('TargetsSynced'), 'False/Refused');
});

test('without targets there is no TargetsSynced', () => {
  assert.ok(!conditionsOf(calm).has('TargetsSynced'));
});
