// What Ready says beside its reason: read as whoever is woken by it reads it, with what to do next.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '../../../../src/reconcile/adopt.ts';
import { classify } from '../../../../src/reconcile/classify.ts';
import type { Observation } from '../../../../src/reconcile/observation.ts';
import { statusOf } from '../../../../src/reconcile/status/status.ts';
import type { Status } from '../../../../src/staticexport/status-schema.ts';
import { active, at, calm, fresh, inputHash } from '../cases/observations.ts';

const withStatus = (base: Observation, status: Status): Observation => ({
  ...base,
  status: { ...base.status, ...status },
});
const pinnedTo = (version: string): Observation => ({
  ...calm,
  wanted: { ...calm.wanted, pin: { version, jobId: undefined } },
});
const failure = { count: 1, lastFailureTime: at(-1), retryTime: at(60), subject: inputHash };
const newer = { version: '20260105-114500-bbbbbbbb', jobId: 'se_2' };
const older = { version: '20260105-100000-cccccccc', jobId: 'se_0' };
const failed = {
  id: 'se_2',
  inputHash,
  startTime: at(-9),
  completionTime: at(-1),
  verdict: 'JobFailed' as const,
};

const rows: Readonly<Record<string, readonly [Observation, RegExp]>> = {
  'what is published is named': [calm, /link\. Version 20260105-113000-aaaaaaaa\.$/],
  'after a pin the newer version is named, and how to get on': [
    withStatus(calm, { history: [newer, { ...active }] }),
    /because of an earlier pin; 20260105-114500-bbbbbbbb is newer\..* annotation staticexport\.dev\/requestedAt=/,
  ],
  'once an export has found the old content again, it is the newest': [
    withStatus(calm, { history: [newer, { ...active }], active: { ...active, lastCheckTime: at(-5) } }),
    /Version 20260105-113000-aaaaaaaa\.$/,
  ],
  'an older version of the history is nothing to go to': [
    withStatus(calm, { history: [{ ...active }, older] }),
    /Version 20260105-113000-aaaaaaaa\.$/,
  ],
  'a pin says what it holds, and how it ends': [
    pinnedTo(active.version),
    /when spec\.pin is removed\. Version 20260105-113000-aaaaaaaa\.$/,
  ],
  'a pin that cannot be had yet says what failed and when it is tried again': [
    withStatus(pinnedTo(older.version), {
      history: [older],
      failures: { poll: { ...failure, reason: 'ServerError', subject: 'se_0', requestId: 'req-7' } },
    }),
    /returned a server error\. \(ServerError\) Request id: req-7\. Retrying at 2026-01-05T12:01:00Z\.$/,
  ],
  'a suspended resource says what it keeps alive': [
    { ...calm, wanted: { ...calm.wanted, isSuspended: true } },
    /still refreshed\. Version 20260105-113000-aaaaaaaa\.$/,
  ],
  'a first export that failed names its job and the next try': [
    withStatus(fresh, { job: failed, failures: { export: { ...failure, reason: 'JobFailed' } } }),
    /The last job failed\. \(JobFailed\) Job se_2 at api\.example\.com\. Retrying at 2026-01-05T12:01:00Z\.$/,
  ],
  'an export that could not be written says what the cluster said': [
    withStatus(fresh, {
      job: { ...failed, verdict: undefined },
      failures: {
        poll: { ...failure, reason: 'OutputWriteFailed', subject: 'se_2', message: 'a quota refused it' },
      },
    }),
    /A quota refused it\. \(OutputWriteFailed\) Retrying at/,
  ],
  'a first export that waits for what the API asked of all is told so': [
    {
      ...fresh,
      rateLimit: { closedUntil: fresh.now + 60_000, closedAt: fresh.now - 1000, refused: undefined },
    },
    /^Waiting before the next retry\. The export API asked for a pause with Retry-After\. All resources with this key wait\.$/,
  ],
  'a start that nobody confirmed says what came of it, and when it is asked again': [
    withStatus(fresh, {
      start: { key: 'k', lastAttemptTime: at(-1), inputHash, cause: 'First', attempts: 1 },
      failures: { export: { ...failure, reason: 'RequestTimeout' } },
    }),
    /did not answer in time\. \(RequestTimeout\) Retrying at 2026-01-05T12:01:00Z\.$/,
  ],
  'a job that cannot be asked about says so': [
    withStatus(fresh, {
      job: { id: 'se_2', inputHash, startTime: at(-10) },
      failures: { poll: { ...failure, reason: 'NetworkError', subject: 'se_2' } },
    }),
    /Job se_2 at api\.example\.com\. The export API at .* could not be reached\. \(NetworkError\) Retrying at /,
  ],
  'an archive that is being read is named by its job': [
    withStatus(fresh, { job: { ...failed, verdict: undefined } }),
    /archive is being inspected, or waits for a free slot\. Job se_2 at api\.example\.com\.$/,
  ],
  'a job that runs is named': [
    withStatus(fresh, { job: { id: 'se_2', inputHash, startTime: at(-10) } }),
    /^The export job is running\. Job se_2 at api\.example\.com\.$/,
  ],
  'a Secret that somebody deleted is called that': [
    withStatus(
      { ...calm, output: { kind: 'absent' } },
      {
        failures: { link: { ...failure, reason: 'NetworkError' } },
      },
    ),
    /Secret site-bundle was deleted\. It is written again .* could not be reached\. \(NetworkError\) Retrying at .*Z\.$/,
  ],
};

function readyOf(observation: Observation): string {
  const seen = adopt(observation);
  const { conditions = [] } = statusOf(seen, classify(seen), []);
  return conditions.find(({ type }) => type === 'Ready')?.message ?? '';
}

for (const [name, [observation, words]] of Object.entries(rows)) {
  test(name, () => assert.match(readyOf(observation), words));
  test(`${name}, and nothing in it ticks`, () => {
    const later = { ...observation, now: observation.now + 5000 };
    assert.equal(readyOf(later), readyOf(observation));
  });
}
