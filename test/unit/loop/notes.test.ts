// Which changes are worth an event: what happened and what turned, once, and never a refresh or a poll.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { notesOf } from '../../../src/loop/notes.ts';
import type { Condition, Status } from '../../../src/staticexport/status-schema.ts';

const condition = (type: string, status: Condition['status'], reason: string): Condition => ({
  type,
  status,
  reason,
  message: `${reason}.`,
  lastTransitionTime: '2026-01-05T12:00:00Z',
});
const active = { version: 'v1', jobId: 'se_1', pages: 20, linkIssueTime: '2026-01-05T12:00:00Z' };
const ready = condition('Ready', 'True', 'Published');
const pinned = condition('Ready', 'True', 'Pinned');
const steady: Status = {
  active,
  job: { id: 'se_1' },
  conditions: [ready, condition('LinkFresh', 'True', 'Fresh')],
};

const rows: Readonly<Record<string, readonly [Status, Status, readonly string[]]>> = {
  'a refresh says nothing': [
    steady,
    { ...steady, active: { ...active, linkIssueTime: '2026-01-05T12:10:00Z' } },
    [],
  ],
  'a poll says nothing': [steady, { ...steady, job: { id: 'se_1', progress: 40 } }, []],
  'a started job is news': [
    steady,
    { ...steady, job: { id: 'se_2', cause: 'Schedule' } },
    ['Normal ExportStarted'],
  ],
  'a pinned job was not started by us': [steady, { ...steady, job: { id: 'se_2', cause: 'Pin' } }, []],
  'a new version is news, once': [
    steady,
    {
      ...steady,
      active: { ...active, version: 'v2' },
      conditions: [ready, condition('Exported', 'True', 'Promoted')],
    },
    ['Normal Promoted'],
  ],
  'a pin that publishes another version is news, as a pin': [
    steady,
    { ...steady, active: { ...active, version: 'v0' }, conditions: [pinned] },
    ['Normal Pinned'],
  ],
  'a pin of what is published is news': [steady, { ...steady, conditions: [pinned] }, ['Normal Pinned']],
  'the end of a pin is news': [{ ...steady, conditions: [pinned] }, steady, ['Normal Unpinned']],
  'the end of a pin under other inputs is news, beside the export': [
    { ...steady, conditions: [pinned] },
    {
      ...steady,
      job: { id: 'se_2', cause: 'Inputs' },
      conditions: [condition('Ready', 'False', 'Exporting')],
    },
    ['Normal ExportStarted', 'Normal Unpinned'],
  ],
  'a pinned link that was dead for a while is no new pin': [
    { ...steady, conditions: [condition('Ready', 'False', 'LinkExpired')] },
    { ...steady, conditions: [pinned] },
    [],
  ],
  'suspending what is pinned ends no pin': [
    { ...steady, conditions: [pinned] },
    { ...steady, conditions: [condition('Ready', 'True', 'Suspended')] },
    [],
  ],
  'targets that wait for a first version are no news': [
    {},
    { conditions: [condition('TargetsSynced', 'Unknown', 'NotPublished')] },
    [],
  ],
  'a failed export is a warning': [
    steady,
    { ...steady, conditions: [condition('Exported', 'False', 'JobFailed')] },
    ['Warning JobFailed'],
  ],
  'the same failure again is not': [
    { conditions: [condition('Exported', 'False', 'JobFailed')] },
    { conditions: [condition('Exported', 'False', 'JobFailed')] },
    [],
  ],
  'another failure is': [
    { conditions: [condition('Exported', 'False', 'JobFailed')] },
    { conditions: [condition('Exported', 'False', 'TimedOut')] },
    ['Warning TimedOut'],
  ],
  'a link that is fresh again is good news': [
    { conditions: [condition('LinkFresh', 'False', 'Expired')] },
    { conditions: [condition('LinkFresh', 'True', 'Fresh')] },
    ['Normal LinkFresh'],
  ],
  'a dead link says what is dead': [
    steady,
    { ...steady, conditions: [ready, condition('LinkFresh', 'False', 'Expired')] },
    ['Warning LinkExpired'],
  ],
  'a target that is left behind says that it is one': [
    {},
    { conditions: [condition('TargetsSynced', 'False', 'NotGranted')] },
    ['Warning TargetsNotGranted'],
  ],
  'an export of the same content ends with a word, once': [
    steady,
    {
      ...steady,
      job: { id: 'se_1', verdict: 'Unchanged' },
      conditions: [ready, condition('Exported', 'True', 'Unchanged')],
    },
    ['Normal Unchanged'],
  ],
  'and says nothing later': [
    { ...steady, job: { id: 'se_1', verdict: 'Unchanged' } },
    { ...steady, job: { id: 'se_1', verdict: 'Unchanged' } },
    [],
  ],
  'what stalled and does no longer is good news': [
    { conditions: [condition('Stalled', 'True', 'KeyRefused')] },
    { conditions: [condition('Ready', 'False', 'Exporting')] },
    ['Normal NoLongerStalled'],
  ],
  'a pin that was mistyped is one once it is corrected': [
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
  'a first fresh link is none': [{}, { conditions: [condition('LinkFresh', 'True', 'Fresh')] }, []],
  'stalling is a warning': [
    {},
    { conditions: [condition('Stalled', 'True', 'KeyRefused')] },
    ['Warning KeyRefused'],
  ],
  'one cause that turns two conditions is told once': [
    { conditions: [condition('Exported', 'True', 'Promoted')] },
    {
      conditions: [condition('Stalled', 'True', 'KeyRefused'), condition('Exported', 'False', 'KeyRefused')],
    },
    ['Warning KeyRefused'],
  ],
  'what is not known yet says nothing': [
    {},
    { conditions: [condition('Exported', 'Unknown', 'Pending')] },
    [],
  ],
};

for (const [name, [before, after, expected]] of Object.entries(rows)) {
  test(name, () => {
    assert.deepEqual(
      notesOf(before, after).map(({ type, reason }) => `${type} ${reason}`),
      expected,
    );
  });
}

test('an event does not say when the next try is: it is read when that is past', () => {
  const failing = {
    ...condition('LinkFresh', 'False', 'Due'),
    message: 'Due. It failed. Retrying at 2026-01-05T12:01:00Z. Request id of the API: 7.',
  };
  const [note] = notesOf(steady, { ...steady, conditions: [ready, failing] });
  assert.equal(note?.message, 'Due. It failed. Request id of the API: 7.');
});

test('an event names what it is about: the job, the version, and the one before it', () => {
  const words = (after: Status): string =>
    notesOf(steady, after)
      .map(({ message }) => message)
      .join();
  assert.equal(
    words({ ...steady, job: { id: 'se_2', cause: 'Schedule' } }),
    'Export started: Schedule. Job se_2.',
  );
  const next = { ...steady, active: { ...active, version: 'v2' } };
  assert.equal(words(next), 'Version v2 is published, 20 pages. It replaces v1.');
  assert.equal(
    words({ ...next, conditions: [pinned] }),
    'Version v2 is published because it is pinned, 20 pages. It replaces v1.',
  );
});
