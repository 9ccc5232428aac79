// Answers to invalid requests, as raw HTTP: each has its status and `{error, details?}`, and repeats nothing of the request
// or of the service's internals.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { getGlobalDispatcher, request } from 'undici';
import { errorSchema } from '#export-api/contract.ts';
import * as fc from '../../support/properties.ts';
import { exportPage, key, type RunningService, startService } from './running-service.ts';

let service: RunningService;
before(async () => {
  service = await startService({ publicUrl: undefined });
});

interface Sent {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'PATCH';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly isAnonymous?: boolean;
}

async function send({ method = 'GET', path, headers = {}, body, isAnonymous = false }: Sent) {
  // The path goes out as written: a whole URL would be normalised.
  const {
    statusCode,
    headers: answered,
    body: stream,
  } = await getGlobalDispatcher().request({
    origin: service.url,
    path,
    method,
    headers: { ...(!isAnonymous && { authorization: `Bearer ${key}` }), ...headers },
    body: body ?? null,
  });
  return { status: statusCode, headers: answered, text: await stream.text() };
}

const json = { 'content-type': 'application/json' };
const jobs = '/v1/static-export/jobs';

test('each invalid request has its status, and a body in the error shape', async () => {
  const good = '{"domain":"docs.example.com"}';
  const rows: readonly (readonly [string, Sent, number, RegExp])[] = [
    ['no body', { method: 'POST', path: jobs, headers: json }, 400, /body/],
    ['no body, no type', { method: 'POST', path: jobs }, 415, /application\/json/],
    ['broken JSON', { method: 'POST', path: jobs, headers: json, body: '{"domain":' }, 400, /cannot be read/],
    [
      'a JSON string',
      { method: 'POST', path: jobs, headers: json, body: '"docs.example.com"' },
      400,
      /cannot be read/,
    ],
    ['an array', { method: 'POST', path: jobs, headers: json, body: '[]' }, 400, /not a start request/],
    ['no domain', { method: 'POST', path: jobs, headers: json, body: '{}' }, 400, /not a start request/],
    [
      'a domain of another type',
      { method: 'POST', path: jobs, headers: json, body: '{"domain":5}' },
      400,
      /start request/,
    ],
    [
      'a field that would be ignored',
      { method: 'POST', path: jobs, headers: json, body: '{"domain":"docs.example.com","paths":["/a"]}' },
      400,
      /start request/,
    ],
    [
      'an unusable Idempotency-Key',
      { method: 'POST', path: jobs, headers: { ...json, 'idempotency-key': 'k'.repeat(256) }, body: good },
      400,
      /Idempotency-Key/,
    ],
    [
      'a form',
      {
        method: 'POST',
        path: jobs,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: good,
      },
      415,
      /application\/json/,
    ],
    [
      'another charset',
      {
        method: 'POST',
        path: jobs,
        headers: { 'content-type': 'application/json; charset=latin9' },
        body: good,
      },
      415,
      /UTF-8/,
    ],
    [
      'an unknown encoding',
      { method: 'POST', path: jobs, headers: { ...json, 'content-encoding': 'zip' }, body: good },
      415,
      /json/,
    ],
    // No byte of a caller reaches a decoder.
    ...(
      [
        ['gzip', gzipSync(good)],
        ['br', brotliCompressSync(good)],
      ] as const
    ).map(([encoding, body]): readonly [string, Sent, number, RegExp] => [
      `a body in ${encoding}`,
      { method: 'POST', path: jobs, headers: { ...json, 'content-encoding': encoding }, body },
      415,
      /without a content encoding/,
    ]),
    [
      'a huge body',
      { method: 'POST', path: jobs, headers: json, body: `{"domain":"${'a'.repeat(20_000)}"}` },
      413,
      /too large/,
    ],
    ['GET of the collection', { path: jobs }, 405, /GET/],
    ['PUT of a job', { method: 'PUT', path: `${jobs}/se_1` }, 405, /PUT/],
    ['GET of a bundle', { path: `${jobs}/se_1/bundle` }, 405, /GET/],
    ['POST of a listing', { method: 'POST', path: '/v1/analytics/p/assistant' }, 405, /POST/],
    ['an unknown job', { path: `${jobs}/se_1` }, 404, /no such job/],
    ['an unknown endpoint', { path: '/v1/unknown' }, 404, /no such endpoint/],
    ['the version alone', { path: '/v1' }, 404, /no such endpoint/],
    ['another case', { path: '/v1/static-export/JOBS/se_1' }, 404, /no such endpoint/],
    ['a malformed escape', { path: `${jobs}/%zz` }, 400, /cannot be read/],
    ['an escaped slash', { path: `${jobs}/a%2Fb` }, 404, /no such job/],
    ['a faulty query', { path: '/v1/analytics/default/assistant?limit=0&cursor=x' }, 400, /invalid query/],
    ['an unknown project', { path: '/v1/analytics/nobody/assistant' }, 404, /no such project/],
  ];
  for (const [name, sent, status, words] of rows) {
    const answer = await send(sent);
    assert.equal(answer.status, status, `${name}: ${answer.text}`);
    const { error } = errorSchema.parse(JSON.parse(answer.text));
    assert.match(error, words, name);
    assert.doesNotMatch(answer.text, /node_modules|SyntaxError|Unexpected token|aaaa/, name);
    assert.equal(answer.headers['cache-control'], 'no-store', name);
    assert.equal(answer.headers['x-powered-by'], undefined, name);
  }
});

