// What a failed connection means: whether a CA certificate is missing, a certificate is wrong, or the host was not reached.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { Agent } from 'undici';
import {
  type ConnectionFault,
  describeConnectionFault,
  readConnectionFault,
} from '#platform/http/connection-fault.ts';
import { portOf } from '../../../support/storage-server.ts';
import { words } from '../../../support/words.ts';

const kinds: Readonly<Record<Exclude<ConnectionFault['kind'], 'internal-address'>, readonly string[]>> = {
  'unknown-ca': words(`
    UNABLE_TO_GET_ISSUER_CERT UNABLE_TO_GET_ISSUER_CERT_LOCALLY UNABLE_TO_VERIFY_LEAF_SIGNATURE
    DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN CERT_SIGNATURE_FAILURE CERT_UNTRUSTED
  `),
  'wrong-certificate': words(`
    CERT_HAS_EXPIRED CERT_NOT_YET_VALID CERT_REVOKED CERT_REJECTED CERT_CHAIN_TOO_LONG
    ERR_TLS_CERT_ALTNAME_INVALID ERR_TLS_CERT_ALTNAME_FORMAT ERROR_IN_CERT_NOT_AFTER_FIELD
    HOSTNAME_MISMATCH INVALID_CA INVALID_PURPOSE PATH_LENGTH_EXCEEDED UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY
    UNABLE_TO_DECRYPT_CERT_SIGNATURE
  `),
  'wrong-protocol': [
    'HPE_INVALID_CONSTANT',
    'HPE_INVALID_VERSION',
    'HPE_HEADER_OVERFLOW',
    'HTTPParserError',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
    'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
    'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
    // The other side refuses a certificate of ours.
    'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'ERR_SSL_DH_KEY_TOO_SMALL',
  ],
  unreachable: words(`
    ENOTFOUND EAI_AGAIN ECONNREFUSED ECONNRESET UND_ERR_SOCKET PROXY_ANSWERED_407 HPE_INVALID_EOF_STATE
    ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR ERR_SSL_SSL/TLS_ALERT_BAD_RECORD_MAC
    ERR_SSL_UNEXPECTED_EOF_WHILE_READING
  `),
};
for (const [kind, codes] of Object.entries(kinds)) {
  for (const code of codes) {
    test(`${code} is ${kind}`, () => {
      const fault = describeConnectionFault(code);
      assert.equal(fault.kind, kind);
      assert.ok(fault.what.endsWith(` (${code})`));
      assert.equal(fault.what.startsWith('showed a certificate '), /ca$|certificate$/.test(kind));
      assert.equal(fault.remedy.includes('--extra-ca-file'), kind === 'unknown-ca');
    });
  }
}

// What a client really throws: tables of codes alone once named two that no version of Node in use has.
const alert = (code: number): Buffer => Buffer.from([21, 3, 3, 0, 2, 2, code]);
for (const [scheme, said, kind, what] of [
  [
    'https',
    alert(40),
    'wrong-protocol',
    'refused the TLS handshake (ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE)',
  ],
  ['https', alert(48), 'wrong-protocol', 'refused the TLS handshake (ERR_SSL_TLSV1_ALERT_UNKNOWN_CA)'],
  ['https', alert(80), 'unreachable', 'refused the TLS handshake (ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR)'],
  [
    'https',
    'SSH-2.0-x\r\n',
    'wrong-protocol',
    'does not speak TLS on this port (ERR_SSL_WRONG_VERSION_NUMBER)',
  ],
  ['http', 'SSH-2.0-x\r\n', 'wrong-protocol', 'did not answer with HTTP (HTTPParserError)'],
  ['http', 'HTTP/9.9 200 OK\r\n\r\n', 'wrong-protocol', 'did not answer with HTTP (HTTPParserError)'],
  ['http', 'HTTP/1.1 200 OK\r\nfoo: b', 'unreachable', 'did not answer or broke off (UND_ERR_SOCKET)'],
] as const) {
  test(`${scheme} answered with ${JSON.stringify(said)} ${what}`, async () => {
    const server = createServer((socket) =>
      socket.on('error', () => {}).once('data', () => socket.end(said)),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const agent = new Agent();
    const sent = agent.request({
      origin: `${scheme}://127.0.0.1:${portOf(server)}`,
      path: '/',
      method: 'GET',
    });
    const error: unknown = await sent.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    await agent.close();
    server.close();
    const fault = readConnectionFault(error);
    assert.deepEqual([fault.kind, fault.what], [kind, what]);
  });
}
