// Every reason of Ready, Stalled, Reconciling and TargetsSynced, each from the smallest observation that leads to it. A
// reason without a row here is untested. Exported and LinkFresh have their own files.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import { classify } from '#operator/reconcile/classify.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import { statusOf, statusOfUnreadable } from '#operator/reconcile/status/status.ts';
import * as reasons from '#operator/staticexport/reasons.ts';
import type { TargetStatus } from '#operator/staticexport/status-schema.ts';
import { words } from '../../../../support/words.ts';
import {
  complete,
  conditionsOf,
  copied,
  dead,
  failure,
  held,
  linkless,
  refusedKey,
  rejected,
  running,
  withMirrorFailure,
  withoutCopy,
  withStatus,
  withWanted,
} from '../cases/conditions.ts';
import { active, at, calm, fresh, inputHash, publishedLink, t0 } from '../cases/observations.ts';

const stalled: Readonly<Record<Exclude<reasons.StalledReason, 'InvalidSpec'>, Observation>> = {
  InvalidSchedule: withWanted(calm, { schedule: '0 0 30 2 *' }),
  BaseUrlMissing: withWanted(fresh, { baseUrl: undefined }),
  HostNotAllowed: { ...fresh, isHostAllowed: false },
  KeyUnreadable: { ...fresh, key: { kind: 'unreadable', why: 'no "get" on secrets' } },
  KeyEmpty: { ...fresh, key: { kind: 'empty' } },
  KeyInvalid: { ...dead, key: { kind: 'invalid' } },
  KeyRefused: withStatus(fresh, { refusedKey }),
  KeyForbidden: withStatus(fresh, { refusedKey: { ...refusedKey, reason: 'Forbidden' } }),
  OutputNotOwned: { ...calm, output: { kind: 'foreign', objectKind: 'ConfigMap' } },
  OutputUnreadable: { ...calm, output: { kind: 'unreadable', why: 'no "get" on secrets' } },
  StartRefused: withStatus(fresh, { failures: { export: { ...failure, reason: 'BadRequest' } } }),
  PinnedVersionUnknown: withWanted(calm, { pin: { version: 'v', jobId: undefined } }),
  PinnedJobGone: withStatus(withWanted(calm, { pin: { version: active.version, jobId: undefined } }), {
    failures: { link: { ...failure, reason: 'JobGone' } },
  }),
  PinnedJobFailed: withStatus(withWanted(calm, { pin: { version: undefined, jobId: 'se_2' } }), {
    job: { ...complete, cause: 'Pin', verdict: 'JobFailed' },
  }),
  PinnedContentChanged: withStatus(withWanted(calm, { pin: { version: 'old', jobId: undefined } }), {
    history: [{ version: 'old', jobId: 'se_0' }],
    failures: { poll: { ...failure, reason: 'PinnedContentChanged', subject: 'se_0' } },
  }),
  AwaitingPromotion: held('AwaitingPromotion'),
  TooFewPages: held('TooFewPages'),
  HomePageMissing: held('HomePageMissing'),
  PageCountDropped: held('PageCountDropped'),
  Rejected: rejected,
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
  const { conditions = [] } = statusOfUnreadable({}, ['spec.domain (must be text; put it in quotes)'], 3, t0);
  assert.ok(conditions.every(({ observedGeneration }) => observedGeneration === 3));
  const found = conditions.find(({ type }) => type === 'Stalled');
  assert.equal(found?.reason, 'InvalidSpec');
  assert.match(found?.message ?? '', /spec\.domain/);
});

test('a partly valid spec stalls with its fields, and other conditions report the published version', () => {
  const found = adopt({ ...calm, specProblems: ['spec.schedule (must be text; put it in quotes)'] });
  const { conditions = [] } = statusOf(found, classify(found), []);
  assert.deepEqual(
    conditions.map(({ type, status, reason }) => `${type}=${status}/${reason}`),
    ['Ready=False/InvalidSpec', 'Stalled=True/InvalidSpec', 'Exported=True/Promoted', 'LinkFresh=True/Fresh'],
  );
  assert.match(conditions[0]?.message ?? '', /spec\.schedule/);
});

test('a wholly invalid spec keeps the conditions of the published version until its link expires', () => {
  const seen = adopt(calm);
  const targets = [{ name: 'argo', object: 'ConfigMap/a/b/c', synced: true, reason: 'Synced' }];
  const before = statusOf(seen, classify(seen), targets);
  const kept = (now: number): readonly string[] =>
    (statusOfUnreadable(before, ['spec.api (must be text; put it in quotes)'], 2, now).conditions ?? []).map(
      ({ type, status, reason }) => `${type}=${status}/${reason}`,
    );
  const stalling = ['Ready=False/InvalidSpec', 'Stalled=True/InvalidSpec'];
  const synced = 'TargetsSynced=True/Synced';
  assert.deepEqual(kept(t0), [...stalling, 'Exported=True/Promoted', 'LinkFresh=True/Fresh', synced]);
  assert.deepEqual(kept(publishedLink.expiresAt), [
    ...stalling,
    'LinkFresh=False/Expired',
    'Exported=True/Promoted',
    synced,
  ]);
  const once = statusOfUnreadable(before, [], 2, t0);
  assert.deepEqual(statusOfUnreadable(once, [], 2, t0 + 60_000), once);
});

