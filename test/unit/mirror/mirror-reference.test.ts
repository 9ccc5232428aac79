// References of mirrored bundles: what is read is written again, and what holds a secret or leads elsewhere is refused.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatReference, parseReference } from '#mirror/mirror-reference.ts';

const digest = 'a'.repeat(64);

const accepted: readonly (readonly [string, string])[] = [
  ['a registry', `oci://registry.example.com/docs@sha256:${digest}`],
  ['a port and a deep path', `oci://registry.example.com:5000/team/docs_site/x-y@sha256:${digest}`],
  ['a bucket', `s3://docs-bundles/bundles/${digest}.json`],
  ['a bucket with a prefix', `s3://docs-bundles/team/Docs/bundles/${digest}.json`],
  ['a prefix that is named like the folder', `s3://docs-bundles/bundles/bundles/${digest}.json`],
];

for (const [name, text] of accepted) {
  test(`${name} is read and written again`, () => {
    assert.equal(formatReference(parseReference(text)), text);
  });
}

const refused: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['a tag instead of a digest', 'oci://registry.example.com/docs:latest'],
  ['a user name', `oci://user:word@registry.example.com/docs@sha256:${digest}`],
  ['a query', `oci://registry.example.com/docs?x=1@sha256:${digest}`],
  ['upper case in a repository', `oci://registry.example.com/Docs@sha256:${digest}`],
  ['no repository', `oci://registry.example.com@sha256:${digest}`],
  ['a parent folder', `s3://docs-bundles/../other/bundles/${digest}.json`],
  ['another folder', `s3://docs-bundles/blobs/${digest}.json`],
  ['a short digest', `s3://docs-bundles/bundles/${digest.slice(1)}.json`],
  ['a bucket in upper case', `s3://Docs/bundles/${digest}.json`],
  ['a link', `https://registry.example.com/docs@sha256:${digest}`],
];

for (const [name, text] of refused) {
  test(`a reference with ${name} is refused, and not quoted`, () => {
    assert.throws(
      () => parseReference(text),
      (error: unknown) =>
        error instanceof Error &&
        'code' in error &&
        error.code === 'InvalidReference' &&
        (text === '' || !error.message.includes(text)),
    );
  });
}
