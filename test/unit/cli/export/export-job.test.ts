// One export over virtual time: what is sent again and what is not, what the next run continues, and that no run starts a
// second job, wherever the run before was killed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CliError } from '#cli/cli-error.ts';
import { type ExportDependencies, exportSite } from '#cli/export/export-job.ts';
import { silentProgress } from '#cli/output/progress.ts';
import type { StateFolder, StoredState } from '#cli/publish/state-folder.ts';
import { type ExportApi, ExportApiError, type JobReport } from '#export-api/answers.ts';
import { Link } from '#platform/wire/link.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const request = {
  domain: 'docs.example.com',
  baseUrl: 'https://api.example.com',
  continueWithinMs: 3_600_000,
  isNew: false,
};
const digest = 'd'.repeat(64);
const index = { digest, files: [], pages: 3, sizeBytes: 10, notes: [] };
const link = Link.parse('https://storage.example.com/site.tar.gz?signature=x') ?? assert.fail();
const running: JobReport = { outcome: 'unfinished', state: 'running', progress: 50, pageCount: 2, raw: {} };
const complete: JobReport = { ...running, outcome: 'completed', state: 'completed' };

class Killed extends Error {}

/** What outlasts a run: the export API's jobs, and the state on the disk. */
function testEnvironment() {
  const clock = virtualClock();
  const jobs = new Map<string, string>();
  const calls: string[] = [];
  const polls = new Map<string, number>();
  /** Answers to the next polls. */
  const reports: JobReport[] = [];
  let state: StoredState = {};
  let uuids = 0;
  const nextUuid = (): string => {
    uuids += 1;
    return `key-${uuids}`;
  };
  /** Called before and after each call and each write; throws to kill the run there. */
  let point: (name: string) => void = () => {};
  const answers: Partial<Record<'start' | 'poll' | 'issue' | 'prepare', (() => void)[]>> = {};
  const around = async <T>(name: 'start' | 'poll' | 'issue' | 'prepare', work: () => T): Promise<T> => {
    point(`before ${name}`);
    calls.push(name);
    const result = work();
    answers[name]?.shift()?.();
    point(`after ${name}`);
    return result;
  };
  const api: ExportApi = {
    startJob: ({ idempotencyKey }) =>
      around('start', () => {
        const jobId = jobs.get(idempotencyKey) ?? `job-${jobs.size + 1}`;
        jobs.set(idempotencyKey, jobId);
        return { jobId, raw: {} };
      }),
    readJob: (jobId) =>
      around('poll', () => {
        polls.set(jobId, (polls.get(jobId) ?? 0) + 1);
        return reports.shift() ?? ((polls.get(jobId) ?? 0) < 3 ? running : complete);
      }),
    issueLink: () => around('issue', () => ({ link, expiresAt: undefined, serverDate: undefined })),
  };
  const folder: StateFolder = {
    path: '/state',
    get state() {
      return state;
    },
    write: async (next) => {
      point('before write');
      state = next;
      point('after write');
    },
    close: () => {},
  };
  const notes: string[] = [];
  const dependencies: ExportDependencies = {
    clock,
    random: {
      uuid: nextUuid,
      bytes: (count) => new Uint8Array(count),
      fraction: () => 0.5,
    },
    progress: { ...silentProgress, note: (text) => void notes.push(text) },
    api,
    state: folder,
    prepare: () => around('prepare', () => index),
  };
  const run = (
    signal = new AbortController().signal,
    isNew = false,
    timeoutMs = Number.POSITIVE_INFINITY,
  ) => {
    const endsAt = clock.monotonic() + timeoutMs;
    return clock.finish(exportSite({ ...request, endsAt, isNew }, dependencies, signal));
  };
  const onPoint = (next: (name: string) => void): void => {
    point = next;
  };
  return { clock, jobs, calls, answers, reports, folder, notes, run, onPoint };
}

