// The loop of `run` over virtual time: what it shows while an export takes long, how it ends, and that a month of it
// publishes what a cluster would get.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CliError } from '#cli/cli-error.ts';
import type { Publishing } from '#cli/publish/publisher.ts';
import { writeLinkFile } from '#cli/publish/values-file.ts';
import type { GitTargets } from '#operator/loop/ports.ts';
import { outputName, Simulation } from '../../../simulation/simulation.ts';
import { folderFor, startRun } from './run-environment.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;

test('a long export has a line every 30 s with its percentage, though it is polled more rarely', async (t) => {
  const { vendor, shown, pass, stop } = await startRun(t);
  vendor.jobMs = 6 * minuteMs;
  vendor.pollAfterMs = 4 * minuteMs;
  await pass(5 * minuteMs);
  const lines = shown().trimEnd().split('\n');
  assert.deepEqual(lines.slice(0, 1), ['Exporting']);
  assert.ok(lines.length >= 9, shown());
  for (const line of lines.slice(-2)) assert.equal(line, 'Exporting: 50 %, running, 3 pages');
  await pass(10 * minuteMs);
  const before = shown();
  assert.match(before, /\nWaiting\n$/);
  // Nothing is under way, and nobody waits: a day of it must not fill a log.
  await pass(dayMs);
  assert.equal(shown(), before);
  stop(new CliError('terminated', 'Stopped', 'stopped by SIGTERM'));
});

test('a start that is not confirmed has its lines too', async (t) => {
  const { vendor, shown, pass, stop } = await startRun(t, { once: true });
  vendor.failing = 'NetworkError';
  await pass(70_000);
  assert.match(shown(), /^Waiting\n(?:Waiting: for the export API to confirm the start\n){2}/);
  stop(new CliError('interrupted', 'Stopped', 'stopped by SIGINT'));
});

test('the deadline names the failure, and a stop names what was reached', async (t) => {
  const late = await startRun(t, { once: true, timeoutMs: minuteMs });
  late.vendor.failing = 'ServerError';
  await late.pass(2 * minuteMs);
  await assert.rejects(late.ended, (error: unknown) => {
    assert.ok(error instanceof CliError);
    assert.deepEqual([error.code, error.reached.lastFailure?.code], ['DeadlineExceeded', 'ServerError']);
    return true;
  });
  const linkFile: Publishing = {
    names: ['--link-file'],
    publish: async () => {},
    goalOf: ({ version }) => version,
    timeoutMs: minuteMs,
  };
  const stopped = await startRun(t, { publishings: [linkFile] });
  await stopped.pass(10 * minuteMs);
  stopped.stop(new CliError('terminated', 'Stopped', 'stopped by SIGTERM'));
  await assert.rejects(stopped.ended, (error: unknown) => {
    assert.ok(error instanceof CliError);
    assert.deepEqual([error.code, error.reached.written], ['Stopped', ['--link-file']]);
    assert.match(error.reached.version ?? '', /^\d{8}-/);
    return true;
  });
});

test('429 for a while is waited for; until after the deadline it ends the run at once', async (t) => {
  const brief = await startRun(t, { once: true });
  brief.vendor.failing = 'RateLimited';
  brief.vendor.retryAfterMs = 20_000;
  await brief.pass(10_000);
  brief.vendor.failing = undefined;
  await brief.pass(10 * minuteMs);
  assert.equal((await brief.ended).ended.outcome, 'done');
  const long = await startRun(t, { once: true });
  long.vendor.failing = 'RateLimited';
  long.vendor.retryAfterMs = dayMs;
  await long.pass(1000);
  await assert.rejects(long.ended, {
    outcome: 'temporary',
    code: 'RateLimited',
    message:
      'the export API at api.example.com returned 429; wait, or raise the limit at the vendor. The next attempt is allowed at 2026-01-06T12:00:00Z, which is after --timeout',
  });
});

test('run --once ends at a wrong address at once, and at a host that is not reached after two minutes', async (t) => {
  const page = await startRun(t, { once: true });
  page.vendor.failing = 'UnexpectedAnswer';
  await page.pass(1000);
  await assert.rejects(page.ended, {
    outcome: 'address',
    next: ['Check that --api-base-url is the address of the export API.'],
  });
  const closed = await startRun(t, { once: true });
  closed.vendor.failing = 'NetworkError';
  closed.vendor.systemCode = 'ECONNREFUSED';
  let hasEnded = false;
  closed.ended
    .catch(() => {})
    .finally(() => {
      hasEnded = true;
    });
  await closed.pass(119_000);
  assert.equal(hasEnded, false);
  await closed.pass(2000);
  await assert.rejects(closed.ended, { outcome: 'address', code: 'NetworkError' });
  // A run that goes on retries it, and so does one that had an answer.
  const on = await startRun(t);
  on.vendor.failing = 'UnexpectedAnswer';
  await on.pass(10 * minuteMs);
  on.vendor.failing = undefined;
  await on.pass(60 * minuteMs);
  assert.equal(on.vendor.jobs.size, 1);
  on.stop(new CliError('terminated', 'Stopped', 'stopped by SIGTERM'));
});

