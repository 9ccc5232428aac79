// The project-scoped form over real sockets: every row of the differences from the first form, invalid requests, and the jobs
// that both forms see. No answer here goes to the log.

import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { getGlobalDispatcher } from 'undici';
import {
  bundlePath,
  errorSchema,
  jobPath,
  projectJobPath,
  projectJobSchema,
  projectJobsPath,
} from '#export-api/contract.ts';
import { archiveFile } from '#export-service/job-runner.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { domain, key, type RunningService, readerKey, siteOf, startService } from './running-service.ts';

const project = '5f0c9a7e1d';
const jobs = projectJobsPath(project);
const json = { 'content-type': 'application/json' };

const startProjects = (more: Parameters<typeof startService>[0] = {}): Promise<RunningService> =>
  startService({ projectMappings: [`${project}=${domain}`, 'second=other.example.com'], ...more });

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

interface Sent {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Empty for none. */
  readonly apiKey?: string;
}

/** The path goes out as written: a whole URL would be normalised. */
async function send(
  { url }: RunningService,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD',
  path: string,
  { headers = {}, body, apiKey = key }: Sent = {},
): Promise<Answer> {
  const answer = await getGlobalDispatcher().request({
    ...{ origin: url, path, method, body: body ?? null },
    headers: { ...(apiKey !== '' && { authorization: `Bearer ${apiKey}` }), ...headers },
  });
  const text = await answer.body.text();
  const isJson = String(answer.headers['content-type']).includes('json') && text !== '';
  return { status: answer.statusCode, headers: answer.headers, text, json: isJson ? JSON.parse(text) : {} };
}

async function startJob(service: RunningService, path = jobs, sent: Sent = {}): Promise<string> {
  const { status, json: job } = await send(service, 'POST', path, sent);
  assert.equal(status, 202);
  return String(job['jobId']);
}

/** Starts a job, and lets its crawl end with a page. */
async function completeJob(service: RunningService, sent: Sent = {}): Promise<string> {
  const jobId = await startJob(service, jobs, sent);
  (await service.nextCrawl()).end(siteOf('<h1>hello</h1>'));
  while ((await send(service, 'GET', projectJobPath(project, jobId))).json['status'] !== 'completed');
  return jobId;
}

const unfinished = ['jobId', 'status', 'createdAt', 'updatedAt', 'error'];
const completed = [...unfinished, 'bundleUrl', 'expiresAt', 'sizeBytes'];

test('a start without a body is 202 with the job; a completed job carries size, expiry and a link', async () => {
  const service = await startProjects();
  const started = await send(service, 'POST', jobs);
  assert.equal(started.status, 202);
  assert.deepEqual(Object.keys(started.json), unfinished);
  const jobId = String(started.json['jobId']);
  assert.equal(started.headers['location'], `${service.url}${projectJobPath(project, jobId)}`);
  const crawl = await service.nextCrawl();
  assert.deepEqual([crawl.request.domain, crawl.request.basePath], [domain, undefined]);
  const running = await send(service, 'GET', projectJobPath(project, jobId));
  assert.deepEqual(Object.keys(running.json), unfinished);
  assert.deepEqual([running.json['status'], running.json['error']], ['running', null]);
  service.moveClock(5000);
  crawl.edge.onProgress({ pageCount: 3, discovered: 12 });
  const later = await send(service, 'GET', projectJobPath(project, jobId));
  assert.equal(later.json['updatedAt'], running.json['updatedAt'], 'progress does not change the state');
  crawl.end(siteOf('<h1>hello</h1>'));
  let done = later;
  while (done.json['status'] === 'running') done = await send(service, 'GET', projectJobPath(project, jobId));
  assert.deepEqual(Object.keys(done.json), completed);
  assert.ok(projectJobSchema.safeParse(done.json).success && projectJobSchema.safeParse(later.json).success);
  assert.equal(done.headers['cache-control'], 'no-store');
  const archive = await fetch(String(done.json['bundleUrl']));
  assert.equal((await archive.arrayBuffer()).byteLength, done.json['sizeBytes']);
});

