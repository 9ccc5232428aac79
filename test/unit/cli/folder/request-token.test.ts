// `run --request`: one export each time, and none more after a kill.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { requestToken } from '#cli/folder/request-token.ts';

const now = Date.parse('2026-01-05T12:00:00Z');
const fresh = '2026-01-05T12:00:00.000Z';
const stored = (annotations: Readonly<Record<string, string>>, status: object) => ({
  metadata: {
    namespace: 'docs',
    name: 'docs',
    uid: 'u',
    resourceVersion: '1',
    annotations,
    labels: {},
    ownerReferences: [],
  },
  spec: {},
  status,
});
const asked = { 'staticexport.dev/requestedAt': 'before' };

test('a request that a killed run left is kept until its job is completed', () => {
  assert.equal(requestToken(stored(asked, {}), now), 'before');
  assert.equal(requestToken(stored(asked, { lastHandledRequest: 'before' }), now), 'before');
  const other = { lastHandledRequest: 'before', lastCompletedRequest: 'earlier' };
  assert.equal(requestToken(stored(asked, other), now), 'before');
});

test('a new request is made where none is left', () => {
  const completed = { lastHandledRequest: 'before', lastCompletedRequest: 'before' };
  assert.equal(requestToken(stored(asked, completed), now), fresh);
  assert.equal(requestToken(stored({}, { lastCompletedRequest: 'before' }), now), fresh);
  assert.equal(requestToken(undefined, now), fresh);
});
