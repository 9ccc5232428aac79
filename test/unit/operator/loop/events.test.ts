// Which changes of a status become events: outcomes and transitions, once, and never a refresh or a poll.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsOf } from '#operator/loop/events.ts';
import { findChanges } from '#operator/reconcile/status/status-changes.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import { condition } from './conditions.ts';

const active = { version: 'v1', jobId: 'se_1', pages: 20, linkIssueTime: '2026-01-05T12:00:00Z' };
const ready = condition('Ready', 'True', 'Published');
const pinned = condition('Ready', 'True', 'Pinned');
const steady: Status = {
  active,
  job: { id: 'se_1' },
  conditions: [ready, condition('LinkFresh', 'True', 'Fresh')],
};

const rows: Readonly<Record<string, readonly [Status, Status, readonly string[]]>> = {
  'old copies that cannot be removed are an event': [
    { ...steady, conditions: [condition('Mirrored', 'True', 'Copied')] },
    { ...steady, conditions: [condition('Mirrored', 'True', 'RetentionFailed')] },
    ['Warning MirrorRetentionFailed'],
  ],
  'old copies that were removed after all are an event': [
    { ...steady, conditions: [condition('Mirrored', 'True', 'RetentionFailed')] },
    { ...steady, conditions: [condition('Mirrored', 'True', 'Copied')] },
    ['Normal MirrorCopied'],
  ],
  'a start that waits for the budget of its key is a normal event': [
    steady,
    { ...steady, conditions: [ready, condition('Exported', 'False', 'StartBudgetUsed')] },
    ['Normal StartBudgetUsed'],
  ],
  'a refresh is not an event': [
    steady,
    { ...steady, active: { ...active, linkIssueTime: '2026-01-05T12:10:00Z' } },
    [],
  ],
  'a poll is not an event': [steady, { ...steady, job: { id: 'se_1', progress: 40 } }, []],
  'a started job is an event': [
    steady,
    { ...steady, job: { id: 'se_2', cause: 'Schedule' } },
    ['Normal ExportStarted'],
  ],
  'a pinned job was not started by the operator': [
    steady,
    { ...steady, job: { id: 'se_2', cause: 'Pin' } },
    [],
  ],
  'a new version is one event': [
    steady,
    {
      ...steady,
      active: { ...active, version: 'v2' },
      conditions: [ready, condition('Exported', 'True', 'Promoted')],
    },
    ['Normal Promoted'],
  ],
  'a pin that publishes another version is an event of the pin': [
    steady,
    { ...steady, active: { ...active, version: 'v0' }, conditions: [pinned] },
    ['Normal Pinned'],
  ],
  'a pin of the published version is an event': [
    steady,
    { ...steady, conditions: [pinned] },
    ['Normal Pinned'],
  ],
  'the end of a pin is an event': [{ ...steady, conditions: [pinned] }, steady, ['Normal Unpinned']],
  'the end of a pin under other inputs is an event in addition to the export': [
    { ...steady, conditions: [pinned] },
    {
      ...steady,
      job: { id: 'se_2', cause: 'Inputs' },
      conditions: [condition('Ready', 'False', 'Exporting')],
    },
    ['Normal ExportStarted', 'Normal Unpinned'],
  ],
  'a pinned version whose link expired for a while is not a new pin': [
    { ...steady, conditions: [condition('Ready', 'False', 'LinkExpired')] },
    { ...steady, conditions: [pinned] },
    [],
  ],
  'suspending a pinned resource does not end the pin': [
    { ...steady, conditions: [pinned] },
    { ...steady, conditions: [condition('Ready', 'True', 'Suspended')] },
    [],
  ],
  'targets that wait for a first version are not an event': [
    {},
    { conditions: [condition('TargetsSynced', 'Unknown', 'NotPublished')] },
    [],
  ],
  'a failed export is a warning': [
    steady,
    { ...steady, conditions: [condition('Exported', 'False', 'JobFailed')] },
    ['Warning JobFailed'],
  ],
  'the same failure again is not an event': [
    { conditions: [condition('Exported', 'False', 'JobFailed')] },
    { conditions: [condition('Exported', 'False', 'JobFailed')] },
    [],
  ],
  'another failure is an event': [
    { conditions: [condition('Exported', 'False', 'JobFailed')] },
    { conditions: [condition('Exported', 'False', 'TimedOut')] },
    ['Warning TimedOut'],
  ],
  'a link that is fresh again is a normal event': [
    { conditions: [condition('LinkFresh', 'False', 'Expired')] },
    { conditions: [condition('LinkFresh', 'True', 'Fresh')] },
    ['Normal LinkFresh'],
  ],
  'an expired link has a reason that names the link': [
    steady,
    { ...steady, conditions: [ready, condition('LinkFresh', 'False', 'Expired')] },
    ['Warning LinkExpired'],
  ],
  'a target that is not synced has a reason that names targets': [
    {},
    { conditions: [condition('TargetsSynced', 'False', 'NotGranted')] },
    ['Warning TargetsNotGranted'],
  ],
  'an export of the same content is one event': [
    steady,
    {
      ...steady,
      job: { id: 'se_1', verdict: 'Unchanged' },
      conditions: [ready, condition('Exported', 'True', 'Unchanged')],
    },
    ['Normal Unchanged'],
  ],
  'an outcome that was reported is not an event again': [
    { ...steady, job: { id: 'se_1', verdict: 'Unchanged' } },
    { ...steady, job: { id: 'se_1', verdict: 'Unchanged' } },
    [],
  ],
  'a resource that is no longer stalled is a normal event': [
    { conditions: [condition('Stalled', 'True', 'KeyRefused')] },
    { conditions: [condition('Ready', 'False', 'Exporting')] },
    ['Normal NoLongerStalled'],
  ],
  'a corrected pin of the published version is an event': [
    {
      ...steady,
      conditions: [
        condition('Ready', 'False', 'PinnedVersionUnknown'),
        condition('Stalled', 'True', 'PinnedVersionUnknown'),
      ],
    },
    { ...steady, conditions: [pinned] },
    ['Normal Pinned', 'Normal NoLongerStalled'],
  ],
  'a first fresh link is not an event': [{}, { conditions: [condition('LinkFresh', 'True', 'Fresh')] }, []],
  'stalling is a warning': [
    {},
    { conditions: [condition('Stalled', 'True', 'KeyRefused')] },
    ['Warning KeyRefused'],
  ],
  'one cause that changes two conditions is one event': [
    { conditions: [condition('Exported', 'True', 'Promoted')] },
    {
      conditions: [condition('Stalled', 'True', 'KeyRefused'), condition('Exported', 'False', 'KeyRefused')],
    },
    ['Warning KeyRefused'],
  ],
  'an unknown condition is not an event': [
    {},
    { conditions: [condition('Exported', 'Unknown', 'Pending')] },
    [],
  ],
};

