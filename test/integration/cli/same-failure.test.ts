// One failure of the export API through every verb that asks it: the same code, the same sentence, and one exit code where
// the verb may end at once. A verb with `--timeout` tries until then what may pass, and names the failure as its last one.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { runInProcess } from '../../support/cli-in-process.ts';
import { findFreePort } from '../../support/free-port.ts';
import { createAuthority } from '../../support/pki.ts';
import { portOf } from '../../support/storage-server.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const authority = await createAuthority();
const otherAuthority = await createAuthority();
type Close = TestContext['after'];

async function originOf(server: Server, scheme: 'http' | 'https', after: Close): Promise<string> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  after(() => server.close());
  return `${scheme}://127.0.0.1:${portOf(server)}`;
}

const answering =
  (status: number, headers: Readonly<Record<string, string>> = {}) =>
  (after: Close): Promise<string> => {
    const all = { 'content-type': 'application/json', ...headers };
    const server = createHttpServer((_request, response) =>
      response.writeHead(status, all).end('{"message":"said by the service"}'),
    );
    return originOf(server, 'http', after);
  };

const certified =
  (names: Parameters<typeof authority.issueServer>[0], by = authority) =>
  async (after: Close): Promise<string> => {
    const { certificatePem: cert, keyPem: key } = await by.issueServer(names);
    return originOf(createHttpsServer({ cert, key }), 'https', after);
  };
const loopback = { dns: [], ips: ['127.0.0.1'] };

interface Fault {
  readonly open: (after: Close) => Promise<string>;
  readonly code: string;
  readonly exitCode: number;
  /** In the message of each verb. */
  readonly says: RegExp;
  /** The verbs with a deadline try again until then. */
  readonly mayPass?: true;
}

const faults: Readonly<Record<string, Fault>> = {
  '401': {
    open: answering(401),
    code: 'KeyRefused',
    exitCode: 3,
    says: /the export API returned 401 for this key/i,
  },
  '403': { open: answering(403), code: 'KeyForbidden', exitCode: 3, says: /\b403\b/ },
  '429 for a day': {
    open: answering(429, { 'retry-after': '86400' }),
    code: 'RateLimited',
    exitCode: 5,
    says: / \d{4}-\d\d-\d\dT[\d:]+Z/,
  },
  '500': { open: answering(500), code: 'ServerError', exitCode: 5, says: /500/, mayPass: true },
  '503': { open: answering(503), code: 'ServerError', exitCode: 5, says: /503/, mayPass: true },
  silence: {
    open: (after) => originOf(createServer(), 'http', after),
    code: 'RequestTimeout',
    exitCode: 5,
    says: /did not answer in time/,
    mayPass: true,
  },
  'a reset': {
    open: (after) => {
      const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
      return originOf(server, 'http', after);
    },
    code: 'NetworkError',
    exitCode: 5,
    says: /did not answer or broke off \(ECONNRESET\)/,
    mayPass: true,
  },
  'a closed port': {
    open: async () => `http://127.0.0.1:${await findFreePort()}`,
    code: 'NetworkError',
    exitCode: 12,
    says: /refused the connection \(ECONNREFUSED\)\. Check the port, and that the service runs/,
    mayPass: true,
  },
  'an expired certificate': {
    open: certified({ ...loopback, hasExpired: true }),
    code: 'ExportApiNotTrusted',
    exitCode: 12,
    says: /certificate that has expired \(CERT_HAS_EXPIRED\)\. Renew the certificate there/,
  },
  'a certificate for another host': {
    open: certified({ dns: ['other.example.com'], ips: [] }),
    code: 'ExportApiNotTrusted',
    exitCode: 12,
    says: /certificate for another name \(ERR_TLS_CERT_ALTNAME_INVALID\)/,
  },
  'a certificate of an unknown CA': {
    open: certified(loopback, otherAuthority),
    code: 'ExportApiNotTrusted',
    exitCode: 12,
    says: /certificate that is not trusted .*add the CA certificate with --extra-ca-file/,
  },
};

const manifest = `apiVersion: staticexport.dev/v1alpha1
kind: StaticExport
metadata: { name: docs }
spec: { domain: docs.example.com, api: { keySecretRef: { name: export-api } } }
`;

/** @param at of a file in the test's folder */
const verbs: Readonly<Record<string, (at: (name: string) => string) => readonly string[]>> = {
  export: (at) => ['export', 'docs.example.com', '--key-file', at('key'), '--to', at('a'), '--timeout', '6s'],
  run: (at) => [
    ...['run', '--once', '-f', at('docs.yaml'), '--secret', `export-api=${at('key')}`],
    ...['--publish', `dir=${at('a')}`, '--timeout', '6s'],
  ],
  'conversations export': (at) => [
    ...['conversations', 'export', '--project', 'p', '--key-file', at('key'), '--to', at('a')],
  ],
};

describe('one failure, every verb', { concurrency: 6 }, () => {
  for (const [name, { open, code, exitCode, says, mayPass }] of Object.entries(faults)) {
    test(`${name}: ${code} in every verb`, async (t) => {
      const origin = await open((close) => t.after(close));
      for (const [verb, wordsOf] of Object.entries(verbs)) {
        const folder = temporaryFolder(t);
        const at = (file: string): string => join(folder, file);
        writeFileSync(at('key'), 'svc_x\n');
        writeFileSync(at('docs.yaml'), manifest);
        writeFileSync(at('ca.pem'), authority.certificatePem);
        const result = await runInProcess([
          ...wordsOf(at),
          ...['--api-base-url', origin, '--state', at('state'), '--extra-ca-file', at('ca.pem')],
          ...['--request-timeout', '1s', '-o', 'json'],
        ]);
        const error = JSON.parse(result.stdout);
        const isLate = mayPass === true && verb !== 'conversations export';
        const { code: found, message } = isLate ? error.lastFailure : error;
        assert.deepEqual([verb, result.code, found], [verb, isLate ? 124 : exitCode, code], result.stderr);
        assert.match(message, says, verb);
        if (verb !== 'run') assert.doesNotMatch(message, /Secret/, verb);
      }
    });
  }
});
