// The mirror as a source: it is asked with a digest only, and passes to the link if there is one.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import type { ServedBundle } from '#bundle/published-bundle.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { mirrorSource } from '#server/source/mirror-source.ts';

const digest = 'a'.repeat(64);
const ref = `oci://registry.example.com/docs@sha256:${'b'.repeat(64)}`;
const link = Link.parse('https://storage.example.com/x') ?? assert.fail();
const unknown = { version: undefined, jobId: undefined, issuedAt: undefined, expiresAt: undefined };
const copied: ServedBundle = { ...unknown, ref, digest, link: undefined };
const denied = new PublishableError('Denied', 'Registry host registry.example.com returned 401.', {
  kind: 'retry',
});

async function obtain(published: ServedBundle, fault?: Error) {
  const asked: string[] = [];
  const warnings: string[] = [];
  const restore = async (name: string): Promise<void> => {
    asked.push(name);
    if (fault !== undefined) throw fault;
  };
  const logger = pino({ level: 'warn' }, { write: (line: string) => void warnings.push(line) });
  const source = mirrorSource(restore, logger);
  const request = { published, onProgress: () => {}, isRetry: false, isWantedUnstored: () => false };
  const found = await source.obtain(request, new AbortController().signal).catch((error: unknown) => error);
  return { asked, found, warnings };
}

test('a copy is brought in by its reference', async () => {
  const { asked, found } = await obtain(copied);
  assert.deepEqual([asked, found], [[ref], digest]);
});

test('content without a reference or a digest is left to the link', async () => {
  for (const published of [
    { ...copied, ref: undefined, link },
    { ...copied, digest: undefined, link },
  ]) {
    const { asked, found } = await obtain(published);
    assert.deepEqual([asked, found], [[], undefined]);
  }
});

test('a mirror that fails passes to the link, and says why', async () => {
  const { found, warnings } = await obtain({ ...copied, link }, denied);
  assert.equal(found, undefined);
  assert.match(warnings.join(), /could not read the mirror: Registry host .* returned 401.*using the link/);
});

test('without a link the error of the mirror is the answer', async () => {
  const { found, warnings } = await obtain(copied, denied);
  assert.equal(found, denied);
  assert.deepEqual(warnings, []);
});
