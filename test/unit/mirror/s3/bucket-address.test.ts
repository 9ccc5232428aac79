import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readBucketOrigin, readBucketReference } from '#mirror/s3/bucket-address.ts';
import type { BucketFaultCode } from '#mirror/s3/bucket-fault.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

for (const [text, expected] of [
  ['s3://docs/site', { bucket: 'docs', prefix: 'site' }],
  ['s3://docs/team/site/', { bucket: 'docs', prefix: 'team/site' }],
  ['s3://docs', { bucket: 'docs', prefix: '' }],
  ['s3://docs/', { bucket: 'docs', prefix: '' }],
  ['s3://my.docs-2/v1.2_x@y=z+', { bucket: 'my.docs-2', prefix: 'v1.2_x@y=z+' }],
  ['s3://Docs/site', undefined],
  ['s3://do/site', undefined],
  ['s3://docs..x/site', undefined],
  ['s3://user:secret@docs/site', undefined],
  ['s3://docs/../site', undefined],
  ['s3://docs/a//b', undefined],
  ['s3://docs/.hidden', undefined],
  ['s3://docs/a b', undefined],
  ['s3://docs/site?versionId=1', undefined],
  [`s3://docs/${'x'.repeat(513)}`, undefined],
  ['https://docs/site', undefined],
  ['', undefined],
] as const) {
  test(`the reference ${text.slice(0, 40)} is ${expected === undefined ? 'refused' : 'read'}`, () => {
    assert.deepEqual(readBucketReference(text), expected);
  });
}

const settings = { bucket: 'docs', region: 'eu-west-1', allowPrivateAddresses: false };

for (const [change, origin] of [
  [{}, 'https://s3.eu-west-1.amazonaws.com'],
  [{ region: 'cn-north-1' }, 'https://s3.cn-north-1.amazonaws.com.cn'],
  [{ endpoint: 'https://storage.example.com' }, 'https://storage.example.com'],
  [{ endpoint: 'https://storage.example.com:8443/' }, 'https://storage.example.com:8443'],
  [{ endpoint: 'http://storage.example.com', isHttpAllowed: true }, 'http://storage.example.com'],
  [{ endpoint: 'https://10.0.0.1', allowPrivateAddresses: true }, 'https://10.0.0.1'],
] as const) {
  test(`requests with ${JSON.stringify(change)} go to ${origin}`, () => {
    assert.equal(readBucketOrigin({ ...settings, ...change }), origin);
  });
}

const rows: readonly (readonly [object, BucketFaultCode])[] = [
  [{ bucket: 'docs/../other' }, 'InvalidAddress'],
  [{ bucket: 'evil.example.com#' }, 'InvalidAddress'],
  [{ region: 'evil.example.com/' }, 'InvalidAddress'],
  [{ region: '' }, 'InvalidAddress'],
  [{ endpoint: 'storage.example.com' }, 'InvalidAddress'],
  [{ endpoint: 'ftp://storage.example.com' }, 'InvalidAddress'],
  [{ endpoint: 'https://user:secret@storage.example.com' }, 'InvalidAddress'],
  [{ endpoint: 'https://storage.example.com/path' }, 'InvalidAddress'],
  [{ endpoint: 'https://storage.example.com?key=secret' }, 'InvalidAddress'],
  [{ endpoint: 'http://storage.example.com' }, 'InvalidAddress'],
  [{ endpoint: 'https://127.0.0.1' }, 'AddressNotAllowed'],
  [{ endpoint: 'https://[::1]:9000' }, 'AddressNotAllowed'],
  [{ endpoint: 'https://169.254.169.254' }, 'AddressNotAllowed'],
  [{ endpoint: 'https://localhost:9000' }, 'AddressNotAllowed'],
];
for (const [change, code] of rows) {
  test(`a bucket with ${JSON.stringify(change)} is refused as ${code}`, () => {
    assert.throws(
      () => readBucketOrigin({ ...settings, ...change }),
      (error: unknown) =>
        error instanceof PublishableError && error.code === code && !error.message.includes('secret'),
    );
  });
}
