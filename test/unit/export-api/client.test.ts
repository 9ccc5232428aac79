// The client against a real loopback server with scripted answers: what it sends, what it accepts, and the error of each
// fault. It throws only ExportApiError.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Server } from 'node:net';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { ExportApiError, type ExportApiErrorCode } from '#export-api/answers.ts';
import type { ExchangeOptions } from '#export-api/exchange.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { createWholeClient } from '../../support/export-api-client.ts';
import * as fc from '../../support/properties.ts';

const key = 'svc_topsecret';
const never = new AbortController().signal;

interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let received: Received[] = [];
let answer: (response: ServerResponse) => void = (response) => response.end('{}');
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  received.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body });
  answer(response);
});
let baseUrl = '';

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${portOf(server)}/api/external/`;
});
after(async () => {
  server.closeAllConnections();
  server.close();
});

function portOf(listening: Server): number {
  const address = listening.address();
  assert.ok(typeof address === 'object' && address !== null);
  return address.port;
}

function client(options: Partial<ExchangeOptions> = {}) {
  received = [];
  return createWholeClient({
    baseUrl,
    key,
    clock: systemClock,
    timeoutMs: 60_000,
    userAgent: 'test/1',
    ...options,
  });
}

function reply(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  answer = (response) => {
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

const start = { domain: 'docs.example.com', idempotencyKey: 'mark-1' };

async function failure(promise: Promise<unknown>): Promise<ExportApiError> {
  const error = await promise.then(
    () => assert.fail('should have been refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ExportApiError, inspect(error));
  return error;
}

test('a start is one POST below the prefix, with bearer key, JSON body and Idempotency-Key', async () => {
  reply(202, { jobId: 'se_1', status: 'queued', extra: [1] }, { 'Retry-After': '3' });
  const started = await client().startJob(start, never);
  assert.equal(started.jobId, 'se_1');
  assert.equal(started.retryAfterMs, 3000);
  assert.deepEqual(started.raw, { jobId: 'se_1', status: 'queued', extra: [1] });
  const [request] = received;
  assert.equal(request?.method, 'POST');
  assert.equal(request?.url, '/api/external/v1/static-export/jobs');
  assert.equal(request?.headers.authorization, `Bearer ${key}`);
  assert.equal(request?.headers['idempotency-key'], 'mark-1');
  assert.equal(request?.headers['content-type'], 'application/json');
  assert.equal(request?.headers['user-agent'], 'test/1');
  assert.equal(request?.body, '{"domain":"docs.example.com"}');
});

test('every 2xx with a job id starts a job', async () => {
  for (const status of [200, 201, 202, 203, 207, 299]) {
    reply(status, { jobId: 'se_1' });
    assert.equal((await client().startJob(start, never)).jobId, 'se_1', String(status));
  }
  reply(202, '', { Location: '/v1/static-export/jobs/se_2' });
  assert.equal((await client().startJob(start, never)).jobId, 'se_2');
});

test('a job id of any characters is sent as one path segment', async () => {
  reply(200, { status: 'running', progress: 0.5, pageCount: '7' });
  const report = await client().readJob('a/b?c#d%2e é', never);
  assert.equal(received[0]?.url, '/api/external/v1/static-export/jobs/a%2Fb%3Fc%23d%252e%20%C3%A9');
  assert.deepEqual(
    { ...report, raw: undefined },
    {
      outcome: 'unfinished',
      state: 'running',
      progress: 50,
      pageCount: 7,
      retryAfterMs: undefined,
      raw: undefined,
    },
  );
});

test("a link request is a POST without a body, and returns the service's clock", async () => {
  const date = 'Thu, 01 Jan 2026 00:00:00 GMT';
  reply(
    200,
    { bundleUrl: 'https://b.example.com/x?signature=1', expiresAt: '2026-01-01T00:15:00Z' },
    { Date: date },
  );
  const issued = await client().issueLink({ jobId: 'se_1', idempotencyKey: 'issue-1' }, never);
  assert.equal(issued.link.reveal(), 'https://b.example.com/x?signature=1');
  assert.equal(issued.expiresAt, Date.UTC(2026, 0, 1, 0, 15));
  assert.equal(issued.serverDate, Date.UTC(2026, 0, 1));
  assert.equal(received[0]?.method, 'POST');
  assert.equal(received[0]?.url, '/api/external/v1/static-export/jobs/se_1/bundle');
  assert.equal(received[0]?.headers['idempotency-key'], 'issue-1');
  assert.equal(received[0]?.headers['content-type'], undefined);
  assert.equal(received[0]?.body, '');
});

test('a listing sends full instants and only the given filters', async () => {
  reply(200, { conversations: [{ id: 'c1', odd: true }, 7], nextCursor: null, hasMore: false });
  const page = await client().listConversations(
    { projectId: 'p/1', dateFrom: 0, dateTo: Date.UTC(2026, 0, 1), limit: 1000, cursor: 'C 1' },
    never,
  );
  assert.equal(
    received[0]?.url,
    '/api/external/v1/analytics/p%2F1/assistant?dateFrom=1970-01-01T00%3A00%3A00.000Z&dateTo=2026-01-01T00%3A00%3A00.000Z&limit=1000&cursor=C+1',
  );
  assert.equal(page.rows.length, 2);
  assert.equal(page.rows[0]?.id, 'c1');
  assert.equal(page.rows[1]?.id, undefined);
  assert.deepEqual(page.following, { kind: 'end' });
});

test('answers that break the contract are typed errors, each with advice', async () => {
  const rows: readonly (readonly [number, string, ExportApiErrorCode, RegExp])[] = [
    [200, '', 'UnexpectedAnswer', /empty body/],
    [200, '<!DOCTYPE html><title>Sign in</title>', 'UnexpectedAnswer', /HTML page/],
    [200, 'jobId', 'UnexpectedAnswer', /not JSON/],
    [200, '{"id":"x"}', 'UnexpectedAnswer', /without a usable jobId/],
    [204, '', 'UnexpectedAnswer', /empty body/],
    [302, '', 'UnexpectedAnswer', /redirects/],
    [304, '', 'UnexpectedAnswer', /redirects/],
    [400, '{"error":"no such domain"}', 'BadRequest', /check the domain/],
    [401, '{"error":"unknown key"}', 'Unauthorized', /returned 401 for this key; /],
    [403, '{"error":"read only"}', 'Forbidden', /returned 403 for this key; .*"read only"/],
    [
      403,
      '<?xml version="1.0"?><Error><Code>AccessDenied</Code></Error>',
      'UnexpectedAnswer',
      /403 with XML.*base URL/,
    ],
    [401, '<html>Sign in</html>', 'UnexpectedAnswer', /401 with an HTML page.*base URL/],
    [404, '', 'NotFound', /This API may be project-scoped: then set spec\.api\.projectId/],
    [405, '', 'NotFound', /This API may be project-scoped: then set spec\.api\.projectId/],
    [409, '{}', 'Conflict', /state of the job/],
    [410, '{}', 'Gone', /no longer/],
    [429, '', 'RateLimited', /limits the rate/],
    [500, 'oops', 'ServerError', /failed/],
    [503, '<html>', 'ServerError', /failed/],
  ];
  for (const [status, body, code, message] of rows) {
    reply(status, body, { Location: 'http://127.0.0.1:1/elsewhere' });
    const error = await failure(client().startJob(start, never));
    assert.equal(error.code, code, String(status));
    assert.equal(error.status, status);
    assert.match(error.message, message);
    assert.doesNotMatch(error.message, /topsecret|127\.0\.0\.1/);
    assert.equal(received.length, 1, 'a redirect must not be followed');
  }
});

test('a key that no header can carry is refused before anything is sent', async () => {
  for (const bad of ['', 'svc_a\n', 'svc_a b', 'svc_é', 'svc_\u0000', '\r\nX-Evil: 1']) {
    const error = await failure(client({ key: bad }).readJob('se_1', never));
    assert.equal(error.code, 'Unauthorized', inspect(bad));
    assert.equal(error.status, undefined);
    assert.match(error.message, /nothing was sent/);
    assert.equal(received.length, 0);
  }
});

test('a base URL, id, bound or Idempotency-Key that cannot be sent is refused before anything is sent', async () => {
  const good = client();
  const rows = [
    client({ baseUrl: 'nonsense' }).readJob('se_1', never),
    client({ baseUrl: 'ftp://x.example.com' }).readJob('se_1', never),
    client({ baseUrl: 'https://u:p@x.example.com' }).readJob('se_1', never),
    client({ baseUrl: 'https://x.example.com/?a=1' }).readJob('se_1', never),
    good.readJob('..', never),
    good.readJob('', never),
    good.readJob('\ud800', never),
    good.issueLink({ jobId: '.', idempotencyKey: 'k' }, never),
    good.startJob({ domain: 'd', idempotencyKey: 'a\nb' }, never),
    good.listConversations({ projectId: 'p', dateFrom: Number.NaN }, never),
    good.listConversations({ projectId: 'p', limit: 0 }, never),
    good.listConversations({ projectId: 'p', limit: 1001 }, never),
    good.listConversations({ projectId: 'p', limit: 1.5 }, never),
  ];
  for (const row of rows) assert.equal((await failure(row)).code, 'BadRequest');
  assert.equal(received.length, 0);
});

test('an answer above its limit is an error', async () => {
  answer = (response) => {
    response.writeHead(200);
    const pour = (): void => {
      while (response.write('x'.repeat(65_536)));
    };
    response.on('drain', pour);
    pour();
  };
  const error = await failure(client().readJob('se_1', never));
  assert.equal(error.code, 'UnexpectedAnswer');
  assert.match(error.message, /more than 131072 bytes/);
});

test('a refusal above the limit keeps its status and its Retry-After', async () => {
  answer = (response) => {
    response.writeHead(503, { 'retry-after': '120', 'content-type': 'text/html' });
    response.write('<html><title>Under maintenance</title>');
    const pour = (): void => {
      while (response.write('x'.repeat(65_536)));
    };
    response.on('drain', pour);
    pour();
  };
  const error = await failure(client().readJob('se_1', never));
  assert.deepEqual([error.code, error.status, error.retryAfterMs], ['ServerError', 503, 120_000]);
});

test('a deadline that passes is RequestTimeout, before the headers and in the middle of the body', async () => {
  const hang = (): void => {};
  const stall = (response: ServerResponse): void => {
    response.writeHead(200);
    response.write('{"jobId":');
  };
  for (const behaviour of [hang, stall]) {
    answer = behaviour;
    // The deadline is under the test's control: it passes when the request has arrived.
    const passed = Promise.withResolvers<void>();
    const clock = { ...systemClock, after: () => passed.promise };
    const arrived = once(server, 'request');
    const pending = failure(client({ clock, timeoutMs: 1234 }).readJob('se_1', never));
    await arrived;
    passed.resolve();
    const error = await pending;
    assert.equal(error.code, 'RequestTimeout');
    assert.match(error.message, /1234 ms/);
  }
});

test("the caller's signal ends a call as Aborted, before and during it", async () => {
  answer = () => {};
  const controller = new AbortController();
  const arrived = once(server, 'request');
  const pending = failure(client().readJob('se_1', controller.signal));
  await arrived;
  controller.abort();
  assert.equal((await pending).code, 'Aborted');
  assert.equal((await failure(client().readJob('se_1', controller.signal))).code, 'Aborted');
  assert.equal(received.length, 0);
});

test('a missing service, a closed connection and an answer that is not HTTP are NetworkError', async () => {
  const closed = createTcpServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  const port = portOf(closed);
  closed.close();
  await once(closed, 'close');
  const refused = await failure(client({ baseUrl: `http://127.0.0.1:${port}` }).readJob('se_1', never));
  assert.equal(refused.code, 'NetworkError');
  assert.match(refused.message, /ECONNREFUSED/);

  answer = (response) => response.socket?.destroy();
  assert.equal((await failure(client().readJob('se_1', never))).code, 'NetworkError');
  answer = (response) => {
    response.writeHead(200, { 'Content-Length': '100' });
    response.write('{"sta', () => response.socket?.destroy());
  };
  assert.equal((await failure(client().readJob('se_1', never))).code, 'NetworkError');
});

