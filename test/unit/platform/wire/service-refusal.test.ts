import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeShown, kindOfRefusal } from '#platform/wire/service-refusal.ts';

test('codes of services are shown, and what may be a sentence or a credential is not', () => {
  for (const code of [
    'DENIED',
    'TOOMANYREQUESTS',
    'GOOGLE_MANIFEST_DANGLING_TAG',
    'invalid_grant',
    'QuotaExceeded',
    'XMinioAdminBucketQuotaExceeded',
    'XAmzContentSHA256Mismatch',
    'KMS.DisabledException',
    'InvalidRequest',
  ]) {
    assert.equal(codeShown(code), code);
  }
  for (const code of [
    ...[
      '',
      'hunter2',
      'two words',
      'AKIAIOSFODNN7EXAMPLE',
      'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY',
      403,
      null,
    ],
    ...['A\u202eB', 'https://x', 'X'.repeat(65), 'ghp_0123456789abcdef0123456789abcdef0123'],
  ]) {
    assert.equal(codeShown(code), undefined, String(code));
  }
});

test('words say what a status does not, and a limit of requests is not a full disk', () => {
  for (const [status, text, kind] of [
    [403, 'DENIED will exceed the configured upper limit of 100.0 MiB', 'Full'],
    [400, 'Datastore disk usage is too high', 'Full'],
    [507, '', 'Full'],
    [429, 'quota of pulls', undefined],
    [403, 'API rate limit exceeded', undefined],
    [403, 'requested access to the resource is denied', undefined],
    [412, 'configured as immutable', 'Protected'],
    [403, 'not authorized to perform kms:GenerateDataKey', 'Key'],
    [405, 'READ_ONLY', 'ReadOnly'],
    [413, 'manifest exceeds the size limit', undefined],
    [500, 'write /data: no space left on device', 'Full'],
    [500, 'database is locked', undefined],
    [403, 'the account is locked', undefined],
    [403, 'the image is locked', 'Protected'],
    [403, 'pushes to protected tags are not permitted', 'Protected'],
    [401, 'UNAUTHORIZED immutable', undefined],
    [403, 'AccessDenied on resource "arn:aws:s3:::object-lock-docs/retention"', undefined],
    [403, 'no access to team/retention and quota-docs', undefined],
    [403, 'DENIED user retention-bot may not push', undefined],
    [403, 'DENIED "immutable" is not permitted', undefined],
    [403, 'DENIED repository Quota-Docs: no access', undefined],
    [403, 'bucket docs-locked refuses', undefined],
    [403, 'the tag is immutable', 'Protected'],
    [403, '<p>The image is locked', undefined],
    [403, '<html><title>quota</title>This site is protected: images</html>', undefined],
  ] as const) {
    assert.equal(kindOfRefusal({ status, text }, ['quota-docs', 'a', 'im', '']), kind, text);
  }
});

test('the code of a service decides before its words, if it is specific', () => {
  for (const [status, code, text, kind] of [
    [503, 'XMinioStorageFull', '', 'Full'],
    [400, 'KMS.DisabledException', 'the object is locked', 'Key'],
    [403, 'ObjectLocked', 'Access Denied', 'Protected'],
    [500, 'KMS.InternalFailureException', 'kms failed', undefined],
    [403, 'RATE_LIMIT_EXCEEDED', 'quota exceeded', undefined],
    [404, 'BLOB_UNKNOWN', 'the blob is protected', undefined],
    [403, 'DENIED', 'the blob is protected', 'Protected'],
  ] as const) {
    assert.equal(kindOfRefusal({ status, code, text: `${code} ${text}` }), kind, code);
  }
});

test('hostile words take no time', () => {
  const before = process.threadCpuUsage();
  for (const unit of [
    'storage ',
    'storage a ',
    "'",
    'A',
    'Aa1.',
    'no ',
    'limit ',
    'kms',
    '"',
    'tag ',
    'over-',
    '<p',
  ]) {
    kindOfRefusal({ status: 403, text: unit.repeat(100_000) });
    codeShown(unit.repeat(64 / unit.length));
  }
  // Of this thread alone, so that other work on the machine says nothing. A rule that reads a text again takes minutes.
  const { user, system } = process.threadCpuUsage(before);
  assert.ok(user + system < 200_000, `${user + system} µs`);
});
