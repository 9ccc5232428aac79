// The published document: what the operator writes comes back whole, a server takes less, and nothing of a
// wrong document is ever repeated in the error about it.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  formatPublishedBundle,
  type PublishedBundle,
  PublishedBundleError,
  parsePublishedBundle,
  parseServedBundle,
} from '../../../src/bundle/published-bundle.ts';
import { Link } from '../../../src/wire/link.ts';

const url = 'https://storage.example.com/e/7.tar.gz?X-Amz-Signature=5ec2e7&X-Amz-Expires=900';

function link(text: string): Link {
  const parsed = Link.parse(text);
  assert.ok(parsed !== undefined);
  return parsed;
}

const published: PublishedBundle = {
  version: '20261121-030512-9f2c41aa',
  digest: '9f2c41aa'.repeat(8),
  jobId: 'job/7 ü',
  bundleUrl: link(url),
  issuedAt: Date.parse('2026-11-21T03:05:12Z'),
  expiresAt: Date.parse('2026-11-21T03:20:12Z'),
  pages: 62,
  sizeBytes: 1_234_567,
};

const refusal = (run: () => unknown): PublishedBundleError => {
  let thrown: unknown;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  assert.ok(thrown instanceof PublishedBundleError, `no refusal but ${String(thrown)}`);
  return thrown;
};

test('what the operator writes is read back whole, by operators and by servers', () => {
  const text = formatPublishedBundle(published);
  const { bundleUrl, ...facts } = parsePublishedBundle(text);
  const { bundleUrl: expected, ...expectedFacts } = published;
  assert.deepEqual(facts, expectedFacts);
  assert.ok(bundleUrl.isSame(expected));
  const served = parseServedBundle(text);
  assert.ok(served.bundleUrl.isSame(expected));
  const { version, digest, jobId, expiresAt } = published;
  assert.deepEqual(
    { ...served, bundleUrl: undefined },
    { bundleUrl: undefined, version, digest, jobId, expiresAt },
  );
});

test('the written form has its keys in one order and its instants in UTC seconds', () => {
  assert.equal(
    formatPublishedBundle({ ...published, digest: undefined, pages: undefined, sizeBytes: undefined }),
    `{"version":"20261121-030512-9f2c41aa","jobId":"job/7 ü","bundleUrl":"${url}",` +
      '"issuedAt":"2026-11-21T03:05:12Z","expiresAt":"2026-11-21T03:20:12Z"}',
  );
});

test('a server takes a document with nothing but a link', () => {
  const served = parseServedBundle(JSON.stringify({ bundleUrl: url }));
  assert.ok(served.bundleUrl.isSame(published.bundleUrl));
  assert.deepEqual(
    [served.version, served.digest, served.jobId, served.expiresAt],
    [undefined, undefined, undefined, undefined],
  );
});

test('the operator’s reader does not take a short document for a whole one', () => {
  const error = refusal(() => parsePublishedBundle(JSON.stringify({ bundleUrl: url, version: 'v7' })));
  assert.equal(error.message, 'bundle.json has invalid fields: jobId, issuedAt, expiresAt');
});

const wrong: readonly (readonly [string, unknown, string])[] = [
  ['no link', { version: 'v7' }, 'bundleUrl'],
  ['a link that is none', { bundleUrl: 'null' }, 'bundleUrl'],
  ['an empty version', { bundleUrl: url, version: '' }, 'version'],
  ['a version that is a number', { bundleUrl: url, version: 7 }, 'version'],
  ['a digest cut short', { bundleUrl: url, digest: '9f2c' }, 'digest'],
  ['an expiry that is no instant', { bundleUrl: url, expiresAt: 'soon' }, 'expiresAt'],
  ['a list', [url], 'document'],
  ['null', null, 'document'],
];
for (const [name, value, field] of wrong) {
  test(`a server refuses ${name}, naming the field and not its value`, () => {
    const error = refusal(() => parseServedBundle(JSON.stringify(value)));
    assert.equal(error.code, 'InvalidBundleDocument');
    assert.equal(error.message, `bundle.json has invalid fields: ${field}`);
  });
}

test('no text makes the readers throw anything but their refusal, and the refusal repeats nothing of it', () => {
  const secret = 'X-Amz-Signature=5ec2e7';
  const texts = fc.oneof(
    fc.string().map((text) => `${text}${secret}`),
    fc.json().map((text) => JSON.stringify({ bundleUrl: secret, other: text })),
    fc
      .nat(formatPublishedBundle(published).length - 1)
      .map((at) => formatPublishedBundle(published).slice(0, at)),
  );
  fc.assert(
    fc.property(texts, fc.constantFrom(parsePublishedBundle, parseServedBundle), (text, parse) => {
      const error = refusal(() => parse(text));
      assert.doesNotMatch(`${error.message} ${String(error.cause)} ${error.stack}`, /5ec2e7/);
    }),
  );
});