const link = 'https://b.example.com/x?signature=hush';
/** Forms in which a service repeats what it was sent: alone, within a text, in another case, encoded once and twice. */
const echoes = [
  key,
  `job-${key}-1`,
  key.toUpperCase(),
  encodeURIComponent(link),
  link,
  ...[key, `${key}=`].flatMap((text) => {
    const once = [...text].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('');
    return [once, `job-${once.toUpperCase()}`, encodeURIComponent(once)];
  }),
];

test('a job id that contains the key or a link is unusable, in the body and in Location', async () => {
  for (const echo of echoes) {
    reply(202, { jobId: echo });
    const inBody = await failure(client().startJob(start, never));
    reply(202, '', { Location: `/v1/static-export/jobs/${encodeURIComponent(echo)}` });
    const inLocation = await failure(client().startJob(start, never));
    for (const error of [inBody, inLocation]) {
      assert.equal(error.code, 'UnexpectedAnswer', echo);
      assert.match(error.message, /without a usable jobId/);
      assert.doesNotMatch(inspect(error), /topsecret|%74|hush/i);
    }
  }
  reply(202, { jobId: 12345678 });
  assert.equal(
    (await failure(client({ key: '12345678' }).startJob(start, never))).code,
    'UnexpectedAnswer',
    'a number',
  );
  reply(202, { jobId: 'svc_top' });
  assert.equal((await client().startJob(start, never)).jobId, 'svc_top', 'a part of the key is not the key');
});

