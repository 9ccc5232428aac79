// Whether a pod is in step with what is published.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reading } from '#cli/cluster/reading.ts';
import { judgeServing, type ServerStatus, type Serving } from '#cli/cluster/servers.ts';

const running = { phase: 'Running', state: 'Running' };
const digest = 'a'.repeat(64);
const older = { version: '20260101-000000-bbbbbbbb', digest: 'b'.repeat(64) };
const active = { version: '20260102-000000-aaaaaaaa', digest, jobId: 'j' };
const source = {
  kind: 'link',
  state: 'in-sync',
  reason: 'the published bundle is served',
  published: { version: active.version, digest },
  lastError: null,
};
const answer = (change: Partial<ServerStatus>): Reading<ServerStatus> => ({
  value: { serverVersion: '0.1.0', active: { version: active.version, digest }, source, ...change },
});

const rows: readonly (readonly [
  string,
  typeof active | undefined,
  Reading<ServerStatus>,
  Serving['state'],
  RegExp,
])[] = [
  ['a server with the published digest', active, answer({}), 'InStep', /^$/],
  [
    'a server with the published digest under another name',
    active,
    answer({ active: { version: 'v7', digest } }),
    'InStep',
    /^$/,
  ],
  [
    'a server whose mounted Secret is older',
    active,
    answer({ active: older, source: { ...source, published: older } }),
    'Behind',
    /mounted Secret is older/,
  ],
  [
    'a server that cannot download',
    active,
    answer({
      active: older,
      source: {
        ...source,
        state: 'backing-off',
        lastError: { code: 'Refused', message: 'the storage refused' },
      },
    }),
    'Behind',
    /^The server reports backing-off: the storage refused\.$/,
  ],
  [
    'a server without a bundle',
    active,
    answer({ active: null, source: { ...source, state: 'preparing', reason: 'downloading' } }),
    'Behind',
    /^It serves nothing\. The server reports preparing: downloading\.$/,
  ],
  ['a server before the first version', undefined, answer({}), 'Unknown', /Nothing is published yet/],
  [
    'a server that does not answer',
    active,
    { code: 'Unavailable', unreadable: 'no usable answer' },
    'Unknown',
    /^Its status is not readable: no usable answer\.$/,
  ],
];
for (const [name, published, read, state, message] of rows) {
  test(`${name} is ${state}`, () => {
    const serving = judgeServing(published, running, read, undefined);
    assert.equal(serving.state, state);
    assert.match(serving.message ?? '', message);
  });
}

test('without a digest the version decides', () => {
  const { digest: _none, ...uninspected } = active;
  assert.equal(judgeServing(uninspected, running, answer({}), undefined).state, 'InStep');
  const other = answer({ active: older });
  assert.equal(judgeServing(uninspected, running, other, undefined).state, 'Behind');
});

test('a pod that does not run is not asked, and is named with its reason', () => {
  const serving = judgeServing(active, { phase: 'Pending', state: 'ErrImagePull' }, undefined, undefined);
  assert.deepEqual(serving, { state: 'Unknown', message: 'The pod does not run (ErrImagePull).' });
});

test('a server that answers is judged by its answer, also beside a container that crashes', () => {
  const crashing = { phase: 'Running', state: 'CrashLoopBackOff' };
  assert.equal(judgeServing(active, crashing, answer({}), undefined).state, 'InStep');
  const silent = { code: 'Unavailable', unreadable: 'no usable answer' } as const;
  assert.deepEqual(judgeServing(active, crashing, silent, 'CrashLoopBackOff'), {
    state: 'Unknown',
    message: 'Its bundle server does not run (CrashLoopBackOff).',
  });
});

test('a pod that was evicted or has completed has ended, and is not behind', () => {
  for (const [phase, state] of [
    ['Failed', 'Evicted'],
    ['Succeeded', 'Succeeded'],
  ] as const) {
    const serving = judgeServing(active, { phase, state }, undefined, undefined);
    assert.deepEqual(serving, { state: 'Ended', message: `The pod has ended (${state}).` });
  }
});