test('each further GET carries a new link, and no link is in the log', async () => {
  const service = await startProjects();
  const path = projectJobPath(project, await completeJob(service));
  const first = await send(service, 'GET', path);
  service.moveClock(2000);
  const second = await send(service, 'GET', path);
  assert.notEqual(first.json['bundleUrl'], second.json['bundleUrl']);
  const gained = Date.parse(String(second.json['expiresAt'])) - Date.parse(String(first.json['expiresAt']));
  assert.ok(gained >= 2000, String(gained));
  assert.equal((await send(service, 'HEAD', path)).text, '');
  assert.doesNotMatch(service.log(), /signature|bundles\//);
  assert.match(service.log(), /"endpoint":"project-job"/);
  assert.match(service.log(), /"endpoint":"project-jobs"/);
});

test('a failed job has its reason, and no link', async () => {
  const service = await startProjects();
  const jobId = await startJob(service);
  (await service.nextCrawl()).fail(new PublishableError('NoPages', 'the origin has no pages'));
  let job = await send(service, 'GET', projectJobPath(project, jobId));
  while (job.json['status'] === 'running') job = await send(service, 'GET', projectJobPath(project, jobId));
  assert.deepEqual(Object.keys(job.json), unfinished);
  assert.equal(job.json['error'], 'NoPages: the origin has no pages');
});

for (const [name, sent, basePath] of [
  ['an empty base path', { body: '{"basePath":""}', headers: json }, ''],
  ['/docs', { body: '{"basePath":"/docs"}', headers: json }, '/docs'],
  ['/documentation', { body: '{"basePath":"/documentation"}', headers: json }, '/documentation'],
  ['an empty object', { body: '{}', headers: json }, undefined],
  ['an empty body that says it is JSON', { headers: json }, undefined],
] as const) {
  test(`a start with ${name} passes it to the crawl, also after a restart`, async () => {
    const service = await startProjects();
    await startJob(service, jobs, sent);
    assert.equal((await service.nextCrawl()).request.basePath, basePath);
    const restarted = await service.restart();
    assert.equal((await restarted.nextCrawl()).request.basePath, basePath);
  });
}

test('a second start is 409 while a job of the domain is queued or running, and does not name that job', async () => {
  const service = await startProjects();
  const ofFirstForm = await send(service, 'POST', '/v1/static-export/jobs', {
    ...{ headers: json, body: JSON.stringify({ domain }) },
  });
  const refused = await send(service, 'POST', jobs);
  assert.equal(refused.status, 409);
  assert.ok(!refused.text.includes(String(ofFirstForm.json['jobId'])));
  assert.equal(refused.headers['location'], undefined);
  assert.equal((await send(service, 'POST', projectJobsPath('second'))).status, 202);
  (await service.nextCrawl()).end(siteOf('1'));
  const crawl = await service.nextCrawl();
  assert.equal(crawl.request.domain, 'other.example.com');
  const jobId = await startJob(service);
  assert.equal((await send(service, 'POST', jobs)).status, 409, 'queued');
  crawl.end(siteOf('2'));
  await service.nextCrawl();
  const again = await send(service, 'POST', jobs, { headers: { 'idempotency-key': 'k' } });
  assert.deepEqual([again.status, again.text.includes(jobId)], [409, false], 'running');
});

test('the same jobs are behind both forms, where domain and project belong together', async () => {
  const service = await startProjects();
  const jobId = await completeJob(service);
  const first = await send(service, 'GET', jobPath(jobId));
  assert.deepEqual(
    [first.json['status'], first.json['domain'], first.json['progress']],
    ['completed', domain, 100],
  );
  assert.equal((await send(service, 'POST', bundlePath(jobId))).status, 200);
  assert.equal((await send(service, 'GET', projectJobPath('second', jobId))).status, 404);
  const other = await send(service, 'POST', '/v1/static-export/jobs', {
    ...{ headers: json, body: JSON.stringify({ domain }) },
  });
  const seen = await send(service, 'GET', projectJobPath(project, String(other.json['jobId'])));
  assert.deepEqual([seen.status, Object.keys(seen.json)], [200, unfinished]);
});

test('an Idempotency-Key starts no replay: the form does not know it', async () => {
  const service = await startProjects();
  const sent = { headers: { 'idempotency-key': 'k' } };
  const one = await completeJob(service, sent);
  assert.notEqual(await startJob(service, jobs, sent), one);
});

test('the budget is 429 with the time of the next start, and is kept over a restart', async () => {
  const service = await startProjects({ projectStartsPerHour: 2 });
  await completeJob(service);
  service.moveClock(600_000);
  for (const body of ['{"basePath":"/other"}', '[]']) {
    assert.equal((await send(service, 'POST', jobs, { headers: json, body })).status, 400);
  }
  await completeJob(service);
  const used = await send(service, 'POST', projectJobsPath('second'));
  assert.equal(used.status, 429);
  const seconds = Number(used.headers['retry-after']);
  assert.ok(2900 < seconds && seconds <= 3000, String(seconds));
  // The next process starts with the real time.
  const restarted = await service.restart();
  restarted.moveClock(600_000 + 60_000);
  assert.equal((await send(restarted, 'POST', jobs)).status, 429);
  restarted.moveClock(3_600_000);
  assert.equal((await send(restarted, 'POST', jobs)).status, 202);
});

test('without a budget, more than ten starts an hour are allowed', async () => {
  const service = await startProjects();
  for (let at = 0; at < 11; at += 1) await completeJob(service);
});

test('a completed job whose archive is gone is answered like an unknown job', async () => {
  const service = await startProjects();
  const jobId = await completeJob(service);
  rmSync(archiveFile(join(service.folder, 'data'), jobId));
  const { status, text } = await send(service, 'GET', projectJobPath(project, jobId));
  assert.deepEqual([status, /start a new job/.test(text)], [404, true]);
});

type Row = readonly [
  name: string,
  ...call: [method: Parameters<typeof send>[1], path: string, sent: Sent],
  status: number,
  words: RegExp,
];
const body = (text: string): Sent => ({ headers: json, body: text });
const oneJob = `${jobs}/se_0000000000000000`;
const onlyBasePath = /basePath alone/;
const invalid: readonly Row[] = [
  ['no key', 'POST', jobs, { apiKey: '' }, 401, /key is required/],
  ['an unknown key', 'GET', oneJob, { apiKey: 'svc_unknown' }, 401, /unknown API key/],
  ['a read-only key that starts', 'POST', jobs, { apiKey: readerKey }, 403, /may only read/],
  ['a read-only key that polls', 'GET', oneJob, { apiKey: readerKey }, 403, /carries a link/],
  ['an unknown project', 'POST', projectJobsPath('other'), {}, 404, /no such project/],
  ['a job of an unknown project', 'GET', projectJobPath('other', 'x'), {}, 404, /no such project/],
  ['an unknown job', 'GET', oneJob, {}, 404, /no such job of this project/],
  ['a bundle call', 'POST', `${oneJob}/bundle`, {}, 404, /no such endpoint/],
  ['a list of jobs', 'GET', jobs, {}, 405, /not possible/],
  ['a job that is removed', 'DELETE', oneJob, {}, 405, /not possible/],
  ['a project with an encoded slash', 'POST', '/v1/static-export/a%2fb/jobs', {}, 404, /no such project/],
  ['a project with a slash', 'POST', '/v1/static-export/a/b/jobs', {}, 404, /no such endpoint/],
  ['a parent folder', 'POST', '/v1/static-export/../jobs', {}, 404, /no such project/],
  ['an encoded parent folder', 'POST', '/v1/static-export/%2e%2e/jobs', {}, 404, /no such project/],
  ['a control character', 'POST', '/v1/static-export/a%07b/jobs', {}, 404, /no such project/],
  ['a broken escape', 'POST', '/v1/static-export/%zz/jobs', {}, 400, /cannot be read/],
  ['10 KB of a project', 'POST', projectJobsPath('a'.repeat(10_000)), {}, 404, /no such project/],
  ['the first form as a project', 'POST', projectJobsPath('jobs'), {}, 405, /not possible/],
  ['an array', 'POST', jobs, body('[]'), 400, onlyBasePath],
  ['null', 'POST', jobs, body('null'), 400, /cannot be read/],
  ['broken JSON', 'POST', jobs, body('{"basePath":'), 400, /cannot be read/],
  ['a base path of another type', 'POST', jobs, body('{"basePath":5}'), 400, onlyBasePath],
  ['a base path that is null', 'POST', jobs, body('{"basePath":null}'), 400, onlyBasePath],
  ['another base path', 'POST', jobs, body('{"basePath":"/other"}'), 400, onlyBasePath],
  ['a base path with a slash', 'POST', jobs, body('{"basePath":"/docs/"}'), 400, onlyBasePath],
  ['a domain', 'POST', jobs, body(JSON.stringify({ domain })), 400, onlyBasePath],
  ['an unknown member', 'POST', jobs, body('{"basePath":"","paths":[]}'), 400, onlyBasePath],
  ['10 MB', 'POST', jobs, body(`{"basePath":"${'a'.repeat(10_000_000)}"}`), 413, /too large/],
  [
    'a form',
    'POST',
    jobs,
    { headers: { 'content-type': 'text/plain' }, body: 'basePath=' },
    415,
    /or absent/,
  ],
];

test('each invalid request has its status, repeats nothing, and starts nothing', async () => {
  const service = await startProjects({ projectStartsPerHour: 1 });
  for (const [name, method, path, sent, status, words] of invalid) {
    const answer = await send(service, method, path, sent);
    assert.equal(answer.status, status, name);
    assert.ok(errorSchema.safeParse(answer.json).success, name);
    assert.match(answer.text, words, name);
    assert.doesNotMatch(answer.text, /other|aaaa|paths/, name);
    if (status === 405) assert.match(String(answer.headers['allow']), /^(?:POST|GET, HEAD)$/, name);
  }
  assert.equal((await send(service, 'POST', jobs)).status, 202, 'no refused start counts');
});
