// The demo's search for secrets, and what of the user's environment its servers get.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverEnvironment } from '#cli/demo/child-server.ts';
import { findSecrets, secretsOf } from '#cli/demo/secret-search.ts';

const signature = 'ab12'.repeat(16);
const secrets = secretsOf('svc_key', [`expires=1&signature=${signature}`]);

for (const [text, isFound] of [
  ['all is well, /bundles/one/bundle.tar.gz', false],
  ['key: svc_key', true],
  [`?expires=1&signature=${signature}`, true],
  [`only the signature: ${signature}`, true],
  [`a link that no step has seen: signature=${'0f'.repeat(32)}`, true],
  ['the word signature= alone', false],
] as const) {
  test(`${isFound ? 'found' : 'not found'} in: ${text.slice(0, 48)}`, () => {
    assert.deepEqual(findSecrets(new Map([['log', text]]), secrets), isFound ? ['log'] : []);
  });
}

test('servers of the demo get no key, no proxy and no settings of the user', () => {
  const env = {
    PATH: '/bin',
    TMPDIR: '/tmp',
    STATIC_EXPORT_API_KEY: 'svc_real',
    BUNDLE_SERVER_HEADER: 'X: y',
    EXPORT_SERVICE_DATA: '/srv',
    HTTPS_PROXY: 'http://proxy',
    https_proxy: 'http://proxy',
    NO_PROXY: '*',
  };
  assert.deepEqual(serverEnvironment(env), { PATH: '/bin', TMPDIR: '/tmp' });
});
