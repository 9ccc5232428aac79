// `bundle.json`: what the operator writes, a server reads back; what is wrong is named without its value.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  formatPublishedBundle,
  type PublishedBundle,
  parsePublishedBundle,
  parseServedBundle,
} from '#bundle/published-bundle.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import * as fc from '../../support/properties.ts';
import { requireLink, signature } from '../../support/storage-server.ts';

const link = {
  url: requireLink(`https://storage.example.com/b.tar.gz?${signature}`),
  issuedAt: Date.UTC(2026, 0, 5, 12),
  expiresAt: Date.UTC(2026, 0, 5, 12, 15),
};
const bundle = {
  version: '20260105-120000-0a1b2c3d',
  digest: 'ab'.repeat(32),
  jobId: 'job 1/ä',
  pages: 12,
  sizeBytes: 34_567,
  ref: undefined,
  link,
} satisfies PublishedBundle;
const ref = 'oci://registry.example.com/docs@sha256:0a';

test('what was written is read back', () => {
  const optional = fc.record({
    digest: fc.constantFrom(undefined, bundle.digest),
    pages: fc.option(fc.nat(), { nil: undefined }),
    sizeBytes: fc.option(fc.nat(), { nil: undefined }),
    jobId: fc.string({ minLength: 1 }),
  });
  const paths = fc.constantFrom(
    {},
    ...['', '/docs', '/documentation', '/a.b/c~d'].map((basePath) => ({ basePath })),
  );
  const repairs = fc.constantFrom({}, { repair: 'canonical=set=docs.example.com sitemap' });
  const { digest } = bundle;
  const sources = fc.constantFrom({}, { ref, digest }, { ref, digest, link: undefined });
  fc.assert(
    fc.property(optional, sources, paths, repairs, (fields, source, path, repair) => {
      const whole: PublishedBundle = { ...bundle, ...fields, ...source, ...path, ...repair };
      const { link: readLink, ...rest } = parsePublishedBundle(formatPublishedBundle(whole));
      const { link: writtenLink, ...wanted } = whole;
      assert.deepEqual(rest, wanted);
      assert.equal(readLink?.url.isSame(writtenLink?.url), writtenLink && true);
      const { issuedAt, expiresAt } = readLink ?? {};
      assert.deepEqual([issuedAt, expiresAt], [writtenLink?.issuedAt, writtenLink?.expiresAt]);
    }),
  );
});

for (const basePath of [
  null,
  7,
  '/',
  'docs',
  '/docs/',
  '//docs',
  '/a/../b',
  '/.',
  '/a b',
  '/a%2fb',
  '/ä',
  '/\u0000',
]) {
  test(`a base path ${JSON.stringify(basePath)} is refused by every reader`, () => {
    const text = JSON.stringify({ ...JSON.parse(formatPublishedBundle(bundle)), basePath });
    for (const read of [parsePublishedBundle, parseServedBundle]) {
      assert.throws(() => read(text), /basePath must be a path such as \/docs, or empty for the root/);
    }
  });
}

test('a server takes a copy in a mirror by its reference and digest', () => {
  const digest = 'b'.repeat(64);
  const served = parseServedBundle(JSON.stringify({ ref, digest, version: 'v1' }));
  assert.deepEqual([served.ref, served.digest, served.version, served.link], [ref, digest, 'v1', undefined]);
  const both = parseServedBundle(JSON.stringify({ ref, digest, bundleUrl: link.url.reveal() }));
  assert.ok(both.link?.isSame(link.url));
  assert.throws(() => parseServedBundle(JSON.stringify({ ref })), /digest must be 64 hex digits/);
  assert.throws(() => parseServedBundle(JSON.stringify({ ref: 'https://x', digest })), /ref must be an oci/);
  const stored = parseServedBundle(JSON.stringify({ digest, version: 'v1' }));
  assert.deepEqual(
    [stored.digest, stored.version, stored.link, stored.ref],
    [digest, 'v1', undefined, undefined],
  );
});

test('a server takes the whole document, or a link alone; what is there must be right', () => {
  const whole = parseServedBundle(formatPublishedBundle(bundle));
  assert.deepEqual([whole.version, whole.digest, whole.jobId], [bundle.version, bundle.digest, bundle.jobId]);
  assert.ok(whole.link?.isSame(link.url));
  const alone = parseServedBundle(JSON.stringify({ bundleUrl: link.url.reveal() }));
  assert.deepEqual([alone.version, alone.digest, alone.expiresAt], [undefined, undefined, undefined]);
  for (const text of ['{}', JSON.stringify({ bundleUrl: link.url.reveal(), digest: 'AB' })]) {
    assert.throws(() => parseServedBundle(text), PublishableError);
  }
});

test('a bundle without a link is published by its reference and digest', () => {
  const copy = { ...bundle, ref, link: undefined };
  const json: unknown = JSON.parse(formatPublishedBundle(copy));
  const { version, digest, jobId, pages, sizeBytes } = bundle;
  assert.deepEqual(json, { version, digest, jobId, pages, sizeBytes, ref });
  assert.deepEqual(parsePublishedBundle(JSON.stringify(json)), copy);
});

test('instants are written in UTC seconds', () => {
  const json: unknown = JSON.parse(formatPublishedBundle(bundle));
  assert.ok(typeof json === 'object' && json !== null && 'expiresAt' in json);
  assert.equal(json.expiresAt, '2026-01-05T12:15:00Z');
});

describe('a bundle.json that is wrong names its fields and what they must be, never their values', () => {
  const whole: object = JSON.parse(formatPublishedBundle(bundle));
  const table: readonly (readonly [string, string, RegExp])[] = [
    ['no JSON', `{"bundleUrl":"https://x/?${signature}"`, /not JSON/],
    ['null', 'null', /bundle\.json must be an object with a bundleUrl/],
    ['a list', '[]', /: bundle\.json must be an object/],
    ['no link', JSON.stringify({ ...whole, bundleUrl: `null?${signature}` }), /bundleUrl/],
    ['another scheme', JSON.stringify({ ...whole, bundleUrl: `ftp://x/?${signature}` }), /bundleUrl/],
    [
      'a version that is a number',
      JSON.stringify({ ...whole, version: 20240601 }),
      /version must be a text of 1 to 63 characters/,
    ],
    [
      'a digest that is none',
      JSON.stringify({ ...whole, digest: 'AB' }),
      /digest must be 64 hex digits in lower case/,
    ],
    [
      'a date that is none',
      JSON.stringify({ ...whole, expiresAt: 'soon' }),
      /expiresAt must be an instant such as/,
    ],
    ['fewer pages than none', JSON.stringify({ ...whole, pages: -1 }), /pages/],
  ];
  for (const [name, text, words] of table) {
    test(name, () => {
      assert.throws(
        () => parsePublishedBundle(text),
        (error) => {
          assert.ok(error instanceof PublishableError);
          assert.equal(error.code, 'InvalidBundleJson');
          assert.match(error.message, words);
          assert.ok(!`${error.message}${String(error.cause)}`.includes('5ec2e7'));
          return true;
        },
      );
    });
  }
});
