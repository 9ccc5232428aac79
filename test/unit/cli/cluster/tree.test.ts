// What `tree` says of an object whose presence or content is not certain.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { treeOf } from '#cli/cluster/tree.ts';
import { metadata, pod, surroundings } from '../doctor/healthy-state.ts';

test('a key that managed fields do not name is present with a caveat, as doctor says', () => {
  const keyOf = (dataKeys: readonly string[] | undefined) => {
    const key = { value: { metadata: metadata('docs', 'export-api'), dataKeys } };
    const [found] = treeOf(surroundings({ key })).objects;
    return [found?.state, found?.message];
  };
  assert.deepEqual(keyOf(['apiKey']), ['Present', 'It has the key apiKey.']);
  assert.deepEqual(keyOf(undefined), ['Present', undefined]);
  assert.deepEqual(keyOf(['other']), [
    'Present',
    'Its managed fields do not name the key apiKey, which may be there nevertheless.',
  ]);
  const [missing] = treeOf(surroundings({ key: { value: undefined } })).objects;
  assert.equal(missing?.state, 'Missing');
});

test('a pod that has ended is shown as ended', () => {
  const old = pod('old', { state: 'Ended', message: 'The pod has ended (Evicted).' }, { phase: 'Failed' });
  const { objects } = treeOf(surroundings({ pods: new Map([['docs', { value: [old] }]]) }));
  const pods = objects.flatMap((one) => one.pods);
  assert.deepEqual(
    pods.map(({ name, state, message }) => [name, state, message]),
    [['old', 'Ended', 'The pod has ended (Evicted).']],
  );
});

test('a git target is shown with its file, and as status reports it', () => {
  const git = { url: 'https://git.example.com/fleet.git', path: 'a.yaml', secretRef: { name: 'git' } };
  const spec = { targets: [{ name: 'fleet', type: 'Git', git }] };
  const [wanted] = surroundings({ spec }).wanted?.targets ?? [];
  assert.ok(wanted?.type === 'Git');
  const status = {
    name: 'fleet',
    object: wanted.object,
    synced: false,
    reason: 'PushFailed',
    message: 'Why.',
  };
  const { objects } = treeOf(surroundings({ spec, gitTargets: [{ wanted, status }] }));
  const found = objects.find(({ role }) => role === 'Target');
  assert.deepEqual(found, {
    role: 'Target',
    kind: 'Git',
    namespace: 'docs',
    name: 'git.example.com/fleet.git@main:a.yaml',
    state: 'Remote',
    target: 'fleet',
    synced: false,
    reason: 'PushFailed',
    message: 'Why.',
    pods: [],
  });
});
