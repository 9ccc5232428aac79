// Messages of Ready for the engineer on call: the reason's details and the remedy.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { adopt } from '#operator/reconcile/adopt.ts';
import { classify } from '#operator/reconcile/classify.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import { statusOf } from '#operator/reconcile/status/status.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
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
  'the published version is named': [calm, /link\. Version 20260105-113000-aaaaaaaa\.$/],
  'after a pin the newer version is named, with the way to publish it': [
    withStatus(calm, { history: [newer, { ...active }] }),
    /because of an earlier pin; 20260105-114500-bbbbbbbb is newer\..* annotation staticexport\.dev\/requestedAt=/,
  ],
  'an export with the old content makes it the newest version': [
    withStatus(calm, { history: [newer, { ...active }], active: { ...active, lastCheckTime: at(-5) } }),
    /Version 20260105-113000-aaaaaaaa\.$/,
  ],
  'an older version of the history is not offered': [
    withStatus(calm, { history: [{ ...active }, older] }),
    /Version 20260105-113000-aaaaaaaa\.$/,
  ],
  'a pin is named with its version and how to remove it': [
    pinnedTo(active.version),
    /when spec\.pin is removed\. Version 20260105-113000-aaaaaaaa\.$/,
  ],
  'a pin without a link yet shows the failure and the retry time': [
    withStatus(pinnedTo(older.version), {
      history: [older],
      failures: { poll: { ...failure, reason: 'ServerError', subject: 'se_0', requestId: 'req-7' } },
    }),
    /returned a server error \(ServerError\)\. Request id: req-7\. Retrying at 2026-01-05T12:01:00Z\.$/,
  ],
  'a suspended resource shows whose link is refreshed': [
    { ...calm, wanted: { ...calm.wanted, isSuspended: true } },
    /still refreshed\. Version 20260105-113000-aaaaaaaa\.$/,
  ],
  'a failed first export names its job and the next attempt': [
    withStatus(fresh, { job: failed, failures: { export: { ...failure, reason: 'JobFailed' } } }),
    /The last job failed \(JobFailed\)\. Job se_2 at api\.example\.com\. Retrying at 2026-01-05T12:01:00Z\.$/,
  ],
  'an output that could not be written shows the cluster’s message': [
    withStatus(fresh, {
      job: { ...failed, verdict: undefined },
      failures: {
        poll: { ...failure, reason: 'OutputWriteFailed', subject: 'se_2', message: 'a quota refused it' },
      },
    }),
    /A quota refused it \(OutputWriteFailed\)\. Retrying at/,
  ],
  'a first export that waits for a shared Retry-After is reported as waiting': [
    {
      ...fresh,
      rateLimit: { closedUntil: fresh.now + 60_000, closedAt: fresh.now - 1000, refused: undefined },
    },
    /^Waiting before the next retry\. The export API asked for a pause with Retry-After\. All resources with this key wait\.$/,
  ],
  'an unconfirmed start shows its failure and when it is sent again': [
    withStatus(fresh, {
      start: { key: 'k', lastAttemptTime: at(-1), inputHash, cause: 'First', attempts: 1 },
      failures: { export: { ...failure, reason: 'RequestTimeout' } },
    }),
    /did not answer in time \(RequestTimeout\)\. Retrying at 2026-01-05T12:01:00Z\.$/,
  ],
  'a job that cannot be polled is reported': [
    withStatus(fresh, {
      job: { id: 'se_2', inputHash, startTime: at(-10) },
      failures: { poll: { ...failure, reason: 'NetworkError', subject: 'se_2' } },
    }),
    /Job se_2 at api\.example\.com\. The export API at .* could not be reached \(NetworkError\)\. Retrying at /,
  ],
  'an archive under inspection is named by its job': [
    withStatus(fresh, { job: { ...failed, verdict: undefined } }),
    /archive is being inspected, or waits for a free slot or for the end of another search\. Job se_2 at api\.example\.com\.$/,
  ],
  'a running job is named': [
    withStatus(fresh, { job: { id: 'se_2', inputHash, startTime: at(-10) } }),
    /^The export job is running\. Job se_2 at api\.example\.com\.$/,
  ],
  'a deleted Secret is reported as deleted': [
    withStatus(
      { ...calm, output: { kind: 'absent' } },
      {
        failures: { link: { ...failure, reason: 'NetworkError' } },
      },
    ),
    /Secret site-bundle was deleted\. It is written again .* could not be reached \(NetworkError\)\. Retrying at .*Z\.$/,
  ],
};

function readyOf(observation: Observation): string {
  const seen = adopt(observation);
  const { conditions = [] } = statusOf(seen, classify(seen), []);
  return conditions.find(({ type }) => type === 'Ready')?.message ?? '';
}

for (const [name, [observation, words]] of Object.entries(rows)) {
  test(name, () => assert.match(readyOf(observation), words));
  test(`${name}, and does not change with time`, () => {
    const later = { ...observation, now: observation.now + 5000 };
    assert.equal(readyOf(later), readyOf(observation));
  });
}
