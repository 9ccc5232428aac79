// Every client of the network against every fault of a connection: each says the same words about the same fault, and each
// ends when it is aborted while a connection is being made. Over real sockets.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { requestLink } from '#bundle/fetch/link-request.ts';
import { webhookSink } from '#conversations/sinks/webhook-sink.ts';
import { createExportApiClient } from '#export-api/client.ts';
import { createOriginFetcher } from '#export-service/crawler/origin/origin-fetcher.ts';
import { openRegistry } from '#mirror/registry/registry-client.ts';
import { openBucket } from '#mirror/s3/open-bucket.ts';
import { openGitHttp } from '#operator/git/git-http.ts';
import { createTransport } from '#operator/kube/transport/transport.ts';
import { callWebhook } from '#operator/notify/webhook-call.ts';
import { createAgent, type HttpAgent } from '#platform/http/agent.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import { createAuthority } from '../../../support/pki.ts';
import { sampleTurn } from '../../../support/sample-turn.ts';
import { portOf, requireLink } from '../../../support/storage-server.ts';
import { get } from '../../operator/kube/loopback-server.ts';

const proxy = { httpProxy: undefined, httpsProxy: undefined, noProxy: undefined };
const userAgent = 'test';
/** Pauses between attempts are over at once, deadlines are not. */
const hastyClock = (timeoutMs: number): Clock => ({
  ...systemClock,
  after: (ms, signal) => (ms === timeoutMs ? systemClock.after(ms, signal) : Promise.resolve()),
});

