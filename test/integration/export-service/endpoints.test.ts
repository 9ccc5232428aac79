// The client against the service over real sockets: every row of the specification that both implement.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { ExportApiError, type ExportApiErrorCode } from '#export-api/answers.ts';
import {
  apiJobSchema,
  bundlePath,
  bundleSchema,
  type ConversationDocument,
  conversationPageSchema,
  conversationsPath,
  jobsPath,
} from '#export-api/contract.ts';
import { pagesOf } from '#export-api/conversation-pages.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import {
  domain,
  exportPage,
  key,
  never,
  otherKey,
  type RunningService,
  readerKey,
  siteOf,
  startService,
  untilFinished,
} from './running-service.ts';

let service: RunningService;
before(async () => {
  service = await startService();
});

const usedKeys: string[] = [];
function start(more: Partial<{ domain: string; idempotencyKey: string }> = {}) {
  return { domain, idempotencyKey: `key-${usedKeys.push('')}`, ...more };
}

async function refused(promise: Promise<unknown>, code: ExportApiErrorCode, status: number): Promise<void> {
  const error = await promise.then(
    () => assert.fail('should have been refused'),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ExportApiError, String(error));
  assert.deepEqual([error.code, error.status], [code, status]);
}

/** The body of an answer, which the client's errors do not repeat. */
async function answerText(path: string, url = service.url, body?: object): Promise<string> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: body === undefined ? null : JSON.stringify(body),
  });
  return response.text();
}

test('a job is queued, runs with live progress, completes, and its bundle is one archive behind a link', async () => {
  const { client } = service;
  const started = await client.startJob(start(), never);
  assert.equal(apiJobSchema.parse(started.raw).domain, domain);
  const crawl = await service.nextCrawl();
  assert.equal((await client.readJob(started.jobId, never)).state, 'running');
  const updatedAt = async (): Promise<number> =>
    Date.parse(apiJobSchema.parse((await client.readJob(started.jobId, never)).raw).updatedAt);
  const claimedAt = await updatedAt();
  service.moveClock(5000);
  assert.equal(await updatedAt(), claimedAt);
  crawl.edge.onProgress({ pageCount: 3, discovered: 12 });
  assert.ok((await updatedAt()) >= claimedAt + 5000);
  service.moveClock(-5000);
  const running = await client.readJob(started.jobId, never);
  assert.deepEqual([running.outcome, running.progress, running.pageCount], ['unfinished', 24, 3]);
  await refused(client.issueLink({ jobId: started.jobId, idempotencyKey: 'm' }, never), 'Conflict', 409);
  assert.match(await answerText(bundlePath(started.jobId), service.url, {}), /running/);

  crawl.end(siteOf('<h1>hello</h1>'));
  assert.equal(await untilFinished(client, started.jobId), 'completed');
  const done = await client.readJob(started.jobId, never);
  assert.deepEqual([done.progress, done.pageCount], [100, 1]);
  const beforeIssue = Date.now();
  const issued = await client.issueLink({ jobId: started.jobId, idempotencyKey: 'm' }, never);
  const afterIssue = Date.now();
  const raw = bundleSchema.parse(JSON.parse(await answerText(bundlePath(started.jobId), service.url, {})));
  assert.match(raw.expiresAt, /Z$/);
  // Not by the Date header: it is another reading of the clock, and on a busy machine an old one.
  assert.equal(typeof issued.serverDate, 'number');
  const issuedAt = (issued.expiresAt ?? 0) - 900_000;
  const earliest = Math.floor(beforeIssue / 1000) * 1000;
  assert.ok(earliest <= issuedAt && issuedAt <= afterIssue, `${earliest}, ${issuedAt}, ${afterIssue}`);
  assert.equal(issued.link.signedLifetime()?.expiresAt, issued.expiresAt);
  const archive = await fetch(issued.link.reveal());
  assert.equal((await archive.arrayBuffer()).byteLength, raw.sizeBytes);
});