for (const [name, [before, after, expected]] of Object.entries(rows)) {
  test(name, () => {
    assert.deepEqual(
      eventsOf(findChanges(before, after), after).map(({ type, reason }) => `${type} ${reason}`),
      expected,
    );
  });
}

test('an event names the job, the version and the previous version', () => {
  const words = (after: Status): string =>
    eventsOf(findChanges(steady, after), after)
      .map(({ message }) => message)
      .join();
  assert.equal(
    words({ ...steady, job: { id: 'se_2', cause: 'Schedule' } }),
    'Export job se_2 started (cause: Schedule).',
  );
  const next = { ...steady, active: { ...active, version: 'v2' } };
  assert.equal(words(next), 'Version v2 is published, 20 pages. It replaces v1.');
  const gap = '3 pages or files are missing, such as /lost (NotFound, from /).';
  const { job } = steady;
  assert.ok(job);
  const reported = { ...job, id: active.jobId, report: [gap] };
  assert.match(
    words({ ...next, job: reported }),
    /Version v2 is published, 20 pages. It replaces v1. 3 pages or files are missing/,
  );
  const other = { ...job, id: 'another', report: [gap] };
  assert.doesNotMatch(words({ ...next, job: other }), /is published.*missing/);
  assert.equal(
    words({ ...next, conditions: [pinned] }),
    'Version v2 is published because it is pinned, 20 pages. It replaces v1.',
  );
});
