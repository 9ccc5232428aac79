// `export --project-id`: against a vendor written from the page of the project-scoped form. What is sent, what the state
// remembers between two commands, and what a pipeline reads when another export runs or the hour's starts are used.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { runInProcess } from '../../support/cli-in-process.ts';
import { pages, seeFiles, site } from './environment/export-workplace.ts';
import { projectId, projectKey, startProjectVendor } from './environment/project-vendor.ts';

async function workplace(t: TestContext) {
  const vendor = await startProjectVendor(site);
  t.after(() => vendor.close());
  const folder = mkdtempSync(join(tmpdir(), 'cli-export-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'key'), `${projectKey}\n`);
  const run = async (...more: readonly string[]) => {
    const result = await runInProcess([
      ...['export', '--api-base-url', vendor.url, '--key-file', join(folder, 'key')],
      ...[
        '--state',
        join(folder, 'state'),
        '--to',
        join(folder, 'site'),
        '--allow-private-links',
        '-o',
        'json',
      ],
      ...more,
    ]);
    seeFiles(folder);
    return { ...result, document: result.stdout === '' ? {} : JSON.parse(result.stdout) };
  };
  return { vendor, folder, run };
}

test('a project is exported without a domain', async (t) => {
  const { vendor, folder, run } = await workplace(t);
  const { code, stderr, document } = await run('--project-id', projectId);
  assert.equal(code, 0, stderr);
  assert.equal(readFileSync(join(folder, 'site/a/index.html'), 'utf8'), pages['a/index.html']);
  assert.deepEqual([document.projectId, document.domain, document.pages], [projectId, undefined, 3]);
  assert.deepEqual(vendor.starts, ['']);
});

test('a domain names the site, and the base path is sent', async (t) => {
  const { vendor, run } = await workplace(t);
  const { code, stderr, document } = await run(
    ...['docs.example.com', '--project-id', projectId, '--base-path', '/docs'],
  );
  assert.equal(code, 0, stderr);
  assert.equal(document.domain, 'docs.example.com');
  assert.deepEqual(vendor.starts, ['{"basePath":"/docs"}']);
});

test('the root is a base path too', async (t) => {
  const { vendor, run } = await workplace(t);
  for (const root of ['/', ''])
    assert.equal((await run('--project-id', projectId, '--base-path', root)).code, 0);
  assert.deepEqual(vendor.starts, ['{"basePath":""}', '{"basePath":""}']);
});

test('the second export of a project is compared with the first one', async (t) => {
  const { run } = await workplace(t);
  const first = await run('--project-id', projectId);
  const second = await run('--project-id', projectId);
  assert.deepEqual([first.document.changed, second.document.changed], [true, false]);
  assert.equal(second.document.version, first.document.version);
});

test('the starts of an hour are counted over commands, and the next one ends with the time from which it can work', async (t) => {
  const { vendor, run } = await workplace(t);
  for (let count = 0; count < 2; count += 1)
    assert.equal((await run('--project-id', projectId, '--starts-per-hour', '2', '--new')).code, 0);
  const { code, document, stderr } = await run(
    ...['--project-id', projectId, '--starts-per-hour', '2', '--new', '--timeout', '20m'],
  );
  assert.deepEqual([code, document.code], [5, 'StartBudgetUsed'], stderr);
  assert.match(document.message, /all 2 starts .* are used.*next attempt is allowed at \d{4}-\d\d-\d\dT/);
  assert.equal(vendor.starts.length, 2);
});

for (const [name, headers] of [
  ['with Retry-After', { 'retry-after': '3000' }],
  ['without Retry-After', {}],
] as const) {
  test(`429 ${name} is a temporary failure`, async (t) => {
    const { vendor, run } = await workplace(t);
    vendor.first = ({ method }, response) => {
      if (method !== 'POST') return false;
      response
        .writeHead(429, { 'content-type': 'application/json', ...headers })
        .end('{"error":"ten an hour"}');
      return true;
    };
    const result = await run('--project-id', projectId, '--timeout', '4s');
    assert.deepEqual([result.code, result.document.code], [5, 'RateLimited'], result.stderr);
    assert.match(result.stdout, /returned 429; wait\. .* The next attempt is allowed at \d{4}-/);
  });
}

for (const [flags, words] of [
  [[], /name the DOMAIN to export, or its project with --project-id/],
  [['docs.example.com', '--base-path', '/docs'], /--base-path needs --project-id/],
  [['--project-id', 'a/b'], /--project-id/],
  [['--project-id', '..'], /--project-id/],
  [['--project-id', 'a%2fb'], /--project-id/],
  [['--project-id', 'a\u0000b'], /--project-id/],
  [['--project-id', 'a'.repeat(10_240)], /--project-id/],
  [
    ['--project-id', projectId, '--base-path', '/other'],
    /must be \/docs, \/documentation or \/ for the root/,
  ],
] as const) {
  test(`refused before anything is sent: ${flags.join(' ').slice(0, 60) || 'no site'}`, async (t) => {
    const { vendor, run } = await workplace(t);
    const { code, stderr, stdout } = await run(...flags);
    assert.equal(code, 2, stderr);
    assert.match(stdout + stderr, words);
    assert.deepEqual(vendor.calls, []);
  });
}
