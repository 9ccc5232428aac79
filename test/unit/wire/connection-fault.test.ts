// What a failed connection means: whether a CA certificate is missing, a certificate is wrong, or the host was not reached.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConnectionFault, describeConnectionFault } from '../../../src/wire/connection-fault.ts';

const kinds: Readonly<Record<ConnectionFault['kind'], readonly string[]>> = {
  'unknown-ca': [
    'UNABLE_TO_GET_ISSUER_CERT',
    'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'CERT_SIGNATURE_FAILURE',
    'CERT_UNTRUSTED',
  ],
  'wrong-certificate': [
    'CERT_HAS_EXPIRED',
    'CERT_NOT_YET_VALID',
    'CERT_REVOKED',
    'CERT_REJECTED',
    'CERT_CHAIN_TOO_LONG',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_TLS_CERT_ALTNAME_FORMAT',
    'ERROR_IN_CERT_NOT_AFTER_FIELD',
    'HOSTNAME_MISMATCH',
    'INVALID_CA',
    'INVALID_PURPOSE',
    'PATH_LENGTH_EXCEEDED',
    'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY',
    'UNABLE_TO_DECRYPT_CERT_SIGNATURE',
  ],
  'not-tls': [
    'HPE_INVALID_CONSTANT',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  ],
  unreachable: [
    'ENOTFOUND',
    'EAI_AGAIN',
    'ECONNREFUSED',
    'ECONNRESET',
    'UND_ERR_SOCKET',
    'PROXY_ANSWERED_407',
    'HPE_INVALID_EOF_STATE',
    // The other side refuses a certificate of ours.
    'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  ],
};
for (const [kind, codes] of Object.entries(kinds)) {
  for (const code of codes) {
    test(`${code} is ${kind}`, () => {
      const fault = describeConnectionFault(code);
      assert.equal(fault.kind, kind);
      assert.ok(fault.what.endsWith(` (${code})`));
      assert.equal(fault.what.startsWith('showed a certificate '), /ca$|certificate$/.test(kind));
      assert.equal(fault.remedy === undefined, kind === 'unknown-ca', 'each has a remedy, or the caller has');
    });
  }
}
