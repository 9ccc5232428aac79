// Which changes of a status are notifications, and of which kind.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noticesOf } from '#operator/loop/notices.ts';
import { findChanges } from '#operator/reconcile/status/status-changes.ts';
import type { Condition, Status } from '#operator/staticexport/status-schema.ts';
import { condition } from './conditions.ts';

const active = { version: 'v1', jobId: 'se_1', linkIssueTime: '2026-01-05T12:00:00Z' };
const steady: Status = {
  active,
  job: { id: 'se_1' },
  conditions: [condition('Ready', 'True', 'Published'), condition('Exported', 'True', 'Promoted')],
};
const withConditions = (...conditions: readonly Condition[]): Status => ({
  ...steady,
  conditions: [...conditions],
});
const waiting = withConditions(condition('Exported', 'False', 'AnotherExportRuns'));
const failed = withConditions(condition('Exported', 'False', 'JobFailed'));
const held: Status = {
  ...withConditions(condition('Exported', 'False', 'PageCountDropped')),
  candidate: { version: 'v2', jobId: 'se_2', reason: 'PageCountDropped' },
};
const firstHeld: Status = {
  conditions: [
    condition('Stalled', 'True', 'AwaitingPromotion'),
    condition('Exported', 'False', 'AwaitingPromotion'),
  ],
  candidate: { version: 'v1', jobId: 'se_1', reason: 'AwaitingPromotion' },
};
const next: Status = {
  ...withConditions(condition('Exported', 'True', 'Promoted')),
  active: { ...active, version: 'v2' },
};
const stalled = withConditions(condition('Stalled', 'True', 'KeyRefused'));
const expired = withConditions(condition('LinkFresh', 'False', 'Expired'));

const rows: Readonly<Record<string, readonly [Status, Status, readonly string[]]>> = {
  'a poll, a started job and an unchanged export are none': [
    steady,
    { ...steady, job: { id: 'se_2', cause: 'Schedule', verdict: 'Unchanged' } },
    [],
  ],
  'a first version is published': [{}, steady, ['Published Promoted']],
  'a version that follows a failure ends it as well': [failed, next, ['Published+Recovered Promoted']],
  'a version that was held is published, and nothing had failed': [held, next, ['Published Promoted']],
  'a gate holds an export': [steady, held, ['Held PageCountDropped']],
  'a first export that is held is one notification': [{}, firstHeld, ['Held AwaitingPromotion']],
  'a held candidate that a person rejects is none': [
    held,
    withConditions(condition('Exported', 'False', 'Rejected')),
    [],
  ],
  'a start that waits for another job of the project is none': [steady, waiting, []],
  'its end is none either': [waiting, steady, []],
  'a version that follows a wait is published, and nothing had failed': [
    waiting,
    next,
    ['Published Promoted'],
  ],
  'a failed export': [steady, failed, ['Failed JobFailed']],
  'a failure that goes on is none': [failed, failed, []],
  'an export without a change ends a failure': [
    failed,
    withConditions(condition('Exported', 'True', 'Unchanged')),
    ['Recovered Unchanged'],
  ],
  'a start that is confirmed after an outage ends the failure': [
    withConditions(condition('Exported', 'False', 'ExportApiUnreachable')),
    withConditions(condition('Exported', 'True', 'Promoted')),
    ['Recovered ExportApiUnreachable'],
  ],
  'a resource that becomes ready says so by its version alone': [
    { conditions: [condition('Ready', 'False', 'Exporting')] },
    steady,
    ['Published Promoted'],
  ],
  'an expired link': [steady, expired, ['Failed LinkExpired']],
  'a link that is valid again': [
    expired,
    withConditions(condition('LinkFresh', 'True', 'Fresh')),
    ['Recovered LinkFresh'],
  ],
  'a stalled resource': [steady, stalled, ['Failed KeyRefused']],
  'a resource that is not stalled any more': [stalled, steady, ['Recovered NoLongerStalled']],
  'a pin that publishes another version is published': [
    steady,
    { ...steady, active: { ...active, version: 'v0' }, conditions: [condition('Ready', 'True', 'Pinned')] },
    ['Published Pinned'],
  ],
};

for (const [name, [before, after, expected]] of Object.entries(rows)) {
  test(name, () => {
    const notices = noticesOf(findChanges(before, after), before, after);
    assert.deepEqual(
      notices.map(({ kinds, reason }) => `${kinds.join('+')} ${reason}`),
      expected,
    );
  });
}
