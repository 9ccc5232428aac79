// Which failures of a first call say that the address is wrong, and which may pass.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAddressFault } from '#export-api/address-fault.ts';
import { ExportApiError } from '#export-api/answers.ts';
import { apiErrorOf, unexpectedApiAnswer } from '#export-api/refusals.ts';
import type { WholeAnswer } from '#platform/http/exchange.ts';

const network = (code: string): ExportApiError => {
  const cause = Object.assign(new Error('said'), { code });
  return new ExportApiError('NetworkError', 'said', { cause });
};
const answer = (status: number, body = ''): WholeAnswer => ({
  ...{ statusCode: status, headers: {}, bytes: Buffer.from(body), isCut: false },
});
const refusal = (status: number, body?: string): ExportApiError => apiErrorOf(answer(status, body), 0, 'key');
const proxy = (status: number): ExportApiError =>
  new ExportApiError('NetworkError', 'said', {
    cause: new Error(`Proxy response (${status}) !== 200 when HTTP Tunneling`),
  });

const tooLong = new ExportApiError('UnexpectedAnswer', 'said', {
  status: 200,
  cause: new RangeError('said'),
});

const rows: readonly (readonly [string, ExportApiError, 'wrong' | 'unreached' | undefined])[] = [
  ...['ENOTFOUND', 'EAI_AGAIN', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].map(
    (code) => [code, network(code), 'unreached'] as const,
  ),
  ...[
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'SELF_SIGNED_CERT_IN_CHAIN',
    'CERT_HAS_EXPIRED',
    'CERT_NOT_YET_VALID',
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'ERR_SSL_WRONG_VERSION_NUMBER',
    'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION',
    'HPE_INVALID_CONSTANT',
    'HPE_INVALID_VERSION',
    'HPE_HEADER_OVERFLOW',
    'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE',
  ].map((code) => [code, network(code), 'wrong'] as const),
  ...[
    'ECONNRESET',
    'UND_ERR_SOCKET',
    'EPIPE',
    'HPE_INVALID_EOF_STATE',
    'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
  ].map((code) => [code, network(code), undefined] as const),
  ...[301, 302, 307, 308].map((status) => [`status ${status}`, refusal(status), 'wrong'] as const),
  ['a certificate', new ExportApiError('ExportApiNotTrusted', 'said'), 'wrong'],
  ['a page', unexpectedApiAnswer(answer(200, '<html>'), 'a jobId', 'key'), 'wrong'],
  ['another JSON', unexpectedApiAnswer(answer(200, '{}'), 'a jobId', 'key'), 'wrong'],
  ['403 as XML of a storage', refusal(403, '<Error/>'), 'wrong'],
  ['404 without words', refusal(404, '<html>'), 'wrong'],
  ['405', refusal(405), 'wrong'],
  ['501', refusal(501), 'wrong'],
  ['404 with words about a domain', refusal(404, '{"error":"no such domain"}'), undefined],
  ['501 with words', refusal(501, '{"error":"not here"}'), 'wrong'],
  ['a listing that is too long', tooLong, undefined],
  ['401', refusal(401), undefined],
  ['400', refusal(400), undefined],
  ['429', refusal(429), undefined],
  ['502 with a page of a gateway', refusal(502, '<html>'), undefined],
  ['a proxy that wants credentials', proxy(407), 'wrong'],
  ['a proxy that does not reach the host', proxy(502), 'unreached'],
  ['a deadline', new ExportApiError('RequestTimeout', 'said'), undefined],
];
for (const [name, error, fault] of rows) {
  test(`${name}: ${fault ?? 'may pass'}`, () => assert.equal(readAddressFault(error), fault));
}
