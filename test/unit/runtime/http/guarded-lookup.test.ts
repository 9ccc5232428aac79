import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardedLookup, isInternalHost } from '../../../../src/runtime/http/guarded-lookup.ts';

test('a name that resolves to this machine is refused when connecting', async () => {
  const error = await new Promise<unknown>((resolve) =>
    guardedLookup('localhost', { all: true }, (failure) => resolve(failure)),
  );
  assert.ok(error instanceof Error && 'code' in error);
  assert.equal(error.code, 'InternalAddress');
});

test('a literal internal host is known without a lookup', () => {
  for (const host of [
    '127.0.0.1',
    '[::1]',
    'localhost',
    'localhost.',
    'a.localhost',
    'A.LOCALHOST.',
    '169.254.169.254',
  ])
    assert.equal(isInternalHost(host), true, host);
  for (const host of ['example.com', '8.8.8.8', '[2606:2800:220:1::1]'])
    assert.equal(isInternalHost(host), false, host);
});
