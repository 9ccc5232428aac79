// Opening a place: the identity of the process opens nothing but a place that may use it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findName, withMirror } from '#mirror/task/opened-mirror.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { failsWith } from '../bundle-parts.ts';
import { place } from './task-builder.ts';

const context = {
  clock: systemClock,
  proxy: { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined },
  identity: { kind: 'AccessKey', accessKeyId: 'pod', secretAccessKey: 'pod-secret' } as const,
};
const bucket = { ...place, address: 's3://bucket/docs' };
const withSecret = (data: Readonly<Record<string, Uint8Array>>) => ({
  ...bucket,
  access: { ...bucket.access, secret: { name: 'mirror', data } },
});
const open = (where: typeof place) => withMirror(where, context, async ({ name }) => name);

test('the identity opens a bucket that may use it', async () => {
  assert.equal(await open({ ...bucket, usesIdentity: true }), 's3://bucket/docs');
  await assert.rejects(open(bucket), failsWith('InvalidCredentials'));
});

test('a Secret without keys is never replaced by the identity', async () => {
  for (const usesIdentity of [false, true]) {
    const empty = { ...withSecret({}), usesIdentity };
    await assert.rejects(
      open(empty),
      failsWith('InvalidCredentials', /The Secret mirror has no accessKeyId/),
    );
  }
});

test('an address from which no reference follows is refused before anything is sent', async () => {
  const odd = { ...bucket, address: 's3://bucket/a=b', usesIdentity: true };
  await assert.rejects(open(odd), failsWith('InvalidReference'));
});

test('a reference to another place has no name here', () => {
  const digest = 'a'.repeat(64);
  const registry = { name: 'oci://registry.example.com/docs' };
  assert.equal(findName(`${registry.name}@sha256:${digest}`, registry), `sha256:${digest}`);
  assert.equal(findName(`oci://evil.example/docs@sha256:${digest}`, registry), undefined);
  assert.equal(findName(`s3://bucket/docs/bundles/${digest}.json`, { name: 's3://bucket/docs' }), digest);
  assert.equal(findName(`s3://bucket/bundles/${digest}.json`, { name: 's3://bucket/docs' }), undefined);
});
