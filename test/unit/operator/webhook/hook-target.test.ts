// What a hook reads and writes: the same two reads whatever exists, and one annotation under the uid that was read.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Call, Transport } from '#operator/kube/transport/transport.ts';
import { createHookTargets } from '#operator/webhook/hook-target.ts';
import { ClusterError, type ClusterErrorCode } from '#platform/wire/cluster-error.ts';

const key = { namespace: 'docs', name: 'site' };
const { signal } = new AbortController();
const metadata = { name: 'site', namespace: 'docs', uid: 'uid-1', resourceVersion: '1' };
const base = { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } } };
const hooked = (ref: object) => ({ metadata, spec: { ...base, trigger: { webhook: { secretRef: ref } } } });
const secretOf = (data: Record<string, string>) => ({
  metadata,
  data: Object.fromEntries(
    Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')]),
  ),
});

function start(object: object | ClusterErrorCode, secret: object | ClusterErrorCode) {
  const calls: Call[] = [];
  const call: Transport['call'] = async (made) => {
    calls.push(made);
    const answer = made.address.resource.kind === 'Secret' ? secret : object;
    if (typeof answer === 'string') throw new ClusterError(answer, `refused with ${answer}`);
    return answer;
  };
  return { calls, targets: createHookTargets({ call, stream: () => assert.fail(), close: async () => {} }) };
}

const cases: Readonly<
  Record<string, readonly [object | ClusterErrorCode, object | ClusterErrorCode, string?]>
> = {
  'a secret': [hooked({ name: 'hook' }), secretOf({ secret: 'known' }), 'known'],
  'a secret in another key': [hooked({ name: 'hook', key: 'k' }), secretOf({ k: 'known' }), 'known'],
  'no StaticExport': ['NotFound', 'NotFound'],
  'a forbidden StaticExport': ['Forbidden', 'Forbidden'],
  'a StaticExport in deletion': [
    { ...hooked({ name: 'hook' }), metadata: { ...metadata, deletionTimestamp: '2026-01-05T12:00:00Z' } },
    'NotFound',
  ],
  'no trigger': [{ metadata, spec: base }, 'NotFound'],
  'a trigger without webhook': [{ metadata, spec: { ...base, trigger: {} } }, 'NotFound'],
  'an unreadable spec': [{ metadata, spec: 42 }, 'NotFound'],
  'no Secret': [hooked({ name: 'hook' }), 'NotFound'],
  'a forbidden Secret': [hooked({ name: 'hook' }), 'Forbidden'],
  'no such key': [hooked({ name: 'hook' }), secretOf({ other: 'x' })],
  'a key of the prototype': [hooked({ name: 'hook', key: 'constructor' }), secretOf({ other: 'x' })],
  'an empty secret': [hooked({ name: 'hook' }), secretOf({ secret: ' \n' })],
};

for (const [words, [object, secret, text]] of Object.entries(cases)) {
  test(`${words} costs one read of a StaticExport and one of a Secret`, async () => {
    const { calls, targets } = start(object, secret);
    const found = await targets.find(key, signal);
    assert.equal(found.secret?.text, text);
    assert.equal(found.why === undefined, text !== undefined);
    assert.deepEqual(
      calls.map(({ method, address }) => `${method} ${address.resource.plural} ${address.namespace}`),
      ['GET staticexports docs', 'GET secrets docs'],
    );
  });
}

for (const code of ['Unavailable', 'Unauthorized', 'TooManyRequests'] as const) {
  test(`${code} is not an absence: the sender must retry`, async () => {
    await assert.rejects(start(code, 'NotFound').targets.find(key, signal), { code });
    await assert.rejects(start(hooked({ name: 'hook' }), code).targets.find(key, signal), { code });
  });
}

test('the one write names the uid that was read, and the manager of the annotation', async () => {
  const { calls, targets } = start({}, {});
  await targets.request(key, 'uid-1', '2026-01-05T12:00:00.000Z', signal);
  const [{ method, query, contentType, body } = assert.fail()] = calls;
  assert.deepEqual(
    { method, query, contentType, body },
    {
      method: 'PATCH',
      query: { fieldManager: 'static-export-webhook' },
      contentType: 'application/merge-patch+json',
      body: {
        metadata: {
          uid: 'uid-1',
          annotations: { 'staticexport.dev/hookRequestedAt': '2026-01-05T12:00:00.000Z' },
        },
      },
    },
  );
});
