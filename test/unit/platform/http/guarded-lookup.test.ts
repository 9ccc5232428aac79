// Hosts that may not be asked, by name when connecting and as literal addresses, with and without leave for private ones.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { guardedLookup, isInternalHost, isRefusedHost } from '#platform/http/guarded-lookup.ts';
import { words } from '../../../support/words.ts';

const lookUp = (host: string, allowsPrivate: boolean): Promise<unknown> =>
  new Promise((resolve) =>
    guardedLookup(allowsPrivate)(host, { all: true }, (failure) => resolve(failure ?? 'found')),
  );

test('a name that resolves to this machine is refused when connecting', async () => {
  const error = await lookUp('localhost', false);
  assert.ok(error instanceof Error && 'code' in error);
  assert.equal(error.code, 'InternalAddress');
});

test('where private addresses are allowed, it is asked', async () => {
  assert.equal(await lookUp('localhost', true), 'found');
});

test('an address of a metadata service is refused even then', async () => {
  // The system gives a literal address back as it is.
  for (const host of ['169.254.169.254', 'fe80::1']) {
    const error = await lookUp(host, true);
    assert.ok(error instanceof Error && 'code' in error, host);
    assert.equal(error.code, 'InternalAddress', host);
  }
});

test('a literal internal host is known without a lookup', () => {
  for (const host of words('127.0.0.1 [::1] localhost localhost. a.localhost A.LOCALHOST. 169.254.169.254'))
    assert.equal(isInternalHost(host), true, host);
  for (const host of ['example.com', '8.8.8.8', '[2606:2800:220:1::1]'])
    assert.equal(isInternalHost(host), false, host);
});

test('a literal link-local host is refused whatever is allowed, other private ones are not', () => {
  for (const host of ['169.254.169.254', '169.254.169.254.', '[fe80::1]', '[::ffff:a9fe:a9fe]'])
    assert.deepEqual([isRefusedHost(host, true), isRefusedHost(host, false)], [true, true], host);
  for (const host of ['127.0.0.1', 'localhost', '10.0.0.1', '[fd00::1]'])
    assert.deepEqual([isRefusedHost(host, true), isRefusedHost(host, false)], [false, true], host);
});