interface Asked {
  readonly origin: string;
  readonly host: string;
  readonly extraCaPem: string;
  readonly agent: HttpAgent;
  readonly isHttpAllowed: boolean;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

type Client = (asked: Asked, signal: AbortSignal) => Promise<unknown>;

const clients: Readonly<Record<string, Client>> = {
  'the export API': ({ origin, agent, timeoutMs, clock }, signal) => {
    const call = { baseUrl: origin, project: undefined, key: 'k', clock, timeoutMs, userAgent, agent };
    return createExportApiClient(call).readJob('j', signal);
  },
  'a link': ({ origin, agent }, signal) =>
    requestLink(requireLink(`${origin}/b.tgz`), { agent, maxRedirects: 2, userAgent }, signal),
  'a registry': async ({ host, extraCaPem, isHttpAllowed, timeoutMs, clock }, signal) => {
    const own = { credentials: undefined, allowPrivateAddresses: true, isHttpAllowed, extraCaPem };
    const limits = { idleTimeoutMs: timeoutMs, answerTimeoutMs: timeoutMs };
    const options = { ...own, repository: `oci://${host}/docs`, proxy, userAgent, clock, limits };
    const registry = openRegistry(options);
    return await registry.readManifest('v1', signal).finally(() => registry.close());
  },
  'a bucket': async ({ origin, extraCaPem, isHttpAllowed, timeoutMs, clock }, signal) => {
    const credentials = { kind: 'AccessKey', accessKeyId: 'a', secretAccessKey: 's' } as const;
    const place = { bucket: 'docs', region: 'eu-west-1', endpoint: origin, pathStyle: true };
    const reach = { isHttpAllowed, allowPrivateAddresses: true, extraCaPem, idleTimeoutMs: timeoutMs };
    const bucket = await openBucket({ ...place, ...reach, credentials }, clock);
    return await bucket.head('key', signal).finally(() => bucket.close());
  },
  'a git host': async ({ origin, extraCaPem, isHttpAllowed, timeoutMs }, signal) => {
    const limits = { deadlineMs: timeoutMs, maxBytes: 1024 };
    const remote = { branch: 'main', access: {}, allowPrivateAddresses: true, isHttpAllowed, extraCaPem };
    const url = `${origin}/docs.git`;
    const http = openGitHttp({ ...remote, url, userAgent, limits }, { proxy, signal });
    const sent = { url: `${url}/info/refs?service=git-upload-pack`, headers: {} };
    return await http
      .exchange(1024)
      .client.request(sent)
      .finally(() => http.close());
  },
  'a webhook of conversations': ({ origin, agent, timeoutMs, clock }, signal) => {
    const target = { url: `${origin}/turns`, secret: Buffer.from('s'), agent, userAgent, timeoutMs, clock };
    return webhookSink(target, signal).write([sampleTurn({})]);
  },
  'a webhook of notifications': async ({ origin, host, agent, timeoutMs, clock }, signal) => {
    const address = { url: new URL(origin), host, secret: undefined };
    const options = { agent, userAgent, timeoutMs, clock };
    const answer = await callWebhook(address, { id: 'i', body: '{}' }, options, signal);
    throw new Error(answer.kind === 'taken' ? 'taken' : answer.problem);
  },
  'a crawled site': async ({ origin, timeoutMs, clock }, signal) => {
    const scope = { domain: 'docs.example.com', originHost: origin, prefix: '' };
    const limits = { concurrency: 1, requestTimeoutMs: timeoutMs, maxFileBytes: 1024 };
    const fetcher = createOriginFetcher(scope, limits, true, clock);
    const address = { path: '/', query: '' };
    return await fetcher.get(address, signal, async () => undefined).finally(() => fetcher.close());
  },
  'the Kubernetes API server': async ({ origin, extraCaPem, timeoutMs, clock }, signal) => {
    const authenticate = async () => ({ headers: {}, tls: { ca: extraCaPem } });
    const fixed = { proxyUrl: undefined, namespace: undefined, renew: () => {} };
    const transport = createTransport({ server: origin, authenticate, ...fixed }, { clock, timeoutMs });
    return await transport.call(get, signal).finally(() => transport.close());
  },
};

/** What each throws about a certificate, and about everything else; `undefined` where its answer is data. */
const codes: Readonly<Record<string, readonly [certificate: string, connection: string]>> = {
  'the export API': ['ExportApiNotTrusted', 'NetworkError'],
  'a link': ['CertificateNotTrusted', 'DownloadFailed'],
  'a registry': ['CertificateNotTrusted', 'Unreachable'],
  'a bucket': ['CertificateNotTrusted', 'Unreachable'],
  'a git host': ['CertificateNotTrusted', 'Unreachable'],
  'a webhook of conversations': ['WebhookUnavailable', 'WebhookUnavailable'],
  'a crawled site': ['OriginUnreachable', 'OriginUnreachable'],
  'the Kubernetes API server': ['Unavailable', 'Unavailable'],
};
const codesOfSilence: Readonly<Record<string, string>> = {
  'the export API': 'RequestTimeout',
  'a git host': 'Timeout',
};

interface Fault {
  readonly words: string;
  readonly scheme: 'http' | 'https';
  readonly server: () => Server | Promise<Server>;
  readonly isClosed?: boolean;
  readonly isSilent?: boolean;
  /** Whether the client must trust the CA of the test to come that far. */
  readonly isOfTrusted?: boolean;
}

const names = { dns: ['localhost'], ips: ['127.0.0.1'] };
const authority = await createAuthority();
const stranger = await createAuthority();

type Names = Parameters<typeof authority.issueServer>[0];
const tls = async (given: Names, issuer = authority): Promise<Server> => {
  const { certificatePem, keyPem } = await issuer.issueServer(given);
  return createTlsServer({ cert: certificatePem, key: keyPem });
};
const saying = (said: string): Server =>
  createServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(said)));

