// What `run` does where the export API refuses for a while, and where an archive or a destination is not fit to be
// published: the exit code, and what readers have afterwards.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { tarOf } from '../../support/tar-builder.ts';
import { pages } from './environment/export-workplace.ts';
import { runWorkplace } from './environment/run-workplace.ts';
import { type ScriptedVendor, status } from './environment/scripted-vendor.ts';

type Answers = ScriptedVendor['answers'];
const once =
  (answer: NonNullable<Answers['poll']>): NonNullable<Answers['poll']> =>
  (response, count) =>
    count === 1 && answer(response, count);

const soon = (): string => new Date(Date.now() + 3000).toUTCString();

const passing: readonly (readonly [string, Answers])[] = [
  ['429 with seconds, at a poll', { poll: once(status(429, { 'retry-after': '2' })) }],
  [
    '429 with a date, for the link',
    { issue: once((response) => status(429, { 'retry-after': soon() })(response)) },
  ],
  ['500, at a poll', { poll: once(status(500)) }],
  ['503, for the link', { issue: once(status(503)) }],
];
describe('refusals that pass', { concurrency: 4 }, () => {
  for (const [name, answers] of passing) {
    test(`${name}: the run goes on to the right bytes with one job`, async (t) => {
      const { to, vendor, run } = await runWorkplace(t);
      vendor.answers = answers;
      const { code, stderr } = await run('--timeout', '5m');
      assert.equal(code, 0, stderr);
      assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
      assert.equal(vendor.jobs.size, 1);
    });
  }
});

const lasting: readonly (readonly [string, Answers, string, RegExp])[] = [
  ['500 for every poll', { poll: status(500) }, 'ServerError', /returned a server error: HTTP 500$/],
  ['503 for every link', { issue: status(503) }, 'ServerError', /returned a server error: HTTP 503$/],
];
describe('refusals that last', { concurrency: 4 }, () => {
  for (const [name, answers, code, words] of lasting) {
    test(`${name}: exit 124 with ${code}; nothing is written`, async (t) => {
      const { to, vendor, run } = await runWorkplace(t);
      vendor.answers = answers;
      const { code: exitCode, stdout, stderr } = await run('--timeout', '15s');
      const error = JSON.parse(stdout);
      assert.deepEqual(
        [exitCode, error.code, error.lastFailure.code],
        [124, 'DeadlineExceeded', code],
        stderr,
      );
      assert.match(error.lastFailure.message, words);
      assert.equal(existsSync(to), false);
    });
  }
});

test('429 until after the deadline: exit 5 at once, with the time', async (t) => {
  for (const call of ['start', 'poll'] as const) {
    const { to, vendor, run } = await runWorkplace(t);
    vendor.answers = { [call]: status(429, { 'retry-after': '7200' }) };
    const { code, stdout, stderr } = await run();
    const error = JSON.parse(stdout);
    assert.deepEqual([code, error.code, error.retryable], [5, 'RateLimited', true], stderr);
    assert.match(error.message, /returned 429; .*allows the next attempt at \S+Z, which is after --timeout$/);
    assert.equal(existsSync(to), false);
  }
});

const hostile = gzipSync(tarOf({ ...pages, '../outside.html': 'x' }));

test('a hostile archive: exit 6, nothing of it is written, and the published site stays', async (t) => {
  const { folder, to, vendor, run } = await runWorkplace(t);
  vendor.archive = hostile;
  const first = await run();
  const error = JSON.parse(first.stdout);
  assert.deepEqual([first.code, error.code], [6, 'BundleRejected'], first.stderr);
  assert.match(error.message, /an entry has a path with "\.\."/);
  assert.match(first.stderr, /ParentPath/);
  assert.deepEqual([existsSync(to), existsSync(join(folder, 'outside.html'))], [false, false]);
  vendor.archive = gzipSync(tarOf(pages));
  const second = await run('--request');
  assert.equal(second.code, 0, second.stderr);
  const { version } = JSON.parse(second.stdout);
  vendor.archive = hostile;
  const third = await run('--request');
  assert.deepEqual([third.code, JSON.parse(third.stdout).version], [6, version], third.stderr);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), pages['index.html']);
});

test('an export with far fewer pages: exit 7, and the published site stays', async (t) => {
  const { to, vendor, run } = await runWorkplace(t);
  const first = await run();
  assert.equal(first.code, 0, first.stderr);
  const { version } = JSON.parse(first.stdout);
  vendor.archive = gzipSync(tarOf({ 'index.html': 'alone' }));
  const { code, stdout } = await run('--request');
  const error = JSON.parse(stdout);
  assert.deepEqual([code, error.code, error.version], [7, 'PageCountDropped', version]);
  assert.match(error.message, /maxShrinkPercent/);
  assert.equal(readFileSync(join(to, 'b.html'), 'utf8'), pages['b.html']);
});

test('a folder with a file of somebody else: exit 2 before a job is started, and the file stays', async (t) => {
  const { to, vendor, run } = await runWorkplace(t);
  mkdirSync(to);
  writeFileSync(join(to, 'own.txt'), 'mine');
  const { code, stdout } = await run();
  const error = JSON.parse(stdout);
  assert.deepEqual([code, error.code], [2, 'DestinationExists']);
  assert.match(error.message, /^--publish dir=/);
  assert.deepEqual([readFileSync(join(to, 'own.txt'), 'utf8'), vendor.jobs.size], ['mine', 0]);
});
