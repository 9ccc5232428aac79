// The client of one project against a real loopback server: what it sends for each call, that no answer is kept as it came,
// and what each status means in this form.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { after, before, test } from 'node:test';
import { inspect } from 'node:util';
import { type ExportApi, ExportApiError, type ExportProject } from '#export-api/answers.ts';
import { createExportApiClient } from '#export-api/client.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { openAgent } from '../../support/open-agent.ts';
import { portOf } from '../../support/storage-server.ts';

const key = 'svc_topsecret';
const never = new AbortController().signal;
const signature = 'X-Amz-Signature=5ec4e7';
const link = `https://files.example.com/acme-export-2026-11-29.tar.gz?${signature}`;

interface Received {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

let received: Received[] = [];
let answer: (response: ServerResponse) => void = (response) => response.end('{}');
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { method, url, headers } = request;
  received.push({ method, url, headers, body });
  answer(response);
});

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
after(() => {
  server.closeAllConnections();
  server.close();
});

function connect(project: Partial<ExportProject> = {}): ExportApi {
  received = [];
  return createExportApiClient({
    ...{ baseUrl: `http://127.0.0.1:${portOf(server)}/api`, key, userAgent: 'test/1' },
    ...{ clock: systemClock, timeoutMs: 60_000, agent: openAgent },
    project: { id: '5f0c9a7e', basePath: undefined, ...project },
  });
}

