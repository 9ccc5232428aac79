// The download behind a link over real sockets: ranges, validators, expiry, tampering, methods, retention.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { getGlobalDispatcher, request } from 'undici';
import { ExportApiError } from '#export-api/answers.ts';
import { eventually } from '../../support/eventually.ts';
import { exportPage, never, type RunningService, startService } from './running-service.ts';

let service: RunningService;
let jobId: string;
before(async () => {
  service = await startService();
  jobId = await exportPage(service, '<h1>archive</h1>');
});

const issue = async (id = jobId): Promise<string> =>
  (await service.client.issueLink({ jobId: id, idempotencyKey: 'm' }, never)).link.reveal();

type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS';

async function get(url: string, headers: Readonly<Record<string, string>> = {}, method: Method = 'GET') {
  const { origin } = new URL(url);
  const answer = await getGlobalDispatcher().request({
    origin,
    path: url.slice(origin.length),
    method,
    headers,
  });
  return {
    status: answer.statusCode,
    headers: answer.headers,
    bytes: Buffer.from(await answer.body.arrayBuffer()),
  };
}

test('a whole archive has a strong ETag, the hash of its bytes, and needs no key', async () => {
  const answer = await get(await issue());
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['content-type'], 'application/gzip');
  assert.equal(answer.headers['accept-ranges'], 'bytes');
  assert.equal(answer.headers['content-length'], String(answer.bytes.byteLength));
  assert.equal(answer.headers['etag'], `"${createHash('sha256').update(answer.bytes).digest('hex')}"`);
  assert.equal(answer.headers['last-modified'], undefined);
  assert.match(gunzipSync(answer.bytes).toString('latin1'), /^_sx\/report\.json\0.*\0index\.html\0/s);
});

test('ranges are answered as RFC 9110 defines', async () => {
  const url = await issue();
  const whole = (await get(url)).bytes;
  const size = whole.byteLength;
  const rows: readonly (readonly [string, number, number, number])[] = [
    ['bytes=0-0', 206, 0, 1],
    ['bytes=10-19', 206, 10, 20],
    ['bytes=10-', 206, 10, size],
    ['bytes=-5', 206, size - 5, size],
    [`bytes=10-${size * 2}`, 206, 10, size],
    ['bytes=0-1,5-6', 200, 0, size],
    ['lines=1-2', 200, 0, size],
    ['garbage', 200, 0, size],
  ];
  for (const [range, status, from, to] of rows) {
    const answer = await get(url, { range });
    assert.equal(answer.status, status, range);
    assert.deepEqual(answer.bytes, whole.subarray(from, to), range);
    if (status === 206) {
      assert.equal(answer.headers['content-range'], `bytes ${from}-${to - 1}/${size}`, range);
    }
  }
  for (const range of [`bytes=${size}-`, 'bytes=9-3']) {
    const beyond = await get(url, { range });
    assert.equal(beyond.status, 416, range);
    assert.equal(beyond.headers['content-range'], `bytes */${size}`);
    assert.equal(beyond.headers['etag'], undefined);
  }
});

test('a resume continues only with the same strong ETag', async () => {
  const url = await issue();
  const { bytes, headers } = await get(url);
  const etag = String(headers['etag']);
  const rows: readonly (readonly [string, number])[] = [
    [etag, 206],
    [`W/${etag}`, 200],
    ['"other"', 200],
    [etag.slice(1, -1), 200],
    [new Date(systemEpoch).toUTCString(), 200],
  ];
  for (const [condition, status] of rows) {
    const answer = await get(url, { range: 'bytes=4-', 'if-range': condition });
    assert.equal(answer.status, status, condition);
    assert.equal(answer.bytes.byteLength, status === 206 ? bytes.byteLength - 4 : bytes.byteLength);
  }
  assert.equal((await get(url, { 'if-none-match': etag })).status, 304);
  assert.equal((await get(url, { 'if-match': '"other"' })).status, 412);
});
const systemEpoch = Date.UTC(2099, 0, 1);

test('a link is for GET only', async () => {
  const url = await issue();
  for (const method of ['HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'] as const) {
    assert.equal((await get(url, {}, method)).status, 403, method);
  }
});

test('a link with a changed byte is refused, without details', async () => {
  const url = await issue();
  const start = `${new URL(url).origin}/bundles/`.length;
  for (let at = start; at < url.length; at += 1) {
    const changed = `${url.slice(0, at)}${url[at] === 'x' ? 'y' : 'x'}${url.slice(at + 1)}`;
    const answer = await get(changed);
    assert.equal(answer.status, 403, changed);
    assert.match(answer.bytes.toString(), /<Code>AccessDenied<\/Code>/);
    assert.doesNotMatch(answer.bytes.toString(), /signature|expires|se_/);
    assert.equal(answer.headers['etag'], undefined);
  }
  for (const changed of [`${url}&x=1`, `${url}x`, url.slice(0, -1), url.replace('?', '?&')]) {
    assert.equal((await get(changed)).status, 403, changed);
  }
});

