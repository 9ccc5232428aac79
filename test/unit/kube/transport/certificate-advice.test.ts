// What is said of a certificate that is not trusted: something for every code of such, and nothing for others.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adviceOn } from '../../../../src/kube/transport/certificate-advice.ts';

const advised: readonly (readonly [codes: readonly string[], words: RegExp])[] = [
  [['CERT_HAS_EXPIRED'], /is over; renew it there, or set the clock here/],
  [['CERT_NOT_YET_VALID'], /compare its clock with the one here/],
  [['ERR_TLS_CERT_ALTNAME_INVALID'], /name it in tls-server-name of the kubeconfig/],
  [
    [
      'CERT_SIGNATURE_FAILURE',
      'DEPTH_ZERO_SELF_SIGNED_CERT',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    ],
    /another authority than certificate-authority of the kubeconfig says: put its authority's certificate there; .*kube-root-ca\.crt/,
  ],
];
for (const [codes, words] of advised) {
  for (const code of codes) {
    test(`${code} says what to do`, () => assert.match(adviceOn(code) ?? '', words));
  }
}

test('what does not speak of a certificate gets no advice on one', () => {
  for (const code of ['ECONNREFUSED', 'UND_ERR_CONNECT_TIMEOUT', 'ERR_TLS_HANDSHAKE_TIMEOUT', 'Error']) {
    assert.equal(adviceOn(code), undefined);
  }
});