const fails =
  (error: Error): (() => void) =>
  () => {
    throw error;
  };
const api = (code: ConstructorParameters<typeof ExportApiError>[0], retryAfterMs?: number) =>
  fails(new ExportApiError(code, 'said', { retryAfterMs }));

test('an export starts one job, polls it, issues a link and checks the archive', async () => {
  const { run, calls, folder } = testEnvironment();
  const { version, jobId } = await run();
  assert.match(version, /^20260105-1200\d\d-dddddddd$/);
  assert.equal(jobId, 'job-1');
  assert.deepEqual(calls, ['start', 'poll', 'poll', 'poll', 'issue', 'prepare']);
  assert.equal(folder.state.current?.jobId, 'job-1');
});

test('a run that is killed anywhere is continued by the next, with the same job and the same version', async () => {
  const whole = testEnvironment();
  const points: string[] = [];
  whole.onPoint((name) => void points.push(name));
  await whole.run();
  assert.ok(points.length >= 18);
  for (let first = 0; first < points.length; first += 1) {
    for (let second = 0; second < points.length; second += 1) {
      const { run, jobs, onPoint } = testEnvironment();
      for (const at of [first, second]) {
        let passed = 0;
        onPoint((name) => {
          passed += 1;
          if (passed === at + 1) throw new Killed(name);
        });
        await run().catch((error: unknown) => assert.ok(error instanceof Killed, String(error)));
      }
      onPoint(() => {});
      const { jobId, version } = await run();
      assert.equal(jobs.size, 1, `killed at ${points[first]} and ${points[second]}`);
      assert.equal(jobId, 'job-1');
      assert.match(version, /-dddddddd$/);
    }
  }
});

test('a start whose answer is lost is sent again with the same key, after 30 s', async () => {
  const { run, jobs, calls, answers, clock } = testEnvironment();
  answers.start = [api('RequestTimeout'), api('NetworkError')];
  const startedAt = clock.monotonic();
  await run();
  assert.equal(jobs.size, 1);
  assert.equal(calls.filter((call) => call === 'start').length, 3);
  assert.ok(clock.monotonic() - startedAt >= 60_000);
});

test('after three lost answers the run ends, and the next one sends the same key', async () => {
  const { run, jobs, answers } = testEnvironment();
  answers.start = [api('ServerError'), api('ServerError'), api('ServerError')];
  await assert.rejects(run(), { code: 'ServerError' });
  await run();
  assert.equal(jobs.size, 1);
});

test('a refused key ends the run at once', async () => {
  for (const call of ['start', 'poll', 'issue'] as const) {
    const { run, calls, answers } = testEnvironment();
    answers[call] = [api('Unauthorized')];
    await assert.rejects(run(), { code: 'Unauthorized' });
    assert.equal(calls.filter((one) => one === call).length, 1);
  }
});

const network = (code: string) =>
  fails(new ExportApiError('NetworkError', 'said', { cause: Object.assign(new Error('said'), { code }) }));
const lasting = (failure: () => void): (() => void)[] => Array.from({ length: 100 }, () => failure);

test('before its first answer, what no retry corrects ends the run at once, with an outcome of its own', async () => {
  const absent = fails(new ExportApiError('NotFound', 'said', { status: 404 }));
  for (const failure of [network('DEPTH_ZERO_SELF_SIGNED_CERT'), api('UnexpectedAnswer'), absent]) {
    const { run, calls, answers, clock, folder } = testEnvironment();
    answers.start = [failure];
    const at = clock.monotonic();
    await assert.rejects(run(), { outcome: 'address' });
    assert.deepEqual([calls, clock.monotonic() - at], [['start'], 0]);
    assert.equal(folder.state.current?.jobId, undefined);
  }
});

