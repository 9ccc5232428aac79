// Every reason of Exported, the outcome of the last export, and how long each is reported. A reason without a row
// here is untested.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import { classify } from '#operator/reconcile/classify.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import { statusOf } from '#operator/reconcile/status/status.ts';
import type * as reasons from '#operator/staticexport/reasons.ts';
import {
  complete,
  conditionsOf,
  failure,
  held,
  refusedKey,
  rejected,
  running,
  withStatus,
  withWanted,
} from '../cases/conditions.ts';
import { at, calm, fresh, mirror, t0 } from '../cases/observations.ts';

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
    withStatus(calm, { job: { ...complete, verdict: 'BundleRejected', message: 'NotAnArchive: x' } }),
    'False',
  ],
  MirrorFailed: [
    withStatus(withWanted(calm, { mirror }), {
      job: complete,
      failures: { poll: { ...failure, reason: 'MirrorDenied', subject: 'se_2' } },
    }),
    'False',
  ],
  InspectionFailed: [
    withStatus(calm, {
      job: complete,
      failures: { poll: { ...failure, reason: 'DownloadFailed', subject: 'se_2' } },
    }),
    'False',
  ],
  OutputWriteFailed: [
    withStatus(calm, {
      job: complete,
      failures: { poll: { ...failure, reason: 'OutputWriteFailed', subject: 'se_2' } },
    }),
    'False',
  ],
  StartRefused: [withStatus(fresh, { failures: { export: { ...failure, reason: 'BadRequest' } } }), 'False'],
  StartUnconfirmed: [
    withStatus(fresh, { failures: { export: { ...failure, reason: 'StartUnconfirmed' } } }),
    'False',
  ],
  AnotherExportRuns: [
    withStatus(fresh, { failures: { start: { ...failure, reason: 'AnotherExportRuns' } } }),
    'False',
  ],
  StartBudgetUsed: [
    withStatus(fresh, { failures: { start: { ...failure, reason: 'StartBudgetUsed' } } }),
    'False',
  ],
  ExportApiUnreachable: [
    withStatus(fresh, { failures: { export: { ...failure, reason: 'NetworkError' } } }),
    'False',
  ],
  AwaitingPromotion: [held('AwaitingPromotion'), 'False'],
  TooFewPages: [held('TooFewPages'), 'False'],
  HomePageMissing: [held('HomePageMissing'), 'False'],
  PageCountDropped: [held('PageCountDropped'), 'False'],
  Rejected: [rejected, 'False'],
  KeyMissing: [{ ...requested, key: { kind: 'missing' } }, 'False'],
  BaseUrlMissing: [withWanted(requested, { baseUrl: undefined }), 'False'],
  HostNotAllowed: [{ ...requested, isHostAllowed: false }, 'False'],
  KeyUnreadable: [{ ...requested, key: { kind: 'unreadable', why: 'no "get" on secrets' } }, 'False'],
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

test('a key is reported although no export is due, because the next link needs it; not before the first publication', () => {
  assert.equal(conditionsOf(withStatus(calm, { refusedKey })).get('Exported'), 'False/KeyRefused');
  assert.equal(conditionsOf({ ...calm, key: { kind: 'missing' } }).get('Exported'), 'False/KeyMissing');
  assert.equal(conditionsOf(withStatus(fresh, { refusedKey })).get('Exported'), 'Unknown/Pending');
});

test('an export under inspection needs no key; one without a link does', () => {
  const waiting = withStatus(calm, { job: complete, refusedKey });
  assert.equal(conditionsOf(waiting).get('Exported'), 'False/KeyRefused');
  const link = { issuedAt: t0, expiresAt: t0 + 1000 };
  const candidate = { jobId: 'se_2', link, inspection: 'running' as const };
  const reading = { ...waiting, process: { ...waiting.process, candidate } };
  assert.equal(
    conditionsOf(reading).get('Exported'),
    conditionsOf(withStatus(calm, { job: complete })).get('Exported'),
  );
});

test('a refused output is reported until the cluster accepts it, and a withheld one until it is published', () => {
  const unwritten = { ...calm, unwritten: 'a quota refused to patch configmaps "site-bundle"' };
  const { conditions = [] } = statusOf(unwritten, classify(unwritten), []);
  const words = conditions.find(({ type }) => type === 'Exported');
  assert.equal(words?.reason, 'OutputWriteFailed');
  assert.match(
    words?.message ?? '',
    /server\. A quota refused to patch configmaps "site-bundle"\. Retrying\.$/,
  );
  const next = withStatus(calm, { job: running, conditions });
  assert.equal(conditionsOf(next).get('Exported'), 'True/Promoted');
  const poll = { ...failure, reason: 'OutputWriteFailed', subject: 'se_2' };
  const withheld = withStatus(calm, { job: complete, conditions, failures: { poll } });
  const suspended = withWanted(withheld, { isSuspended: true });
  assert.equal(conditionsOf(suspended).get('Exported'), 'False/OutputWriteFailed');
});

test('while a job runs, Exported keeps the outcome of the previous job', () => {
  const seen = adopt(withStatus(calm, { job: { ...complete, verdict: 'JobFailed' } }));
  const { conditions } = statusOf(seen, classify(seen), []);
  assert.equal(
    conditionsOf(withStatus(calm, { job: running, conditions })).get('Exported'),
    'False/JobFailed',
  );
});

test('polls and links are reported after three in a row without an answer, and what blocked calls ends with its cause', () => {
  for (const job of [running, complete]) {
    const failed = (count: number, reason: string): Observation =>
      withStatus(calm, { job, failures: { poll: { ...failure, reason, count, subject: 'se_2' } } });
    for (const reason of ['NetworkError', 'RequestTimeout', 'ServerError', 'UnexpectedAnswer']) {
      assert.equal(conditionsOf(failed(2, reason)).get('Exported'), 'True/Promoted', reason);
      assert.equal(conditionsOf(failed(3, reason)).get('Exported'), 'False/ExportApiUnreachable', reason);
    }
    const { conditions } = statusOf(failed(3, 'NetworkError'), classify(failed(3, 'NetworkError')), []);
    assert.equal(conditionsOf(withStatus(calm, { job, conditions })).get('Exported'), 'True/Promoted');
  }
});
