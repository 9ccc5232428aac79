// How a run ends, from the status alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runOutcome } from '#cli/run-outcome.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';

const condition = (type: string, status: 'True' | 'False', reason: string) => ({
  type,
  status,
  reason,
  message: 'said',
  lastTransitionTime: '2026-01-05T12:00:00Z',
});
const done = { id: 'j', verdict: 'Promoted' } as const;
const of = (conditions: readonly ReturnType<typeof condition>[], more: Partial<Status> = {}): Status => ({
  observedGeneration: 3,
  conditions: [...conditions],
  ...more,
});
const refusal = (reason: string) => ({
  ...{ count: 1, reason, lastFailureTime: '2026-01-05T12:00:00Z', retryTime: '2026-01-05T12:05:00Z' },
});
const ready = condition('Ready', 'True', 'Published');

const rows: readonly (readonly [string, Status, string | undefined])[] = [
  ['a status of an earlier generation', { ...of([ready]), observedGeneration: 2 }, undefined],
  ['a running job', of([ready], { job: { id: 'j', state: 'running' } }), undefined],
  ['an export that begins', of([condition('Reconciling', 'True', 'StartPending')]), undefined],
  ['a published version', of([ready], { job: done }), 'done'],
  ['a suspended resource with nothing published', of([condition('Ready', 'False', 'Suspended')]), 'held'],
  ['a suspended resource with a published version', of([condition('Ready', 'True', 'Suspended')]), 'done'],
  [
    'a suspended resource whose job runs',
    of([condition('Ready', 'False', 'Suspended')], { job: { id: 'j', state: 'running' } }),
    undefined,
  ],
  ['a refused key', of([condition('Stalled', 'True', 'KeyRefused')]), 'key'],
  ['a key that is missing', of([condition('Reconciling', 'True', 'KeyMissing')]), 'key'],
  ['a host that is not allowed', of([condition('Stalled', 'True', 'HostNotAllowed')]), 'usage'],
  ['too few pages', of([ready, condition('Exported', 'False', 'TooFewPages')], { job: done }), 'held'],
  [
    'a rejected archive',
    of([condition('Exported', 'False', 'BundleRejected')], { job: done }),
    'archiveRejected',
  ],
  ['a failed job', of([ready, condition('Exported', 'False', 'JobFailed')], { job: done }), 'exportFailed'],
  [
    'a start that the export API refused for good',
    of([condition('Exported', 'False', 'StartRefused')], { failures: { export: refusal('BadRequest') } }),
    'exportFailed',
  ],
  [
    'a start that the export API refused for a while',
    of([condition('Exported', 'False', 'StartRefused')], { failures: { export: refusal('RateLimited') } }),
    undefined,
  ],
  [
    'an archive that cannot be downloaded',
    of([condition('Exported', 'False', 'InspectionFailed')], { job: done }),
    'temporary',
  ],
];
for (const [name, status, outcome] of rows) {
  test(`${name} is ${outcome ?? 'not the end'}`, () => {
    assert.equal(runOutcome(status, 3)?.outcome, outcome);
  });
}