test('a host that is not reached ends the run after two minutes, and one that starts meanwhile does not', async () => {
  for (const code of ['ENOTFOUND', 'ECONNREFUSED']) {
    const { run, answers, clock, calls, jobs } = testEnvironment();
    answers.start = lasting(network(code));
    const at = clock.monotonic();
    await assert.rejects(run(), { outcome: 'address', code: 'NetworkError' });
    assert.equal(clock.monotonic() - at, 120_000);
    assert.ok(calls.length >= 6, String(calls.length));
    answers.start = Array.from({ length: 5 }, () => network(code));
    await run();
    assert.equal(jobs.size, 1);
  }
});

test('after an answer the same failures are retried', async () => {
  const { run, answers, jobs } = testEnvironment();
  answers.poll = [
    api('UnexpectedAnswer'),
    network('CERT_HAS_EXPIRED'),
    ...Array.from({ length: 20 }, () => network('ECONNREFUSED')),
  ];
  await run();
  assert.equal(jobs.size, 1);
});

test('a run that continues a job had its answer before, also with another key', async () => {
  for (const failures of [
    [api('UnexpectedAnswer')],
    Array.from({ length: 20 }, () => network('ECONNREFUSED')),
  ]) {
    const { run, answers, jobs } = testEnvironment();
    answers.poll = [api('Unauthorized')];
    await assert.rejects(run());
    answers.poll = failures;
    await run();
    assert.equal(jobs.size, 1);
  }
});

test('a refusal is an answer: the export API may be restarting', async () => {
  for (const [code, status] of [
    ['ServerError', 503],
    ['RateLimited', 429],
  ] as const) {
    const { run, answers, jobs } = testEnvironment();
    const refused = fails(new ExportApiError(code, 'said', { status }));
    answers.start = [refused, ...Array.from({ length: 10 }, () => network('ECONNREFUSED'))];
    await run();
    assert.equal(jobs.size, 1);
  }
});

test('a job that is continued and gone ends as before: its address was right', async () => {
  const { run, answers } = testEnvironment();
  answers.poll = [api('Unauthorized')];
  await assert.rejects(run());
  answers.poll = [api('NotFound')];
  await assert.rejects(run(), { code: 'JobGone', outcome: 'exportFailed' });
});

test('Retry-After is respected, and failed polls cost nothing but time', async () => {
  const { run, answers, clock } = testEnvironment();
  answers.poll = [api('RateLimited', 90_000), api('ServerError'), api('UnexpectedAnswer')];
  const startedAt = clock.monotonic();
  await run();
  assert.ok(clock.monotonic() - startedAt >= 90_000);
});

test('a Retry-After beyond the deadline ends the run at once, and a later run continues', async () => {
  for (const call of ['start', 'poll', 'issue'] as const) {
    const { run, answers, clock, calls, jobs } = testEnvironment();
    answers[call] = [api('RateLimited', 86_400_000)];
    const startedAt = clock.monotonic();
    const message = /^said; it allows the next attempt in 86400 s, which is after --timeout$/;
    const rejected = { code: 'RateLimited', outcome: 'temporary', message };
    await assert.rejects(run(undefined, false, 3_600_000), rejected);
    assert.ok(clock.monotonic() - startedAt < 60_000);
    assert.equal(calls.filter((one) => one === call).length, 1);
    await run();
    assert.equal(jobs.size, 1);
  }
});

test('a job that failed ends the run, and the next run starts a new one', async () => {
  const { run, jobs, reports, folder } = testEnvironment();
  reports.push({ ...running, outcome: 'failed', state: 'failed', said: 'navigation is broken' });
  await assert.rejects(run(), {
    code: 'JobFailed',
    outcome: 'exportFailed',
    message: /failed with status "failed"\. It reports: "navigation is broken"; run/,
  });
  assert.equal(folder.state.current, undefined);
  await run();
  assert.equal(jobs.size, 2);
});

