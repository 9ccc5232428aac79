// Which resources a scrape shows: those that a pass saw and the watches still know.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReports } from '#operator/controller/reports.ts';
import { knownOf } from '#operator/watch/known-resource.ts';

const metadata = { namespace: 'ns', name: 'docs', uid: 'u', resourceVersion: '1' };
const stored = {
  metadata: { ...metadata, annotations: {}, labels: {}, ownerReferences: [] },
  spec: {},
  status: {},
};

test('a resource that the watches no longer know has no metrics, even before its next reconcile', () => {
  const known = new Map([['ns/docs', knownOf(stored)]]);
  const reports = createReports(known, { now: () => 0 });
  reports.put(metadata, { wakeAfterMs: 1, because: 'x', report: undefined });
  assert.equal(reports.list().length, 1);
  known.clear();
  assert.deepEqual(reports.list(), []);
  known.set('ns/docs', knownOf(stored));
  assert.equal(reports.list().length, 1);
});

test('a resource that a read missed keeps its metrics while the watches know it', () => {
  const known = new Map([['ns/docs', knownOf(stored)]]);
  const reports = createReports(known, { now: () => 0 });
  const gone = { wakeAfterMs: undefined, because: 'gone', report: undefined };
  reports.put(metadata, { wakeAfterMs: 1, because: 'x', report: undefined });
  reports.put(metadata, gone);
  assert.equal(reports.list().length, 1);
  const { metadata: seen } = stored;
  known.set(
    'ns/docs',
    knownOf({ ...stored, metadata: { ...seen, deletionTimestamp: '2026-01-05T12:00:00Z' } }),
  );
  reports.put(metadata, gone);
  assert.deepEqual(reports.list(), []);
});
