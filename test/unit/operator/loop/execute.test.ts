// Tests the one action of a reconcile where no simulation sees it: the reason of a failed call, a call without access,
// and errors that are not the export API's. The simulation plays the rest.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExportApiError } from '#export-api/answers.ts';
import { type Execution, type ExecutionInput, execute } from '#operator/loop/execute.ts';
import { resourceId } from '#operator/loop/memory.ts';
import type { Action, State } from '#operator/reconcile/state.ts';
import { resource } from '../../../simulation/simulation.ts';
import { fresh, t0 } from '../reconcile/cases/observations.ts';
import { linkOf, openRecorded, type Recorded } from './recorded-simulation.ts';

const id = resourceId(resource);
const state: State = {
  access: { kind: 'open' },
  export: { kind: 'resting' },
  link: { kind: 'none' },
  want: { kind: 'first' },
  mirror: { kind: 'none' },
};
const start: Action = { kind: 'start', cause: 'First', record: undefined };
const poll: Action = { kind: 'poll', jobId: 'se_1' };
const issue: Extract<Action, { kind: 'issue' }> = {
  kind: 'issue',
  jobId: 'se_1',
  cause: 'subject',
  issuer: { baseUrl: 'https://api.example.com', projectId: undefined },
};

async function run(
  recorded: Recorded,
  action: Action,
  given: Partial<ExecutionInput> = {},
): Promise<Execution> {
  const { simulation, context, signal } = recorded;
  const object = simulation.object() ?? assert.fail();
  const plan = { state, action, because: '' };
  const input = { plan, observation: fresh, object, key: 'svc_secret-one', published: undefined, ...given };
  return simulation.clock.finish(execute(input, context, signal));
}

/** Every call to the export API fails with this error. */
function failing(error: Error): Recorded {
  const recorded = openRecorded();
  recorded.before = (call) => {
    if (['startJob', 'readJob', 'issueLink'].includes(call)) throw error;
  };
  return recorded;
}

const network = (cause: Error, code?: string) =>
  new ExportApiError('NetworkError', 'scripted', { cause: Object.assign(cause, { code }) });
const answer = (code: 'ServerError' | 'RateLimited', status?: number) =>
  new ExportApiError(code, 'scripted', { status, requestId: 'r-1', retryAfterMs: 9000 });
for (const [name, error, why] of [
  [
    'a network error names the system code of its cause',
    network(new Error('secret'), 'ENOTFOUND'),
    'ENOTFOUND',
  ],
  ['a network error without a system code names nothing', network(new TypeError('secret')), undefined],
  ['a server error names its status', answer('ServerError', 500), 'HTTP 500'],
  ['a server error without a status names nothing', answer('ServerError'), undefined],
  ['a rate limit names nothing, because its code says it', answer('RateLimited', 429), undefined],
] as const) {
  test(name, async () => {
    const { code, retryAfterMs, requestId } = error;
    const failure = { code, retryAfterMs, why, requestId };
    const recorded = failing(error);
    assert.deepEqual((await run(recorded, poll)).result, { kind: 'poll-failed', failure });
    assert.equal(recorded.context.memory.polls.get(id)?.at, t0, 'a poll without an answer counts as a poll');
    assert.deepEqual((await run(failing(error), issue)).result, { kind: 'issue-failed', failure });
  });
}

test('a new link keeps what is known of its archive, and drops the inspection of another job', async () => {
  const done = { kind: 'read', inspection: { digest: 'b'.repeat(64), pages: 1, sizeBytes: 1 } } as const;
  for (const isSameJob of [true, false]) {
    const recorded = openRecorded();
    const { vendor, clock } = recorded.simulation;
    const jobId = vendor.startElsewhere('docs.example.com');
    await clock.pass(vendor.jobMs);
    const { candidates } = recorded.context.memory;
    const stop = new AbortController();
    const link = { url: linkOf('old.zip'), issuedAt: t0, expiresAt: t0 };
    const before = { jobId: isSameJob ? jobId : 'se_0', link, stop, rules: 'as before' };
    candidates.set(id, { ...before, inspection: undefined, done });
    const issued = await run(recorded, { ...issue, jobId });
    const candidate = candidates.get(id);
    assert.deepEqual(candidate?.done, isSameJob ? done : undefined);
    assert.deepEqual([candidate?.jobId, candidate?.inspection], [jobId, undefined]);
    assert.ok(issued.link !== undefined && candidate?.link?.url.isSame(issued.link));
    assert.equal(stop.signal.aborted, true);
  }
});

for (const [elsewhere, why] of [
  ['https://former.example.com/v1', 'former.example.com'],
  ['https://api.example.com:8443', 'api.example.com:8443'],
  ['http://api.example.com', 'http://api.example.com'],
] as const) {
  test(`a job of ${elsewhere}, which is not allowed, sends nothing`, async () => {
    const recorded = openRecorded();
    const { result } = await run(recorded, {
      ...issue,
      issuer: { baseUrl: elsewhere, projectId: undefined },
    });
    const failure = { code: 'HostNotAllowed', retryAfterMs: undefined, why };
    assert.deepEqual(result, { kind: 'issue-failed', failure });
    assert.deepEqual(recorded.calls, []);
  });
}

const closed: Readonly<Record<string, Partial<ExecutionInput>>> = {
  'a key': { key: undefined },
  'an allowed host': { observation: { ...fresh, isHostAllowed: false } },
  'a base URL': { observation: { ...fresh, wanted: { ...fresh.wanted, baseUrl: undefined } } },
};
for (const [name, given] of Object.entries(closed)) {
  test(`without ${name} no action makes a call`, async () => {
    for (const action of [start, poll, { ...issue, issuer: { baseUrl: undefined, projectId: undefined } }]) {
      const recorded = openRecorded();
      await assert.rejects(run(recorded, action, given), TypeError);
      assert.deepEqual(recorded.calls, []);
    }
  });
}

for (const [name, action] of Object.entries({ start, poll, issue })) {
  test(`${name}: an error that is not the export API's is thrown unchanged, and an abort with its reason`, async () => {
    const defect = new TypeError('defect');
    await assert.rejects(run(failing(defect), action), defect);
    const recorded = openRecorded();
    recorded.before = (call) => {
      if (call.startsWith('writeStatus')) return;
      recorded.stop(new Error('stopped'));
      throw new ExportApiError('Aborted', 'scripted');
    };
    await assert.rejects(run(recorded, action), { message: 'stopped' });
  });
}