test('a 405 names the allowed methods', async () => {
  for (const [path, allow] of [
    [jobs, 'POST'],
    [`${jobs}/x`, 'GET, HEAD'],
    [`${jobs}/x/bundle`, 'POST'],
    ['/v1/analytics/p/assistant', 'GET, HEAD'],
  ] as const) {
    assert.equal((await send({ method: 'DELETE', path })).headers['allow'], allow, path);
    assert.equal((await send({ method: 'OPTIONS', path })).headers['allow'], allow, path);
  }
});

test('details name each error of a body or a query', async () => {
  const bodies: readonly (readonly [string, RegExp])[] = [
    ['{"domain":"https://x.example.com/a"}', /bare host name/],
    ['{"domain":"docs.example.com","version":"1"}', /only domain is understood/],
    ['{"domain":"nobody.example.com"}', /nobody\.example\.com is not among/],
    ['[]', /must be a JSON object/],
  ];
  for (const [body, words] of bodies) {
    const { text } = await send({ method: 'POST', path: jobs, headers: json, body });
    const { details } = errorSchema.parse(JSON.parse(text));
    assert.match(details?.[0]?.message ?? '', words, body);
  }
  const { text } = await send({ path: '/v1/analytics/default/assistant?limit=0&dateTo=x&dateFrom=y' });
  assert.equal(errorSchema.parse(JSON.parse(text)).details?.length, 3);
});

test('without a known key the answer only says that a key is required', async () => {
  for (const path of [jobs, `${jobs}/se_1`, '/v1/analytics/default/assistant', '/v1/unknown', '/v1']) {
    for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS'] as const) {
      const missing = await send({ method, path, isAnonymous: true });
      assert.equal(missing.status, 401, `${method} ${path}`);
      assert.equal(missing.headers['www-authenticate'], 'Bearer realm="export API"');
    }
  }
  const wrong = await send({ path: jobs, headers: { authorization: `Bearer ${key}1` } });
  assert.equal(wrong.status, 401);
  assert.match(String(wrong.headers['www-authenticate']), /invalid_token/);
  assert.doesNotMatch(wrong.text, /svc_/);
});

test('the body of a link request is ignored', async () => {
  const jobId = await exportPage(service, 'issue');
  const sent = { method: 'POST', path: `${jobs}/${jobId}/bundle`, headers: json } as const;
  assert.equal((await send({ ...sent, body: '{"broken' })).status, 200);
  assert.equal((await send({ ...sent, body: '{}' })).status, 200);
});

