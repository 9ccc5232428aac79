// What is remembered of a resource: enough to tell who must be looked at, and nothing that grows with what
// somebody wrote into it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ObjectCache } from '#operator/kube/watch/object-cache.ts';
import {
  type KnownResource,
  knownOf,
  linkRemainingMs,
  summarizeStatus,
} from '#operator/watch/known-resource.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';

const stored = (annotations: Readonly<Record<string, string>>): StaticExportObject => ({
  metadata: {
    namespace: 'ns',
    name: 'docs',
    uid: 'u',
    resourceVersion: '1',
    generation: 3,
    annotations,
    labels: { team: 'a' },
    ownerReferences: [{ apiVersion: 'v1', kind: 'K', name: 'n', uid: 'o' }],
  },
  spec: { domain: 'docs.example.com', api: { baseUrl: 'https://api.example.com/prefix' } },
  status: { conditions: [{ type: 'Ready', status: 'True', reason: 'Published', message: 'words' }] },
});

for (const [what, before, after, wakes] of [
  ['the same in another order', { a: '1', b: '2' }, { b: '2', a: '1' }, false],
  ['another value', { a: '1' }, { a: '2' }, true],
  ['one more', {}, { a: '' }, true],
  ['one less', { a: '' }, {}, true],
  ['a value moved to another name', { a: '1', b: '' }, { a: '', b: '1' }, true],
] as const) {
  test(`annotations that are ${what} ${wakes ? 'queue' : 'do not queue'} the key, although only their digest is kept`, () => {
    const cache = new ObjectCache<KnownResource>();
    cache.put(knownOf(stored(before)));
    assert.equal(cache.put(knownOf(stored(after))), wakes);
  });
}

test('annotations of 256 KiB, messages and specs are not kept; the API host and the status summary are', () => {
  const known = knownOf(stored({ large: 'x'.repeat(256 * 1024) }));
  assert.ok(JSON.stringify(known).length < 600, JSON.stringify(known));
  assert.equal(known.apiHost, 'https://api.example.com');
  assert.deepEqual(known.status.conditions, [{ type: 'Ready', status: 'True', reason: 'Published' }]);
});

for (const nonsense of [
  undefined,
  null,
  7,
  [],
  { active: [], job: 'x', failures: 3, targets: 'x', conditions: {} },
]) {
  test(`a status of ${JSON.stringify(nonsense)} has an empty summary`, () => {
    assert.deepEqual(summarizeStatus(nonsense), {
      pages: undefined,
      confirmedAt: undefined,
      linkExpiresAt: undefined,
      exportTookMs: undefined,
      failures: [],
      targets: [],
      conditions: [],
    });
  });
}

test('a link has its remaining lifetime, negative after expiry, and none where nothing is published', () => {
  const status = { active: { linkExpirationTime: '2026-01-02T00:00:00Z' } };
  const known = knownOf({ ...stored({}), status });
  assert.equal(linkRemainingMs(known, Date.UTC(2026, 0, 1, 23)), 3_600_000);
  assert.equal(linkRemainingMs(known, Date.UTC(2026, 0, 2, 0, 0, 1)), -1_000);
  assert.equal(linkRemainingMs(knownOf(stored({})), 0), undefined);
  assert.equal(linkRemainingMs(undefined, 0), undefined);
});