test('another path than that of downloads is an unknown endpoint, and no refused link', async () => {
  const url = await issue();
  const start = new URL(url).origin.length + 1;
  const changedBytes = Array.from(
    'bundles/',
    (byte, at) => `${url.slice(0, start + at)}${byte === 'x' ? 'y' : 'x'}${url.slice(start + at + 1)}`,
  );
  for (const unknown of [
    ...changedBytes,
    ...['', 'v2/static-export/jobs', 'api/v1/static-export/jobs', 'bundles'].map(
      (path) => `${service.url}/${path}`,
    ),
    url.replace('/bundles', '//bundles'),
  ]) {
    for (const method of ['GET', 'POST'] as const) {
      const answer = await get(unknown, {}, method);
      assert.equal(answer.status, 404, unknown);
      assert.deepEqual(JSON.parse(answer.bytes.toString()), { error: 'there is no such endpoint' });
    }
  }
});

test('a link expires at its expiry, and a new link for the same job works', async () => {
  const short = await startService({ linkLifetimeMs: 30_000 });
  const id = await exportPage(short, 'short');
  const api = short.client;
  const first = await api.issueLink({ jobId: id, idempotencyKey: 'a' }, never);
  assert.equal((await get(first.link.reveal())).status, 200);
  short.moveClock(31_000);
  const dead = await get(first.link.reveal(), { range: 'bytes=0-0' });
  assert.equal(dead.status, 403);
  assert.match(dead.bytes.toString(), /Request has expired/);
  const second = await api.issueLink({ jobId: id, idempotencyKey: 'a' }, never);
  assert.ok(!second.link.isSame(first.link));
  assert.equal((await get(second.link.reveal())).status, 200);
  await short.close();
});

test('a public URL with a path works with and without a proxy that removes the path', async () => {
  const prefixed = await startService();
  const { port } = new URL(prefixed.url);
  await prefixed.close();
  const publicUrl = `http://127.0.0.1:${port}/exports`;
  const behind = await startService({ publicUrl, listen: { host: '127.0.0.1', port: Number(port) } });
  const id = await exportPage(behind, 'prefixed');
  const { link } = await behind.client.issueLink({ jobId: id, idempotencyKey: 'a' }, never);
  assert.ok(link.reveal().startsWith(`${publicUrl}/bundles/`));
  assert.equal((await get(link.reveal())).status, 200);
  assert.equal((await get(link.reveal().replace('/exports', ''))).status, 200);
  assert.equal((await get(link.reveal().replace('/exports', '/exportz'))).status, 404);
  await behind.close();
});

test('a removed archive is 404 for its link, and 410 for a new link', async () => {
  const own = await startService();
  const id = await exportPage(own, 'removed');
  const { link } = await own.client.issueLink({ jobId: id, idempotencyKey: 'a' }, never);
  rmSync(join(own.folder, 'data', 'archives', `${id}.tar.gz`));
  assert.equal((await get(link.reveal())).status, 404);
  const error = await own.client
    .issueLink({ jobId: id, idempotencyKey: 'b' }, never)
    .catch((one: unknown) => one);
  assert.ok(error instanceof ExportApiError && error.code === 'Gone');
  await own.close();
});

test('jobs above the number to keep are removed, unless a link to them may be valid', async () => {
  const own = await startService({ keepJobs: 1, linkLifetimeMs: 60_000 });
  const first = await exportPage(own, 'one');
  own.moveClock(61_000);
  const second = await exportPage(own, 'two');
  // The job is completed first; its folder is kept, and older jobs go, after that.
  await eventually('the first job is gone', async () => {
    const gone = await own.client.readJob(first, never).catch((one: unknown) => one);
    return (gone instanceof ExportApiError && gone.code === 'NotFound') || undefined;
  });
  await exportPage(own, 'three');
  assert.equal((await own.client.readJob(second, never)).outcome, 'completed');
  await own.close();
});

test('a service that stops completes running downloads', async () => {
  const own = await startService();
  const id = await exportPage(own, textOfSize(4 * 1024 * 1024));
  const { link } = await own.client.issueLink({ jobId: id, idempotencyKey: 'a' }, never);
  const answer = await request(link.reveal());
  const stopped = own.close();
  const { byteLength } = await answer.body.arrayBuffer();
  assert.equal(String(byteLength), answer.headers['content-length']);
  await stopped;
});

test('a download that its client aborts is not an error of the service', async () => {
  const own = await startService();
  const id = await exportPage(own, textOfSize(4 * 1024 * 1024));
  const { link } = await own.client.issueLink({ jobId: id, idempotencyKey: 'a' }, never);
  const controller = new AbortController();
  const answer = await request(link.reveal(), { signal: controller.signal });
  controller.abort();
  await assert.rejects(() => answer.body.arrayBuffer());
  assert.equal((await get(link.reveal(), { range: 'bytes=0-0' })).status, 206);
  await own.close();
  assert.match(own.log(), /"endpoint":"archive"/);
  assert.doesNotMatch(own.log(), /a request failed/);
});

/** Text that does not compress, so that the archive is larger than what sockets buffer. */
function textOfSize(bytes: number): string {
  let text = '';
  for (let index = 0; text.length < bytes; index += 1) {
    text += createHash('sha512').update(String(index)).digest('base64');
  }
  return text;
}