test('HEAD answers like GET without its body', async () => {
  const jobId = await exportPage(service, 'head');
  const answer = await send({ method: 'HEAD', path: `${jobs}/${jobId}` });
  assert.deepEqual([answer.status, answer.text], [200, '']);
});

test('a start answers 202 with the whole job and its Location', async () => {
  const answer = await send({
    method: 'POST',
    path: jobs,
    headers: json,
    body: '{"domain":" Docs.Example.com "}',
  });
  assert.equal(answer.status, 202);
  const job = JSON.parse(answer.text);
  assert.equal(answer.headers['location'], `${service.url}${jobs}/${job.jobId}`);
  assert.match(job.jobId, /^se_[0-9a-f]{16}$/);
  assert.equal(job.domain, 'docs.example.com');
  assert.ok(Date.parse(String(answer.headers['date'])) > 0);
  assert.match(String(answer.headers['x-request-id']), /^[0-9a-f]{16}$/);
});

test('a defect of the service is 500 in the error shape, without its cause, and is logged once', async () => {
  const broken = await startService({
    random: {
      uuid: () => '',
      fraction: () => 0,
      bytes: (count) => {
        // Only job ids are made of eight bytes where the answer depends on it; request ids come first.
        if (count === 8 && armed.pop() === 'fail') throw new Error('secret detail');
        return Buffer.alloc(count, 1);
      },
    },
  });
  const armed: string[] = ['fail', 'pass'];
  const { statusCode, body } = await request(`${broken.url}${jobs}`, {
    method: 'POST',
    headers: { ...json, authorization: `Bearer ${key}` },
    body: '{"domain":"docs.example.com"}',
  });
  assert.equal(statusCode, 500);
  assert.equal(await body.text(), '{"error":"internal error"}');
  assert.doesNotMatch(broken.log(), /secret detail/);
  assert.equal(broken.log().match(/a request failed/g)?.length, 1);
  await broken.close();
});

test('no method, path, header or body makes the service fail', async () => {
  const segment = fc.oneof(
    fc.constantFrom(
      'v1',
      'static-export',
      'jobs',
      'analytics',
      'default',
      'assistant',
      'bundle',
      'bundles',
      '..',
      '',
    ),
    fc.string({
      unit: fc.constantFrom('a', '%', '2', 'F', '0', '.', '?', '=', '&', ';', '@', ':', '*', '\\', '<'),
    }),
  );
  const path = fc.array(segment, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`);
  const method = fc.constantFrom<Sent['method'][]>(
    'GET',
    'POST',
    'PUT',
    'DELETE',
    'HEAD',
    'OPTIONS',
    'PATCH',
  );
  const header = fc.oneof(
    fc.constantFrom(
      'application/json',
      'text/plain',
      '"x"',
      'bytes=0-',
      '*',
      'gzip',
      'application/json; charset=x',
    ),
    fc.string({ unit: 'grapheme-ascii' }).map((text) => text.replace(/[^\x20-\x7e]/g, '')),
  );
  const headers = fc.dictionary(
    fc.constantFrom(
      'content-type',
      'idempotency-key',
      'range',
      'if-range',
      'if-match',
      'content-encoding',
      'accept',
    ),
    header,
  );
  const body = fc.option(fc.oneof(fc.json(), fc.string()), { nil: undefined });
  await fc.assertAsync(
    fc.asyncProperty(
      path,
      method,
      headers,
      body,
      fc.boolean(),
      async (where, how, sent, said, isAnonymous) => {
        const isBodiless = how === 'GET' || how === 'HEAD' || said === undefined;
        const answer = await send({
          path: where,
          headers: sent,
          isAnonymous,
          ...(how !== undefined && { method: how }),
          ...(!isBodiless && { body: said }),
        });
        assert.ok(answer.status < 500 || answer.status === 501, `${how} ${where} ${answer.status}`);
      },
    ),
    { numRuns: 300 },
  );
  assert.doesNotMatch(service.log(), /a request failed/);
});