const faults: Readonly<Record<string, Fault>> = {
  'refused connection': {
    ...{ words: 'refused the connection (ECONNREFUSED)', scheme: 'http' },
    server: () => createServer(),
    isClosed: true,
  },
  reset: {
    ...{ words: 'did not answer or broke off (ECONNRESET)', scheme: 'http' },
    server: () => createServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
  },
  silence: { words: 'in time', scheme: 'http', server: () => createServer(), isSilent: true },
  'silent handshake': {
    ...{ words: 'in time', scheme: 'https', isSilent: true },
    server: () => createServer(),
  },
  'answer that is not HTTP': {
    ...{ words: 'did not answer with HTTP (HTTPParserError)', scheme: 'http' },
    server: () => saying('SSH-2.0-x\r\n'),
  },
  'port without TLS': {
    ...{ words: 'does not speak TLS on this port (ERR_SSL_WRONG_VERSION_NUMBER)', scheme: 'https' },
    server: () => saying('HTTP/1.1 400 Bad Request\r\n\r\n'),
  },
  'certificate of an unknown CA': {
    ...{ words: 'showed a certificate that is not trusted (', scheme: 'https' },
    server: () => tls(names, stranger),
  },
  'expired certificate': {
    ...{ words: 'showed a certificate that has expired (CERT_HAS_EXPIRED)', scheme: 'https' },
    ...{ server: () => tls({ ...names, hasExpired: true }), isOfTrusted: true },
  },
  'certificate for another name': {
    ...{ words: 'showed a certificate for another name (ERR_TLS_CERT_ALTNAME_INVALID)', scheme: 'https' },
    ...{ server: () => tls({ dns: ['other.example.com'], ips: [] }), isOfTrusted: true },
  },
};

/** Has no flag for CA certificates. */
const withoutTrust: readonly string[] = ['a crawled site'];

const openAgents: HttpAgent[] = [];
after(async () => {
  for (const agent of openAgents) await agent.destroy();
});

async function listen(server: Server, scheme: string, timeoutMs: number): Promise<Asked> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${portOf(server)}`;
  const extraCaPem = authority.certificatePem;
  const agent = createAgent({ allowPrivateAddresses: true, idleTimeoutMs: timeoutMs, extraCaPem });
  openAgents.push(agent);
  const asked = { origin: `${scheme}://${host}`, host, isHttpAllowed: scheme === 'http', extraCaPem };
  return { ...asked, agent, timeoutMs, clock: hastyClock(timeoutMs) };
}

const patientMs = 600_000;

for (const [fault, { words, scheme, server, isClosed, isSilent, isOfTrusted }] of Object.entries(faults)) {
  describe(fault, { concurrency: true }, () => {
    let started: Server;
    let asked: Asked;
    const sockets: Socket[] = [];
    before(async () => {
      started = await server();
      started.on('tlsClientError', () => {});
      started.on('connection', (socket) => sockets.push(socket.on('error', () => {})));
      // Every other fault comes at once.
      asked = await listen(started, scheme, isSilent === true ? 200 : patientMs);
      if (isClosed === true) started.close();
    });
    after(() => {
      started.close();
      for (const socket of sockets) socket.destroy();
    });
    for (const [name, client] of Object.entries(clients)) {
      if (isOfTrusted === true && withoutTrust.includes(name)) continue;
      test(`${name} ${words}`, { timeout: 60_000 }, async () => {
        const isTask = isSilent === true && name === 'a git host';
        const signal = isTask ? AbortSignal.timeout(asked.timeoutMs) : new AbortController().signal;
        const error: unknown = await client(asked, signal).catch((thrown: unknown) => thrown);
        assert.ok(error instanceof Error);
        assert.ok(error.message.includes(words), error.message);
        const own = codes[name]?.[words.includes('certificate') ? 0 : 1];
        const code = isSilent === true ? (codesOfSilence[name] ?? own) : own;
        if (code !== undefined) assert.equal(publishableCode(error), code);
      });
    }
  });
}

describe('an abort while a connection is being made', { concurrency: true }, () => {
  for (const [name, client] of Object.entries(clients)) {
    test(`ends ${name}`, { timeout: 60_000 }, async () => {
      const silent = createServer();
      const caller = new AbortController();
      const sockets: Socket[] = [];
      silent.on('connection', (socket) => {
        sockets.push(socket.on('error', () => {}));
        // After the connection of the system, and before TLS answers.
        setImmediate(() => caller.abort(new Error('stopped by the caller')));
      });
      const asked = await listen(silent, 'https', patientMs);
      const error: unknown = await client(asked, caller.signal).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof Error && caller.signal.aborted);
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
  }
});