test('a state that contains the key or a link is unknown, also if only the hidden part contains it', async () => {
  for (const echo of echoes) {
    for (const status of [echo, `waiting for ${echo}`, { code: echo }, `${'.'.repeat(58)}${echo}`]) {
      reply(200, { status });
      assert.equal((await client().readJob('se_1', never)).state, 'unknown', inspect(status));
    }
  }
});

test('a request id that contains the key is left out, and the next header is taken', async () => {
  for (const echo of echoes.filter((one) => !/[?&]/.test(one))) {
    reply(500, '', { 'x-request-id': echo, 'cf-ray': 'ray-1' });
    assert.equal((await failure(client().readJob('se_1', never))).requestId, 'ray-1', echo);
  }
});

test('any payload and status gives an answer or an ExportApiError', async () => {
  const pieces = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    fc
      .record({
        jobId: fc.jsonValue(),
        status: fc.oneof(fc.jsonValue(), fc.constantFrom('completed', 'FAILED', { code: 'completed' })),
        progress: fc.jsonValue(),
        pageCount: fc.jsonValue(),
        bundleUrl: fc.oneof(fc.jsonValue(), fc.webUrl()),
        expiresAt: fc.jsonValue(),
        conversations: fc.jsonValue(),
        nextCursor: fc.jsonValue(),
        hasMore: fc.jsonValue(),
        error: fc.jsonValue(),
      })
      .map((body) => JSON.stringify(body)),
  );
  const api = client();
  const calls = [
    () => api.startJob(start, never),
    () => api.readJob('se_1', never),
    () => api.issueLink({ jobId: 'se_1', idempotencyKey: 'k' }, never),
    () => api.listConversations({ projectId: 'p' }, never),
  ];
  await fc.assertAsync(
    fc.asyncProperty(
      pieces,
      fc.constantFrom(200, 202, 301, 400, 404, 418, 500, 599),
      fc.nat(3),
      async (body, status, which) => {
        reply(status, body);
        try {
          const result = await calls[which]?.();
          assert.ok(status < 300);
          // A listing has no `raw`: it may cross a thread, and its rows say what they could read.
          const raw = result !== undefined && 'raw' in result ? result.raw : JSON.parse(body);
          assert.deepEqual(JSON.stringify(raw), JSON.stringify(JSON.parse(body)));
        } catch (error) {
          assert.ok(error instanceof ExportApiError, inspect(error));
          assert.doesNotMatch(error.message, /topsecret/);
        }
      },
    ),
    { numRuns: 150 },
  );
});