test('jobs run in the order of their starts', async () => {
  const first = await service.client.startJob(start(), never);
  const second = await service.client.startJob(start({ domain: 'other.example.com' }), never);
  const crawl = await service.nextCrawl();
  assert.equal(crawl.request.domain, domain);
  const waiting = await service.client.readJob(second.jobId, never);
  assert.deepEqual([waiting.state, waiting.progress, waiting.pageCount], ['queued', 0, 0]);
  crawl.end(siteOf('1'));
  const next = await service.nextCrawl();
  assert.equal(next.request.domain, 'other.example.com');
  next.end(siteOf('2'));
  for (const { jobId } of [first, second])
    assert.equal(await untilFinished(service.client, jobId), 'completed');
});

test('a crawl that fails is a failed job with its reason, and has no bundle', async () => {
  const { jobId } = await service.client.startJob(start(), never);
  (await service.nextCrawl()).fail(new PublishableError('NoPages', 'the origin has no pages'));
  assert.equal(await untilFinished(service.client, jobId), 'failed');
  const { outcome, raw } = await service.client.readJob(jobId, never);
  assert.equal(outcome, 'failed');
  assert.equal(apiJobSchema.parse(raw).error, 'NoPages: the origin has no pages');
  await refused(service.client.issueLink({ jobId, idempotencyKey: 'm' }, never), 'Conflict', 409);
});

test('the same content gives the same archive, and a link for an old job still works', async () => {
  const jobs = [await exportPage(service, 'same'), await exportPage(service, 'same')];
  const etags = await Promise.all(
    jobs.map(async (jobId) => {
      const { link } = await service.client.issueLink({ jobId, idempotencyKey: `e-${jobId}` }, never);
      const response = await fetch(link.reveal());
      await response.arrayBuffer();
      return response.headers.get('etag');
    }),
  );
  assert.match(etags[0] ?? '', /^"[0-9a-f]{64}"$/);
  assert.equal(etags[0], etags[1]);
});

test('the same Idempotency-Key of the same API key is the same job; another body is refused', async () => {
  const request = start();
  const first = await service.client.startJob(request, never);
  const crawl = await service.nextCrawl();
  const replays = Array.from({ length: 5 }, () => service.client.startJob(request, never));
  for (const one of await Promise.all(replays)) assert.equal(one.jobId, first.jobId);
  crawl.end(siteOf('once'));
  await untilFinished(service.client, first.jobId);
  const replay = await service.client.startJob(request, never);
  assert.equal(replay.jobId, first.jobId);
  assert.equal(apiJobSchema.parse(replay.raw).status, 'completed');
  const foreign = await service.clientWith(otherKey).startJob(request, never);
  assert.notEqual(foreign.jobId, first.jobId);
  (await service.nextCrawl()).end(siteOf('foreign'));
  await untilFinished(service.client, foreign.jobId);
  await refused(
    service.client.startJob({ ...request, domain: 'other.example.com' }, never),
    'BadRequest',
    422,
  );
});

test('the same Idempotency-Key repeats the link, and another gives a later link', async () => {
  const jobId = await exportPage(service, 'issued');
  const issue = (idempotencyKey: string) => service.client.issueLink({ jobId, idempotencyKey }, never);
  const first = await issue('one');
  service.moveClock(60_000);
  assert.ok((await issue('one')).link.isSame(first.link));
  const second = await issue('two');
  assert.ok((second.expiresAt ?? 0) > (first.expiresAt ?? 0));
  assert.equal((await fetch(first.link.reveal(), { headers: { range: 'bytes=0-0' } })).status, 206);
});

test('simultaneous starts with one Idempotency-Key make one job', async () => {
  const request = start();
  const started = await Promise.all(Array.from({ length: 8 }, () => service.client.startJob(request, never)));
  assert.equal(new Set(started.map((one) => one.jobId)).size, 1);
  (await service.nextCrawl()).end(siteOf('at once'));
  await untilFinished(service.client, started[0]?.jobId ?? '');
});