function reply(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  answer = (response) => {
    response.writeHead(status, headers);
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

async function refusal(call: Promise<unknown>): Promise<ExportApiError> {
  const error = await call.then(
    () => assert.fail('it was taken'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ExportApiError, inspect(error));
  assert.ok(!inspect(error).includes(signature) && !inspect(error).includes(key), inspect(error));
  return error;
}

const start = { domain: 'docs.example.com', idempotencyKey: 'mark-1' };
const job = (status: string, more: object = {}) => ({
  ...{ jobId: '665f1c2e9b1d8e0012ab34cd', status, error: null },
  ...{ createdAt: '2026-11-29T10:00:00Z', updatedAt: '2026-11-29T10:05:00Z' },
  ...more,
});
const { jobId } = job('queued');
const completed = job('completed', { bundleUrl: link, expiresAt: '2026-11-29T11:05:00Z', sizeBytes: 4096 });

test('a start names neither domain nor base path where none is set', async () => {
  reply(202, job('queued'));
  assert.equal((await connect().startJob(start, never)).jobId, jobId);
  const [sent] = received;
  assert.deepEqual(
    [sent?.method, sent?.url, sent?.body],
    ['POST', '/api/v1/static-export/5f0c9a7e/jobs', ''],
  );
  assert.deepEqual(
    [sent?.headers.authorization, sent?.headers['content-type']],
    [`Bearer ${key}`, undefined],
  );
});

for (const basePath of ['', '/docs', '/documentation'] as const) {
  test(`a start sends the base path "${basePath}"`, async () => {
    reply(202, job('queued'));
    await connect({ basePath }).startJob(start, never);
    assert.deepEqual(JSON.parse(received[0]?.body ?? ''), { basePath });
  });
}

test('a project id is one segment of the path, whatever it holds', async () => {
  reply(202, job('queued'));
  await connect({ id: 'a/b%2f?#' }).startJob(start, never);
  assert.equal(received[0]?.url, '/api/v1/static-export/a%2Fb%252f%3F%23/jobs');
  for (const id of ['.', '..', '', 'x\ny', 'x'.repeat(10_240)]) {
    assert.equal((await refusal(connect({ id }).startJob(start, never))).code, 'BadRequest');
    assert.deepEqual(received, []);
  }
});

test('an id is taken from the address of the job where the body has none', async () => {
  reply(202, {}, { location: `/v1/static-export/5f0c9a7e/jobs/${jobId}` });
  assert.equal((await connect().startJob(start, never)).jobId, jobId);
});

test('a poll shows no progress and no pages, and keeps nothing of the answer', async () => {
  reply(200, job('running', { bundleUrl: link }), { 'retry-after': '7' });
  const report = await connect().readJob(jobId, never);
  const expected = { outcome: 'unfinished', state: 'running', progress: undefined, pageCount: undefined };
  assert.deepEqual(report, { ...expected, retryAfterMs: 7000, raw: undefined });
  assert.equal(received[0]?.url, `/api/v1/static-export/5f0c9a7e/jobs/${jobId}`);
});

test('a completed job brings its link, which prints as redacted', async () => {
  reply(200, completed);
  const { outcome, issued, raw } = await connect().readJob(jobId, never);
  assert.deepEqual([outcome, raw], ['completed', undefined]);
  assert.equal(issued?.link.reveal(), link);
  assert.equal(issued?.expiresAt, Date.parse('2026-11-29T11:05:00Z'));
  assert.ok(!inspect(issued).includes(signature) && !JSON.stringify(issued).includes(signature));
});

test('a link is asked for by a GET without body and Idempotency-Key, as often as it is needed', async () => {
  const api = connect();
  for (const round of ['first', 'second']) {
    reply(200, { ...completed, bundleUrl: `${link}&round=${round}` });
    const issued = await api.issueLink({ jobId, idempotencyKey: 'mark-2' }, never);
    assert.match(issued.link.reveal(), new RegExp(`round=${round}$`));
  }
  for (const { method, headers, body } of received)
    assert.deepEqual(
      [method, headers['idempotency-key'], headers['content-type'], body],
      ['GET', undefined, undefined, ''],
    );
});

const linkRows: Readonly<Record<string, readonly [body: unknown, code: string, words: RegExp]>> = {
  'a job that is not finished': [job('running', { bundleUrl: link }), 'Conflict', /the job is "running"/],
  'a job that failed': [
    job('failed', { error: 'no pages' }),
    'Gone',
    /no link .* any more; the job is "failed"/,
  ],
  'a completed job without a link': [job('completed'), 'Gone', /no link .* any more; the job is "completed"/],
  'a link of another kind': [{ ...completed, bundleUrl: 'file:///etc/passwd' }, 'Gone', /no link/],
  'another job': [{ ...completed, jobId: 'other' }, 'UnexpectedAnswer', /without this job/],
  'a job id that is no text': [
    { ...completed, jobId: { toString: null } },
    'UnexpectedAnswer',
    /without this job/,
  ],
  'an HTML page': ['<!doctype html>', 'UnexpectedAnswer', /an HTML page/],
};
for (const [name, [body, code, words]] of Object.entries(linkRows)) {
  test(`no link comes from ${name}`, async () => {
    reply(200, body);
    const error = await refusal(connect().issueLink({ jobId, idempotencyKey: 'm' }, never));
    assert.equal(error.code, code);
    assert.match(error.message, words);
  });
}

const startRows: readonly (readonly [status: number, code: string, words: RegExp])[] = [
  [400, 'BadRequest', /base path, which is empty, \/docs or \/documentation/],
  [401, 'Unauthorized', /the key.*plan includes the export API.*project may be exported/],
  [403, 'Forbidden', /static export is on.*permission to write.*IP allow-list/],
  [404, 'NotFound', /does not know this project id for this key/],
  [409, 'AnotherExportRuns', /runs another job of this project; wait until it ends/],
  [429, 'RateLimited', /ten in an hour/],
  [503, 'ServerError', /failed/],
];
for (const [status, code, words] of startRows) {
  test(`${status} for a start is ${code}`, async () => {
    reply(status, { error: `see ${link} or ${key}` }, { 'retry-after': '360' });
    const error = await refusal(connect().startJob(start, never));
    assert.deepEqual([error.code, error.status, error.retryAfterMs], [code, status, 360_000]);
    assert.match(error.message, words);
  });
}

test('a completed job is polled on until its link is there', async () => {
  reply(200, job('completed'));
  const { outcome, state, issued } = await connect().readJob(jobId, never);
  assert.deepEqual([outcome, state, issued], ['unfinished', 'completed', undefined]);
});

test('404 for a job does not speak of the project id alone', async () => {
  reply(404, { error: 'unknown' });
  assert.match((await refusal(connect().readJob(jobId, never))).message, /no such job of this project/);
});