test('any bytes in place of HTTP give an answer or an ExportApiError', async () => {
  let bytes: Uint8Array = new Uint8Array();
  const raw = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(bytes));
  }).listen(0, '127.0.0.1');
  await once(raw, 'listening');
  const port = portOf(raw);
  const api = client({ baseUrl: `http://127.0.0.1:${port}` });
  const head = fc.tuple(
    fc.constantFrom('HTTP/1.1 200 OK\r\n', 'HTTP/1.1 503 \r\n', 'HTTP/1.1 301 Moved\r\n', 'HTTP/9 x\r\n', ''),
    fc.array(
      fc.tuple(
        fc.constantFrom('Retry-After', 'Date', 'Content-Length', 'X-Request-Id', 'Location'),
        fc.string(),
      ),
      {
        maxLength: 4,
      },
    ),
    fc.uint8Array({ maxLength: 200 }),
  );
  await fc.assertAsync(
    fc.asyncProperty(head, async ([line, headers, body]) => {
      const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      bytes = Buffer.concat([Buffer.from(`${line}${lines}\r\n`), body]);
      await api.readJob('se_1', never).catch((error: unknown) => {
        assert.ok(error instanceof ExportApiError, inspect(error));
      });
    }),
    { numRuns: 100 },
  );
  raw.close();
});