test('run --once that continues a job had its answer before', async (t) => {
  const folder = folderFor(t);
  const first = await startRun(t, { once: true, folder });
  await first.pass(1000);
  first.stop(new CliError('terminated', 'Stopped', 'stopped by SIGTERM'));
  await assert.rejects(first.ended);
  const next = await startRun(t, { once: true, folder });
  next.vendor.failing = 'UnexpectedAnswer';
  await next.pass(minuteMs);
  next.stop(new CliError('terminated', 'Stopped', 'stopped by SIGTERM'));
  await assert.rejects(next.ended, { outcome: 'terminated' });
});

test('a git target that refuses the last version does not end a run that exports the next one', async (t) => {
  const folder = folderFor(t);
  const git = { url: 'https://git.example.com/a.git', path: 'a.yaml', secretRef: { name: 'fleet' } };
  const spec = { targets: [{ name: 'fleet', type: 'Git', git }] };
  const reverted = { kind: 'reverted', message: 'another client reverted it' } as const;
  let refused = '';
  const fake = (): GitTargets => ({
    find: (_owner, _id, { wanted: { version } }) =>
      version === refused ? reverted : { kind: 'held', commit: undefined },
    keep: () => {},
  });
  const first = await startRun(t, { once: true, folder, spec, git: fake });
  await first.pass(10 * minuteMs);
  refused = (await first.ended).published?.version ?? assert.fail();
  const same = await startRun(t, { once: true, folder, spec, git: fake });
  await same.pass(10 * minuteMs);
  await assert.rejects(same.ended, { outcome: 'notWritten', code: 'Contested' });
  const next = await startRun(t, { once: true, folder, spec, git: fake, request: 'now' });
  next.vendor.contents.set('docs.example.com', { name: 'other', pages: 20 });
  await next.pass(10 * minuteMs);
  const { ended, published } = await next.ended;
  assert.equal(ended.outcome, 'done');
  assert.notEqual(published?.version, refused);
});

test('30 days of the loop over real files publish the versions that a cluster publishes', async (t) => {
  const spec = { schedule: '0 3 * * *' };
  const contentOf = (day: number) => ({ name: `content-${day >> 1}`, pages: 20 });
  const linkLifetimeMs = 6 * 3_600_000;
  const simulation = new Simulation({ spec });
  simulation.vendor.linkLifetimeMs = linkLifetimeMs;
  const wanted: string[] = [];
  for (let day = 0; day < 30; day += 1) {
    simulation.vendor.contents.set('docs.example.com', contentOf(day));
    await simulation.run(dayMs);
    wanted.push(simulation.output()?.['version'] ?? '');
  }
  assert.equal(new Set(wanted).size, 15);

  const folder = folderFor(t);
  const linkFile = join(folder, 'bundle.json');
  const files: Publishing = {
    names: ['--link-file'],
    publish: (bundle) => writeLinkFile(linkFile, bundle),
    goalOf: ({ version, link }) => `${version} ${link?.issuedAt ?? ''}`,
    timeoutMs: minuteMs,
  };
  const uid = simulation.object()?.metadata.uid ?? assert.fail();
  const run = await startRun(t, { spec, uid, folder, publishings: [files] });
  run.vendor.linkLifetimeMs = linkLifetimeMs;
  const found: string[] = [];
  for (let day = 0; day < 30; day += 1) {
    run.vendor.contents.set('docs.example.com', contentOf(day));
    await run.pass(dayMs);
    const published = JSON.parse(readFileSync(linkFile, 'utf8'));
    found.push(published.version);
    assert.ok(run.vendor.isValid(published.bundleUrl), `the link of day ${day} has expired`);
  }
  assert.deepEqual(found, wanted);
  assert.equal(run.vendor.jobs.size, simulation.vendor.jobs.size);
  const stored = readFileSync(join(folder, `objects/Secret.docs.${outputName}.json`), 'utf8');
  assert.equal(JSON.parse(stored).data.version, wanted.at(-1));
  run.stop(new CliError('terminated', 'Stopped', 'stopped by SIGTERM'));
});