test('unknown keys, read-only keys, unknown jobs and unknown domains have their own refusals', async () => {
  const { client, clientWith } = service;
  const jobId = await exportPage(service, 'refusals');
  const reader = clientWith(readerKey);
  const stranger = clientWith(`${key}x`);
  await refused(stranger.startJob(start(), never), 'Unauthorized', 401);
  await refused(stranger.readJob(jobId, never), 'Unauthorized', 401);
  await refused(stranger.issueLink({ jobId, idempotencyKey: 'x' }, never), 'Unauthorized', 401);
  await refused(stranger.listConversations({ projectId: 'default' }, never), 'Unauthorized', 401);
  await refused(reader.startJob(start(), never), 'Forbidden', 403);
  await refused(reader.issueLink({ jobId, idempotencyKey: 'x' }, never), 'Forbidden', 403);
  assert.equal((await reader.readJob(jobId, never)).outcome, 'completed');
  await refused(client.readJob('se_0000000000000000', never), 'NotFound', 404);
  await refused(client.readJob("x' OR 1=1 --/ü", never), 'NotFound', 404);
  await refused(client.issueLink({ jobId: 'se_0', idempotencyKey: 'x' }, never), 'NotFound', 404);
  const unknown = start({ domain: 'nobody.example.com' });
  await refused(client.startJob(unknown, never), 'BadRequest', 400);
  assert.match(await answerText(jobsPath, service.url, { domain: unknown.domain }), /no such domain/);
  for (const bad of ['https://docs.example.com', 'docs.example.com/x', 'docs.example.com:80', '', '-a.com']) {
    await refused(client.startJob(start({ domain: bad }), never), 'BadRequest', 400);
  }
});

test('a keys file that changes takes effect with the next request', async () => {
  const path = join(service.folder, 'keys');
  await refused(service.clientWith('svc_new').readJob('x', never), 'Unauthorized', 401);
  writeFileSync(path, `${key}\nread:${readerKey}\nsvc_new\n`);
  await refused(service.clientWith('svc_new').readJob('x', never), 'NotFound', 404);
  writeFileSync(path, `${key}\nread:${readerKey}\n`);
  await refused(service.clientWith('svc_new').readJob('x', never), 'Unauthorized', 401);
});

test('a full queue is 429 with Retry-After', async () => {
  const small = await startService({ maxQueued: 1 });
  await small.client.startJob(start(), never);
  await small.nextCrawl();
  await small.client.startJob(start(), never);
  const error = await small.client.startJob(start(), never).catch((reason: unknown) => reason);
  assert.ok(error instanceof ExportApiError);
  assert.deepEqual([error.code, error.retryAfterMs], ['RateLimited', 30_000]);
  await small.close();
});