const reconciling: Readonly<Record<reasons.ReconcilingReason, Observation>> = {
  StartPending: fresh,
  StartUnconfirmed: withStatus(fresh, {
    start: { key: 'k', lastAttemptTime: at(-1), inputHash, cause: 'First', attempts: 1 },
  }),
  Exporting: withStatus(fresh, { job: running }),
  Inspecting: withStatus(fresh, { job: complete }),
  BackingOff: withStatus(fresh, { failures: { export: { ...failure, reason: 'JobFailed' } } }),
  ExportApiUnreachable: withStatus(fresh, { failures: { export: { ...failure, reason: 'NetworkError' } } }),
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

for (const [code, found] of [
  ['BadRequest', 'Stalled/StartRefused'],
  ['NotFound', 'Stalled/StartRefused'],
  ['Conflict', 'Stalled/StartRefused'],
  ['Forbidden', 'Stalled/StartRefused'],
  ['RateLimited', 'Reconciling/BackingOff'],
  ['JobFailed', 'Reconciling/BackingOff'],
  ['TimedOut', 'Reconciling/BackingOff'],
  ['StartUnconfirmed', 'Reconciling/BackingOff'],
  ['NetworkError', 'Reconciling/ExportApiUnreachable'],
  ['RequestTimeout', 'Reconciling/ExportApiUnreachable'],
  ['ServerError', 'Reconciling/ExportApiUnreachable'],
  ['UnexpectedAnswer', 'Reconciling/ExportApiUnreachable'],
] as const) {
  test(`a first export, and one with a new spec, that waits after ${code} is ${found}`, () => {
    const failures = { export: { ...failure, reason: code } };
    const other = withStatus(calm, { active: { ...active, inputHash: 'other' }, failures });
    for (const observation of [withStatus(fresh, { failures }), other]) {
      const [type, reason] = found.split('/');
      assert.equal(conditionsOf(observation).get(type ?? ''), `True/${reason}`);
      assert.equal(conditionsOf(observation).get('Ready'), `False/${reason}`);
    }
    // The wanted version is published: a refused schedule is for Exported.
    assert.equal(conditionsOf(withStatus(calm, { failures })).get('Ready'), 'True/Published');
  });
}

const ready = [
  ['Published', calm, 'True'],
  ['Pinned', withWanted(calm, { pin: { version: active.version, jobId: undefined } }), 'True'],
  ['Suspended', withWanted(calm, { isSuspended: true }), 'True'],
  ['NotMirrored', withoutCopy(linkless), 'False'],
  ['LinkExpired', dead, 'False'],
] as const;

for (const [reason, observation, status] of ready) {
  test(`Ready=${status}/${reason}`, () => {
    assert.equal(conditionsOf(observation).get('Ready'), `${status}/${reason}`);
  });
}

test('a version that is published by its copy alone is ready, and a lost copy matters to it only', () => {
  assert.equal(conditionsOf(linkless).get('Ready'), 'True/Published');
  assert.equal(conditionsOf(withoutCopy(copied)).get('Ready'), 'True/Published');
  assert.equal(conditionsOf(withMirrorFailure(linkless, 'Unreachable')).get('Ready'), 'True/Published');
});

test('a suspended resource that never published is not ready and not stalled', () => {
  const found = conditionsOf(withWanted(fresh, { isSuspended: true }));
  assert.equal(found.get('Ready'), 'False/Suspended');
  assert.ok(!found.has('Stalled') && !found.has('Reconciling'));
});

test('a scheduled export is not Reconciling, and a failed one does not unset Ready', () => {
  for (const job of [running, complete, { ...complete, verdict: 'JobFailed' as const }]) {
    const found = conditionsOf(withStatus(calm, { job }));
    assert.equal(found.get('Ready'), 'True/Published');
    assert.ok(!found.has('Reconciling'));
  }
});

test('a refused key unsets no condition while the published link is valid', () => {
  assert.equal(conditionsOf(withStatus(calm, { refusedKey })).get('Ready'), 'True/Published');
});

const restingTargets = words(`
  NotPublished Suspended Pending RollingOut AwaitingSync AwaitingLink AwaitingCopy AwaitingMerge Paused
`);

for (const reason of Object.keys(reasons.targetReasons)) {
  test(`TargetsSynced has the reason ${reason} of the first target that is not synced`, () => {
    const good: TargetStatus = { name: 'argo', object: 'ConfigMap/a/b/c', synced: true, reason: 'Synced' };
    const other: TargetStatus = {
      name: 'flux',
      object: 'ConfigMap/a/d/c',
      synced: reason === 'Synced',
      reason,
    };
    const resting = restingTargets.includes(reason) ? 'Unknown' : 'False';
    const isFine = reason === 'Synced' || reason === 'DryRun';
    const expected = isFine ? 'True/Synced' : `${resting}/${reason}`;
    assert.equal(conditionsOf(calm, [good, other]).get('TargetsSynced'), expected);
  });
}

test('a waiting target hides no failed target', () => {
  const waiting: TargetStatus = {
    name: 'argo',
    object: 'ConfigMap/a/b/c',
    synced: false,
    reason: 'Suspended',
  };
  const wrong: TargetStatus = { name: 'flux', object: 'ConfigMap/a/d/c', synced: false, reason: 'Refused' };
  assert.equal(conditionsOf(calm, [waiting, wrong]).get('TargetsSynced'), 'False/Refused');
});

test('dry runs alone leave TargetsSynced unknown', () => {
  const dry: TargetStatus = { name: 'try', object: 'HelmRelease/a/b', synced: false, reason: 'DryRun' };
  assert.equal(conditionsOf(calm, [dry]).get('TargetsSynced'), 'Unknown/DryRun');
});

test('without targets there is no TargetsSynced', () => {
  assert.ok(!conditionsOf(calm).has('TargetsSynced'));
});
