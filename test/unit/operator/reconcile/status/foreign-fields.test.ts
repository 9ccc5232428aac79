import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { keepForeign } from '#operator/reconcile/status/foreign-fields.ts';
import { isSameStatus, mergeStatus } from '#operator/reconcile/status/status.ts';
import { parseStatus } from '#operator/staticexport/parse.ts';
import { statusSchema } from '#operator/staticexport/status-schema.ts';
import { at } from '../cases/observations.ts';

const failure = { count: 1, lastFailureTime: at(0), retryTime: at(60), reason: 'ServerError', theirs: 1 };
/** A status of a newer version: an unknown field in every group, and unknown groups. */
const newer = {
  observedGeneration: 3,
  shards: { a: 1 },
  conditions: [
    {
      type: 'Ready',
      status: 'True',
      reason: 'Published',
      message: '',
      lastTransitionTime: at(0),
      severity: 2,
    },
    { type: 'Uploaded', status: 'True', reason: 'Done', message: '', lastTransitionTime: at(0), extra: [1] },
  ],
  job: { id: 'se_1', theirs: 1 },
  start: { key: 'k', lastAttemptTime: at(0), inputHash: 'h', cause: 'First', attempts: 1, theirs: 1 },
  candidate: { version: 'v2', jobId: 'se_2', reason: 'AwaitingPromotion', theirs: 1 },
  active: { version: 'v1', jobId: 'se_1', theirs: { deep: true } },
  history: [
    { version: 'v1', jobId: 'se_1', theirs: 1 },
    { version: 'v0', jobId: 'se_0', theirs: 0 },
  ],
  failures: { link: failure, upload: { count: 2 } },
  refusedKey: { secretVersion: 'u/1', reason: 'Forbidden', refusalTime: at(0), theirs: 1 },
  targets: [{ name: 'a', object: 'ConfigMap/a/b/c', synced: true, reason: 'Synced', theirs: 1 }],
};

test('unknown fields survive at every depth', () => {
  const next = mergeStatus(newer, parseStatus(newer));
  assert.deepEqual(next, newer);
  assert.ok(isSameStatus(newer, next), 'and costs no write');
});

const changes: Readonly<Record<string, readonly [next: object, kept: object]>> = {
  'another job': [{ job: { id: 'se_9' } }, { job: { id: 'se_9' } }],
  'the same job with more progress': [
    { job: { id: 'se_1', progress: 5 } },
    { job: { id: 'se_1', progress: 5, theirs: 1 } },
  ],
  'another version': [{ active: { version: 'v9', jobId: 'x' } }, { active: { version: 'v9', jobId: 'x' } }],
  'an entry that left the history': [
    { history: [{ version: 'v0', jobId: 'se_0' }] },
    { history: [{ version: 'v0', jobId: 'se_0', theirs: 0 }] },
  ],
  'a new failure of the operation': [
    { failures: { link: { ...failure, lastFailureTime: at(9), theirs: undefined } } },
    { failures: { upload: { count: 2 }, link: { ...failure, lastFailureTime: at(9), theirs: undefined } } },
  ],
  'a failure that has ended': [{ failures: undefined }, { failures: { upload: { count: 2 } } }],
  'a lost job': [{ job: undefined }, { job: undefined }],
};

for (const [name, [next, kept]] of Object.entries(changes)) {
  test(`a foreign field is dropped with the object that it described: ${name}`, () => {
    assert.deepEqual(keepForeign(newer, { ...next }), { shards: { a: 1 }, ...kept });
  });
}

for (const stored of [undefined, null, 7, 'text', [], { job: 'text', failures: 3, history: {} }]) {
  test(`an invalid value is not a foreign field: ${JSON.stringify(stored)}`, () => {
    const next = { job: { id: 'se_1' }, failures: { link: failure }, history: [] };
    assert.deepEqual(keepForeign(stored, next), next);
  });
}

const folder = new URL('../../../../fixtures/status/', import.meta.url);
for (const file of readdirSync(folder)) {
  test(`a status stored by an earlier version is read and stored unchanged: ${file}`, () => {
    const stored: unknown = JSON.parse(readFileSync(new URL(file, folder), 'utf8'));
    assert.equal(statusSchema.safeParse(stored).success, true);
    assert.deepEqual(mergeStatus(stored, parseStatus(stored)), stored);
  });
}
