// Which changes of an object wake its key, and how a complete list changes the cache.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ObjectCache } from '#operator/kube/watch/object-cache.ts';
import type { ObjectMeta, StaticExportObject } from '#platform/wire/cluster.ts';

const object = (metadata: Partial<ObjectMeta> = {}, status: object = {}): StaticExportObject => ({
  metadata: {
    namespace: 'ns',
    name: 'a',
    uid: 'u1',
    resourceVersion: '1',
    generation: 1,
    annotations: { x: '1' },
    labels: {},
    ownerReferences: [],
    ...metadata,
  },
  spec: {},
  status,
});

const changes: readonly (readonly [name: string, after: StaticExportObject, wakes: boolean])[] = [
  ['a status alone', object({ resourceVersion: '2' }, { job: {} }), false],
  ['a label', object({ resourceVersion: '2', labels: { l: '1' } }), false],
  ['a new generation', object({ resourceVersion: '2', generation: 2 }), true],
  ['an annotation', object({ resourceVersion: '2', annotations: { x: '2' } }), true],
  ['an annotation taken away', object({ resourceVersion: '2', annotations: {} }), true],
  [
    'the wish to delete it',
    object({ resourceVersion: '2', deletionTimestamp: '2026-11-21T00:00:00Z' }),
    true,
  ],
  ['another object of that name', object({ resourceVersion: '2', uid: 'u2' }), true],
];
for (const [name, after, wakes] of changes) {
  test(`${name} ${wakes ? 'wakes' : 'wakes nobody'}`, () => {
    const cache = new ObjectCache<StaticExportObject>();
    assert.equal(cache.put(object()), true);
    assert.equal(cache.put(after), wakes);
    assert.equal(cache.get('ns/a'), after);
  });
}

test('a complete list separates new and changed objects from gone ones, and leaves out the rest', () => {
  const cache = new ObjectCache<StaticExportObject>();
  for (const name of ['same', 'changed', 'gone']) cache.put(object({ name }));
  const { changed, gone } = cache.replace([
    object({ name: 'same', resourceVersion: '9' }, { job: {} }),
    object({ name: 'changed', generation: 2 }),
    object({ name: 'new' }),
  ]);
  assert.deepEqual(
    changed.map(({ metadata }) => metadata.name),
    ['changed', 'new'],
  );
  assert.deepEqual(gone, ['ns/gone']);
  assert.deepEqual([...cache.keys()].sort(), ['ns/changed', 'ns/new', 'ns/same']);
});

test('differences are found by uid and resourceVersion, in both directions', () => {
  const cache = new ObjectCache<StaticExportObject>();
  for (const name of ['same', 'changed', 'gone', 'reborn']) cache.put(object({ name }));
  const differences = cache.differences([
    object({ name: 'same' }),
    object({ name: 'changed', resourceVersion: '2' }),
    object({ name: 'reborn', uid: 'u2' }),
    object({ name: 'new' }),
  ]);
  assert.deepEqual([...differences].sort(), ['ns/changed', 'ns/gone', 'ns/new', 'ns/reborn']);
});
