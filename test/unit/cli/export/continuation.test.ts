// What an export continues of the one before it: what may have made a job is continued, what has finished or failed is not,
// and nothing is judged by what was published before.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ContinuationRules, continueExport } from '#cli/export/continuation.ts';
import { hashInputs } from '#operator/reconcile/spread.ts';
import type { JobStatus, StartRecord, Status } from '#operator/staticexport/status-schema.ts';
import { formatInstant } from '#platform/wire/instant.ts';

const site = { domain: 'docs.example.com', baseUrl: 'https://api.example.com' };
const inputHash = hashInputs({ ...site, project: undefined });
const now = Date.parse('2026-01-05T12:00:00Z');
const hourMs = 3_600_000;
const rules: ContinuationRules = { site, last: undefined, isNew: false, withinMs: 6 * hourMs, now };
const at = (ms: number): string => formatInstant(now + ms);

const job: JobStatus = {
  id: 'job-1',
  inputHash,
  baseUrl: site.baseUrl,
  cause: 'First',
  requestTime: at(-hourMs),
};
const start: StartRecord = { key: 'k', inputHash, cause: 'First', attempts: 1, lastAttemptTime: at(-hourMs) };
const active = { version: 'v', jobId: 'job-0', digest: 'd', pages: 3 };
const failures = {
  poll: { count: 3, lastFailureTime: at(0), retryTime: at(hourMs), reason: 'NetworkError' },
};
const elsewhere = hashInputs({ ...site, baseUrl: 'https://other.example.com', project: undefined });

const rows: readonly (readonly [
  name: string,
  stored: Status,
  changed: Partial<ContinuationRules>,
  continued: Status,
])[] = [
  ['nothing', {}, {}, {}],
  ['what was published, and failures', { active, failures }, {}, {}],
  ['a running job', { job, active, failures }, {}, { job }],
  ['a job that a gate held', { job: { ...job, verdict: 'Held', message: 'TooFewPages' } }, {}, { job }],
  ['a job that was not written everywhere', { job: { ...job, verdict: 'Promoted' } }, {}, { job }],
  [
    'the job of the last finished export',
    { job: { ...job, verdict: 'Promoted' } },
    { last: { jobId: 'job-1' } },
    {},
  ],
  ['a job whose archive was rejected', { job: { ...job, verdict: 'BundleRejected' } }, {}, {}],
  ['a job that failed', { job: { ...job, verdict: 'JobFailed' } }, {}, {}],
  ['a running job, with --new', { job }, { isNew: true }, {}],
  ['a job of six hours and a second', { job: { ...job, requestTime: at(-6 * hourMs - 1000) } }, {}, {}],
  [
    'a job after the clock was set back',
    { job: { ...job, requestTime: at(24 * hourMs) } },
    {},
    { job: { ...job, requestTime: at(24 * hourMs) } },
  ],
  ['a job of another export API', { job: { ...job, inputHash: elsewhere } }, {}, {}],
  ['a start without an answer', { start, active }, {}, { start }],
  [
    'a start without an answer, with a finished job',
    { start, job: { ...job, verdict: 'Promoted' } },
    {},
    { start },
  ],
  ['a start without an answer, with --new', { start }, { isNew: true }, {}],
  ['a start of another export API', { start: { ...start, inputHash: elsewhere } }, {}, {}],
];
for (const [name, stored, changed, continued] of rows) {
  test(`${name}: ${Object.keys(continued).join() || 'a new export'}`, () => {
    const { status } = continueExport(stored, { ...rules, ...changed });
    assert.deepEqual(JSON.parse(JSON.stringify(status)), JSON.parse(JSON.stringify(continued)));
  });
}

test('the user learns which job goes on, and that an old one does not', () => {
  assert.equal(
    continueExport({ job }, rules).note,
    'Continuing export job job-1, started at 2026-01-05T11:00:00Z. For a new export, add --new',
  );
  for (const stored of [{ job }, { start }])
    assert.match(
      continueExport(stored, { ...rules, withinMs: 1 }).note ?? '',
      /too old .* Starting a new export/,
    );
  assert.equal(continueExport({ job }, { ...rules, isNew: true }).note, undefined);
});
