// The remedy for a certificate that is not accepted: one for each such code, and none for others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviceOn } from '../../../../src/kube/transport/certificate-advice.ts';

const advised: readonly (readonly [codes: readonly string[], words: RegExp])[] = [
  [['CERT_HAS_EXPIRED'], /has expired; renew it, or correct the local clock/],
  [['CERT_NOT_YET_VALID'], /compare its clock with the local one/],
  [['ERR_TLS_CERT_ALTNAME_INVALID'], /set tls-server-name in the kubeconfig/],
  [
    [
      'CERT_SIGNATURE_FAILURE',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    /not issued by certificate-authority of the kubeconfig: set the issuing CA certificate there; .*kube-root-ca\.crt/,
  ],
];
for (const [codes, words] of advised) {
  for (const code of codes) {
    test(`${code} names a remedy`, () => assert.match(adviceOn(code) ?? '', words));
  }
}

test('a code that is not about a certificate has no advice', () => {
  for (const code of ['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ERR_TLS_HANDSHAKE_TIMEOUT', 'Error']) {
    assert.equal(adviceOn(code), undefined);
  }
});