test('a job that is gone ends the run, and the next run starts a new one', async () => {
  for (const call of ['poll', 'issue'] as const) {
    const { run, jobs, answers, folder } = testEnvironment();
    answers[call] = [api('NotFound')];
    await assert.rejects(run(), { code: 'JobGone', outcome: 'exportFailed' });
    assert.equal(folder.state.current, undefined);
    await run();
    assert.equal(jobs.size, 2);
  }
});

test('a link that has expired is replaced at once, and a broken download after a wait', async () => {
  const { run, calls, answers } = testEnvironment();
  answers.prepare = [
    fails(new PublishableError('LinkExpired', 'said', { kind: 'wait' })),
    fails(new PublishableError('DownloadInterrupted', 'said', { kind: 'retry' })),
  ];
  await run();
  assert.equal(calls.filter((call) => call === 'issue').length, 3);
});

test('an archive that is rejected ends the export: the next run starts a new job', async () => {
  const { run, jobs, calls, answers } = testEnvironment();
  answers.prepare = [fails(new PublishableError('NoEndMark', 'said', { kind: 'refused' }))];
  await assert.rejects(run(), { code: 'NoEndMark' });
  assert.equal(calls.filter((call) => call === 'prepare').length, 1);
  await run();
  assert.equal(jobs.size, 2);
});

test('a job that is not complete after all is polled again', async () => {
  const { run, calls, answers } = testEnvironment();
  answers.issue = [api('Conflict')];
  await run();
  assert.deepEqual(calls.slice(-4), ['issue', 'poll', 'issue', 'prepare']);
});

test('an unfinished export is not continued when it is older than the deadline, or of another domain', async () => {
  const { run, jobs, answers, clock, folder } = testEnvironment();
  answers.poll = [api('Unauthorized')];
  await assert.rejects(run());
  await clock.pass(3_600_001);
  await run();
  assert.equal(jobs.size, 2);
  const { current } = folder.state;
  assert.ok(current);
  await folder.write({ current: { ...current, domain: 'other.example.com' } });
  await run();
  assert.equal(jobs.size, 3);
});

test('a run that continues says which job it continues and how to start a new one', async () => {
  const { run, jobs, answers, notes } = testEnvironment();
  answers.poll = [api('Unauthorized')];
  await assert.rejects(run());
  answers.poll = [api('Unauthorized')];
  await assert.rejects(run());
  assert.deepEqual(notes, [
    'Continuing export job job-1, started at 2026-01-05T12:00:00Z. For a new export, add --new',
  ]);
  const { jobId } = await run(undefined, true);
  assert.deepEqual([jobId, jobs.size], ['job-2', 2]);
});

test('a fault that no other link can change ends the run at once', async () => {
  const { run, calls, answers, folder } = testEnvironment();
  answers.prepare = [fails(new CliError('usage', 'PrivateLink', 'said'))];
  await assert.rejects(run(), { code: 'PrivateLink', outcome: 'usage' });
  assert.equal(calls.filter((call) => call === 'issue').length, 1);
  assert.equal(folder.state.current?.jobId, 'job-1');
});

test('a clock that was set back continues the export, because a second job would be spare', async () => {
  const { run, jobs, answers, clock } = testEnvironment();
  answers.poll = [api('Unauthorized')];
  await assert.rejects(run());
  clock.jump(-86_400_000);
  await run();
  assert.equal(jobs.size, 1);
});

test('the deadline ends every wait with the failure that it followed', async () => {
  const { run, clock, answers } = testEnvironment();
  answers.poll = Array.from({ length: 1000 }, () => api('ServerError'));
  await assert.rejects(run(clock.deadline(600_000)), { code: 'ServerError' });
  const unfinished = testEnvironment();
  unfinished.answers.issue = Array.from({ length: 1000 }, () => api('Conflict'));
  const early = unfinished.clock.deadline(30_000);
  await assert.rejects(unfinished.run(early), { code: 'Conflict' });
  const [slow] = [testEnvironment()];
  await assert.rejects(slow.run(slow.clock.deadline(1)), { name: 'TimeoutError' });
});
