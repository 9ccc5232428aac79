// What a push adds to a registry's refusal.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { registryFault } from '#mirror/registry/registry-fault.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { explainPushFault, type PushReach } from '../../../../packaging/push/push-fault.ts';

const reach: PushReach = { host: 'r.example.com', isPlainHttp: false, filesWithout: undefined };
const files = [
  { path: '/a.json', text: '{"auths":{}}' },
  { path: '/b.json', text: undefined },
];
const coded = (code: string): Error => Object.assign(new Error('of TLS'), { code });
const noTls = (code: string): Error =>
  registryFault('Unreachable', `Registry host r.example.com failed (${code})`, { cause: coded(code) });
const denied = registryFault('Denied', 'Registry host r.example.com returned 401', { remedy: 'Set some.' });

test('clear text in answer to TLS names the flag, and no other failure of TLS does', () => {
  for (const code of ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']) {
    const fault = explainPushFault(noTls(code), reach);
    assert.ok(fault instanceof PublishableError && fault.code === 'Unreachable');
    assert.ok(fault.message.endsWith(' A registry without TLS needs --plain-http.'), fault.message);
  }
  const expired = noTls('CERT_HAS_EXPIRED');
  assert.equal(explainPushFault(expired, reach), expired);
  const withFlag = noTls('ERR_SSL_WRONG_VERSION_NUMBER');
  assert.equal(explainPushFault(withFlag, { ...reach, isPlainHttp: true }), withFlag);
});

test('a refusal names the files only where no credentials were sent', () => {
  assert.equal(explainPushFault(denied, reach), denied);
  const fault = explainPushFault(denied, { ...reach, filesWithout: files });
  assert.ok(fault instanceof Error && fault.cause === denied);
  assert.equal(
    fault.message,
    'Registry host r.example.com returned 401. Set some. No login for r.example.com is in:\n' +
      '  /a.json\n  /b.json (does not exist)\nLog in, or set REGISTRY_USERNAME and REGISTRY_PASSWORD.',
  );
});

test('failures of another kind stay as they are', () => {
  const other = new Error('x');
  assert.equal(explainPushFault(other, { ...reach, filesWithout: files }), other);
});