test('conversations are listed by project, date and page, to their end', async () => {
  const path = join(service.folder, 'conversations.ndjson');
  const row = (index: number, projectId?: string): ConversationDocument => ({
    id: `c${index}`,
    timestamp: new Date(Date.UTC(2024, 0, 1 + Math.floor(index / 10), index % 10)).toISOString(),
    query: 'how?',
    response: 'so.',
    sources: [{ title: 'T', url: 'https://docs.example.com/t' }],
    queryCategory: index % 2 === 0 ? null : 'setup',
    pageUrl: null,
    resolutionStatus: 'answered',
    ...(projectId !== undefined && { projectId }),
  });
  const rows = Array.from({ length: 250 }, (_, index) => row(index));
  writeFileSync(path, [...rows, row(999, 'second')].map((one) => JSON.stringify(one)).join('\n'));
  const listing = await startService({ conversations: path });
  const { client } = listing;

  const first = await client.listConversations({ projectId: 'default' }, never);
  assert.equal(first.rows.length, 100);
  assert.deepEqual(first.following.kind, 'more');
  const sizes: number[] = [];
  const ids: (string | undefined)[] = [];
  for await (const page of pagesOf(client, { projectId: 'default', limit: 50 }, never)) {
    sizes.push(page.rows.length);
    ids.push(...page.rows.map((one) => one.id));
  }
  assert.deepEqual(sizes, [50, 50, 50, 50, 50]);
  assert.deepEqual(
    ids,
    rows.map((one) => one.id),
  );

  const dated = await client.listConversations(
    { projectId: 'default', dateFrom: Date.UTC(2024, 0, 2), dateTo: Date.UTC(2024, 0, 3) },
    never,
  );
  assert.deepEqual(
    dated.rows.map((one) => one.id),
    rows.slice(10, 20).map((one) => one.id),
  );
  assert.deepEqual(dated.following, { kind: 'end' });
  const dates = 'dateFrom=2024-01-02T00:00:00Z&dateTo=2024-01-03T00:00:00Z';
  const sent = JSON.parse(await answerText(`${conversationsPath('default')}?${dates}`, listing.url));
  assert.deepEqual(conversationPageSchema.parse(sent).conversations, rows.slice(10, 20));

  const second = await client.listConversations({ projectId: 'second', limit: 1000 }, never);
  assert.deepEqual(
    second.rows.map((one) => one.id),
    ['c999'],
  );
  const whole = JSON.parse(await answerText(`${conversationsPath('second')}?limit=1000`, listing.url));
  assert.deepEqual(whole, { conversations: [row(999)], nextCursor: null, hasMore: false });
  await refused(client.listConversations({ projectId: 'absent' }, never), 'NotFound', 404);
  await refused(client.listConversations({ projectId: 'default', cursor: 'x' }, never), 'BadRequest', 400);
  assert.deepEqual(JSON.parse(await answerText(`${conversationsPath('default')}?cursor=x`, listing.url)), {
    error: 'invalid query parameters',
    details: [{ message: 'cursor must be a ULID taken from nextCursor' }],
  });
  await listing.close();
});

test('a restart keeps jobs, keys and links, and starts a running job again', async () => {
  const old = await startService();
  const doneId = await exportPage(old, 'kept');
  const { link } = await old.client.issueLink({ jobId: doneId, idempotencyKey: 'm' }, never);
  const request = start();
  const { jobId } = await old.client.startJob(request, never);
  const crawl = await old.nextCrawl();
  crawl.edge.onProgress({ pageCount: 5, discovered: 6 });

  const renewed = await old.restart();
  assert.equal(crawl.edge.signal.aborted, true);
  const again = await renewed.nextCrawl();
  assert.equal((await renewed.client.readJob(jobId, never)).pageCount, 0);
  assert.equal((await renewed.client.startJob(request, never)).jobId, jobId);
  assert.equal((await renewed.client.readJob(doneId, never)).outcome, 'completed');
  const moved = new URL(link.reveal());
  moved.port = new URL(renewed.url).port;
  assert.equal((await fetch(moved)).status, 200);
  again.end(siteOf('again'));
  assert.equal(await untilFinished(renewed.client, jobId), 'completed');
  await renewed.close();
});

test('no key, signature or link is logged, and the admin port reports health and metrics', async () => {
  const log = service.log();
  assert.match(log, /"endpoint":"bundle"/);
  assert.doesNotMatch(log, new RegExp(`${key}|${readerKey}|signature|expires=|key-1"`));
  const [ready, live, metrics] = await Promise.all(
    ['readyz', 'livez', 'metrics'].map(async (path) => (await fetch(`${service.adminUrl}/${path}`)).text()),
  );
  assert.deepEqual([ready, live], ['ok\n', 'ok\n']);
  assert.match(metrics ?? '', /export_service_answers_total\{endpoint="jobs",status="202"\} \d+/);
  assert.match(metrics ?? '', /export_service_jobs\{status="running"\} 0/);
});
