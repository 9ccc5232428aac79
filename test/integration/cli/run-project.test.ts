// `static-export run` where the export API is asked by project, against a vendor written from its page: what is sent, what is
// published, what another running export and each refusal mean, and that no link is shown although each poll has one.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import * as z from 'zod';
import { parsePublishedBundle } from '#bundle/published-bundle.ts';
import { seeText } from '../../support/secret-watch.ts';
import { pages } from './environment/export-workplace.ts';
import { filesIn } from './environment/files-in.ts';
import { projectId, projectKey, startProjectVendor } from './environment/project-vendor.ts';
import { workplaceWith } from './environment/run-workplace.ts';

const outputSecret = 'state/objects/Secret.default.docs-bundle.json';
const storedSecret = z.object({ data: z.object({ 'bundle.json': z.string() }) });

async function workplace(t: TestContext, api = '') {
  const spec = `api: { projectId: ${projectId}, ${api}keySecretRef: { name: export-api } }\n`;
  const { vendor, folder, to, run } = await workplaceWith(t, startProjectVendor, projectKey, spec);
  // The folder's own Secret holds the link, for its owner alone.
  const runAndSee: typeof run = async (...more) => {
    const result = await run(...more);
    for (const { name, text } of filesIn(folder, ['key', outputSecret])) seeText(name, text);
    return result;
  };
  return { vendor, folder, to, run: runAndSee };
}

test('a project is exported without a domain, with one start, and its link comes with the poll', async (t) => {
  const { vendor, to, run } = await workplace(t);
  vendor.jobMs = 300;
  const { code, stdout, stderr } = await run();
  assert.equal(code, 0, stderr);
  assert.equal(readFileSync(join(to, 'a/index.html'), 'utf8'), pages['a/index.html']);
  assert.equal(JSON.parse(stdout).pages, 3);
  assert.deepEqual(vendor.starts, ['']);
  const [start, ...polls] = vendor.calls;
  assert.equal(start, `POST /v1/static-export/${projectId}/jobs`);
  assert.ok(
    polls.every((call) => call === `GET /v1/static-export/${projectId}/jobs/${[...vendor.jobs.keys()][0]}`),
  );
});

test('the base path is sent with the start, and bundle.json names it', async (t) => {
  const { vendor, run, folder } = await workplace(t, 'basePath: /docs, ');
  assert.equal((await run()).code, 0);
  assert.deepEqual(vendor.starts, ['{"basePath":"/docs"}']);
  const secret = storedSecret.parse(JSON.parse(readFileSync(join(folder, outputSecret), 'utf8')));
  const published = parsePublishedBundle(secret.data['bundle.json']);
  assert.equal(published.basePath, '/docs');
});

test('another export that runs ends a run at its deadline, as a temporary failure that names it', async (t) => {
  const { vendor, run } = await workplace(t);
  vendor.first = ({ method }, response) => {
    if (method !== 'POST') return false;
    response.writeHead(409, { 'content-type': 'application/json' }).end('{"error":"in progress"}');
    return true;
  };
  const { code, stdout, stderr } = await run('--timeout', '3s');
  const { code: reason, lastFailure } = JSON.parse(stdout);
  assert.deepEqual([code, reason], [124, 'DeadlineExceeded'], stderr);
  assert.equal(lastFailure.code, 'AnotherExportRuns');
  assert.match(
    lastFailure.message,
    new RegExp(`returned 409, because another job of project ${projectId} runs`),
  );
});

test('links that have expired when they arrive end a run as a temporary failure, and nothing is written', async (t) => {
  const { vendor, to, run } = await workplace(t);
  vendor.linkMs = -60_000;
  const { code, stdout, stderr } = await run('--timeout', '6s');
  assert.deepEqual([code, JSON.parse(stdout).code], [5, 'LifetimeTooShort'], stderr);
  assert.throws(() => readFileSync(join(to, 'index.html')), { code: 'ENOENT' });
  assert.equal(vendor.jobs.size, 1);
});

for (const [status, code, words] of [
  [404, 'NotFound', /404 for project 5f0c9a7e1d; check the project id/],
  [403, 'KeyForbidden', /403/],
  [401, 'KeyRefused', /401/],
] as const) {
  test(`a start that is refused with ${status} says what to check`, async (t) => {
    const { vendor, run } = await workplace(t);
    vendor.first = (_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":"no"}');
      return true;
    };
    const result = await run('--timeout', '20s');
    assert.notEqual(result.code, 0);
    assert.match(result.stdout, words, code);
  });
}
