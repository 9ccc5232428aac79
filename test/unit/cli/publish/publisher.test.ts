// When `run` brings a version to its destinations: beside the reconcile, with a deadline, and with a wait that grows.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { CliError } from '#cli/cli-error.ts';
import { silentProgress } from '#cli/output/progress.ts';
import { createPublisher } from '#cli/publish/publisher.ts';
import { Link } from '#platform/wire/link.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const bundleUrl = Link.parse('https://storage.example.com/a?signature=x') ?? assert.fail();
const bundleOf = (version: string, url = bundleUrl): PublishedBundle => ({
  version,
  digest: 'd'.repeat(64),
  jobId: 'j',
  pages: 1,
  sizeBytes: 1,
  ref: undefined,
  link: { url, issuedAt: 0, expiresAt: 1000 },
});
const full = new CliError('notWritten', 'DestinationNotWritten', 'said');

/** A publisher whose attempts end as the test says, and which the loop aims again after each. */
function testEnvironment() {
  const clock = virtualClock();
  const stop = new AbortController();
  const attempts: PublishedBundle[] = [];
  const notes: string[] = [];
  let ends = 0;
  let answer: (bundle: PublishedBundle, signal: AbortSignal) => Promise<void> = async () => {};
  const publisher = createPublisher(
    {
      names: ['--values', '--publish dir=a'],
      publish: (bundle, signal) => {
        attempts.push(bundle);
        return answer(bundle, signal);
      },
      goalOf: ({ version }) => version,
      timeoutMs: 60_000,
    },
    ({ code }) => code === 'Final',
    { clock, signal: stop.signal, progress: { ...silentProgress, note: (text) => void notes.push(text) } },
    () => {
      ends += 1;
    },
  );
  const answers = (next: typeof answer): void => {
    answer = next;
  };
  return { clock, stop, attempts, notes, publisher, answers, ends: () => ends };
}

const untilAborted = (_bundle: PublishedBundle, signal: AbortSignal): Promise<void> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

test('a version is published once, and compared with its destinations every hour', async () => {
  const { clock, publisher, attempts } = testEnvironment();
  publisher.aim(bundleOf('v1'));
  assert.equal(publisher.isWorking(), true);
  await clock.pass(0);
  assert.deepEqual([publisher.isDone(), publisher.waitMs()], [true, 3_600_000]);
  await clock.pass(3_599_999);
  publisher.aim(bundleOf('v1'));
  assert.equal(attempts.length, 1);
  await clock.pass(1);
  publisher.aim(bundleOf('v1'));
  assert.equal(attempts.length, 2);
});

test('after a failure the wait grows from 10 s to 15 min, whatever the link', async () => {
  const { clock, publisher, attempts, answers, notes } = testEnvironment();
  answers(() => Promise.reject(full));
  const waits: number[] = [];
  for (let count = 0; count < 9; count += 1) {
    publisher.aim(bundleOf('v1', Link.parse(`https://storage.example.com/${count}`)));
    await clock.pass(0);
    assert.equal(publisher.failure(), full);
    waits.push(publisher.waitMs() / 1000);
    publisher.aim(bundleOf('v1'));
    assert.equal(attempts.length, count + 1, 'it was tried before its time');
    await clock.pass(publisher.waitMs());
  }
  assert.deepEqual(waits, [10, 20, 40, 80, 160, 320, 640, 900, 900]);
  assert.equal(notes[1], 'said (DestinationNotWritten). Retrying in 20 s');
  answers(async () => {});
  publisher.aim(bundleOf('v1'));
  await clock.pass(0);
  assert.deepEqual([publisher.isDone(), publisher.failure()], [true, undefined]);
});

test('an attempt has a deadline, and the loop goes on meanwhile', async () => {
  const { clock, publisher, answers, ends } = testEnvironment();
  answers(untilAborted);
  publisher.aim(bundleOf('v1'));
  await clock.pass(59_999);
  assert.deepEqual([publisher.isWorking(), publisher.waitMs(), ends()], [true, Number.POSITIVE_INFINITY, 0]);
  await clock.pass(1);
  assert.equal(ends(), 1);
  assert.deepEqual(
    [publisher.failure()?.code, publisher.failure()?.outcome],
    ['PublishTimeout', 'temporary'],
  );
});

test('another version ends the attempt for the last one, and starts without a wait', async () => {
  const { clock, publisher, answers, attempts, ends, notes } = testEnvironment();
  answers(untilAborted);
  publisher.aim(bundleOf('v1'));
  publisher.aim(bundleOf('v2'));
  await clock.pass(0);
  assert.deepEqual([ends(), publisher.isDone(), publisher.failure(), notes], [1, false, undefined, []]);
  answers(async () => {});
  publisher.aim(bundleOf('v2'));
  await clock.pass(0);
  assert.deepEqual(
    attempts.map(({ version }) => version),
    ['v1', 'v2'],
  );
  assert.equal(publisher.isDone(), true);
});

test('an attempt that ends well after its version was replaced does not count for the new one', async () => {
  const { clock, publisher, answers } = testEnvironment();
  const { promise, resolve } = Promise.withResolvers<void>();
  answers(() => promise);
  publisher.aim(bundleOf('v1'));
  publisher.aim(bundleOf('v2'));
  resolve();
  await clock.pass(0);
  assert.equal(publisher.isDone(), false);
});

test('what holds the version is all of it after a success, and what the failure names after one', async () => {
  const { clock, publisher, answers } = testEnvironment();
  const half = { version: 'v1', written: ['--values'] };
  answers(() => Promise.reject(new CliError('notWritten', 'DestinationNotWritten', 'said', half)));
  assert.deepEqual(publisher.written(), []);
  publisher.aim(bundleOf('v1'));
  await clock.pass(0);
  assert.deepEqual(publisher.written(), ['--values']);
  answers(async () => {});
  await clock.pass(publisher.waitMs());
  publisher.aim(bundleOf('v1'));
  await clock.pass(0);
  assert.deepEqual(publisher.written(), ['--values', '--publish dir=a']);
  publisher.aim(bundleOf('v2'));
  assert.deepEqual(publisher.written(), []);
});

test('a stop ends the attempt without a message', async () => {
  const { stop, publisher, answers, notes } = testEnvironment();
  answers(untilAborted);
  publisher.aim(bundleOf('v1'));
  stop.abort();
  await publisher.close();
  assert.deepEqual([publisher.isWorking(), notes], [false, []]);
});
