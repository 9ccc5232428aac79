// Tests the one action of a reconcile: what is written before a request, what is sent, and what an answer becomes.
// A start record that was not stored sends nothing.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PublishedLink } from '../../../src/bundle/published-bundle.ts';
import { ExportApiError, type IssuedLink } from '../../../src/export-api/answers.ts';
import { type Execution, execute } from '../../../src/loop/execute.ts';
import { resourceId } from '../../../src/loop/memory.ts';
import type { Observation } from '../../../src/reconcile/observation.ts';
import type { Action, State } from '../../../src/reconcile/state.ts';
import { PublishableError } from '../../../src/wire/publishable-error.ts';
import { at, fresh, inputHash, publishedLink, t0 } from '../reconcile/cases/observations.ts';
import { exportObject, linkOf, openPorts, type Ports, resource, validKey } from './ports.ts';

const baseUrl = 'https://api.example.com';
const id = resourceId(resource);
const state: State = {
  access: { kind: 'open' },
  export: { kind: 'resting' },
  link: { kind: 'none' },
  want: { kind: 'first' },
  mirror: { kind: 'none' },
};

interface Given {
  readonly observation?: Observation;
  readonly key?: string | undefined;
  readonly published?: PublishedLink;
}

async function run(ports: Ports, action: Action, given: Given = {}): Promise<Execution> {
  const { cluster, clock, ofAction, signal } = ports;
  const object = cluster.object ?? exportObject();
  const { observation = fresh, published } = given;
  const key = 'key' in given ? given.key : validKey;
  const input = { plan: { state, action, because: '' }, observation, object, key, published };
  return clock.finish(execute(input, ofAction, signal));
}

const failWith = (code: 'ServerError' | 'NetworkError' | 'RateLimited', facts = {}): ExportApiError =>
  new ExportApiError(code, 'scripted', facts);

const publishedAt = (name: string): PublishedLink => ({ url: linkOf(name), ...publishedLink });
const start: Action = { kind: 'start', cause: 'First', record: undefined };
const poll: Action = { kind: 'poll', jobId: 'se_1' };
const refresh: Action = { kind: 'issue', jobId: 'se_1', cause: 'refresh', baseUrl };
const forSubject: Action = { ...refresh, cause: 'subject' };
const record = { key: 'key-1', inputHash, cause: 'First', attempts: 1, lastAttemptTime: at(0) } as const;

test('no action makes no call', async () => {
  const ports = openPorts();
  const { result, object } = await run(ports, { kind: 'none' });
  assert.deepEqual(result, { kind: 'none' });
  assert.equal(object, ports.cluster.object);
  assert.deepEqual(ports.calls, []);
});

test('a start stores its record before it sends the request with the same key', async () => {
  const ports = openPorts();
  ports.exportApi.starts.push({ jobId: 'se_1', retryAfterMs: 7000, raw: {} });
  const { result, object } = await run(ports, start, { observation: { ...fresh, request: 'now' } });
  assert.deepEqual(ports.calls, ['write start record', 'start job']);
  assert.deepEqual(ports.cluster.statuses, [
    { start: { ...record, request: 'now' }, operatorLease: 'operators/own' },
  ]);
  const sent = { baseUrl, key: validKey, domain: 'docs.example.com', idempotencyKey: 'key-1' };
  assert.deepEqual(ports.exportApi.requests, [sent]);
  const started = { ...record, request: 'now', hook: undefined };
  assert.deepEqual(result, { kind: 'started', record: started, jobId: 'se_1' });
  assert.equal(object, ports.cluster.object, 'saving the id builds on the object with the record');
  assert.deepEqual(ports.ofAction.memory.polls.get(id), { jobId: 'se_1', at: t0, retryAfterMs: 7000 });
});

for (const code of ['Conflict', 'Forbidden', 'Unavailable'] as const) {
  test(`a start record that is refused with ${code} sends nothing`, async () => {
    const ports = openPorts();
    ports.cluster.refuse('write start record', code);
    await assert.rejects(run(ports, start), { code });
    assert.deepEqual(ports.calls, ['write start record']);
    assert.deepEqual(ports.exportApi.requests, []);
  });
}

test('a start request that fails keeps the record', async () => {
  const ports = openPorts();
  ports.exportApi.starts.push(failWith('ServerError', { status: 503, retryAfterMs: 9000, requestId: 'r-1' }));
  const { result, object } = await run(ports, start);
  const failure = { code: 'ServerError', retryAfterMs: 9000, why: 'HTTP 503', requestId: 'r-1' };
  assert.deepEqual(result, {
    kind: 'start-failed',
    record: { ...record, request: undefined, hook: undefined },
    failure,
  });
  assert.deepEqual(object.status, { start: record, operatorLease: 'operators/own' });
  assert.equal(ports.ofAction.memory.polls.has(id), false);
});

test('a retry sends the key of its record again, and counts itself', async () => {
  const ports = openPorts();
  const first = { ...record, key: 'key-of-before', cause: 'Request', request: 'old' } as const;
  ports.exportApi.starts.push({ jobId: 'se_1', raw: {} });
  await ports.clock.pass(60_000);
  await run(ports, { ...start, record: first }, { observation: { ...fresh, request: 'new' } });
  assert.equal(ports.exportApi.requests[0]?.idempotencyKey, 'key-of-before');
  assert.deepEqual(ports.cluster.statuses[0]?.start, { ...first, attempts: 2, lastAttemptTime: at(60) });
});

test('a poll notes its time before the answer, and what the answer asks for after it', async () => {
  const ports = openPorts();
  const report = { outcome: 'unfinished', state: 'running', progress: 40, pageCount: 8 } as const;
  ports.exportApi.jobs.push({ ...report, retryAfterMs: 5000, raw: {} });
  const noted: unknown[] = [];
  ports.exportApi.before = () => noted.push(ports.ofAction.memory.polls.get(id));
  const { result } = await run(ports, poll);
  noted.push(ports.ofAction.memory.polls.get(id));
  assert.deepEqual(noted, [
    { jobId: 'se_1', at: t0, retryAfterMs: undefined },
    { jobId: 'se_1', at: t0, retryAfterMs: 5000 },
  ]);
  assert.deepEqual(result, { kind: 'polled', ...report });
  assert.deepEqual(ports.calls, ['read job'], 'a poll writes nothing');
});

test('a poll without an answer counts as a poll', async () => {
  const ports = openPorts();
  const cause = Object.assign(new Error('secret'), { code: 'ECONNREFUSED' });
  ports.exportApi.jobs.push(failWith('NetworkError', { cause }));
  const { result } = await run(ports, poll);
  const failure = {
    code: 'NetworkError',
    retryAfterMs: undefined,
    why: 'ECONNREFUSED',
    requestId: undefined,
  };
  assert.deepEqual(result, { kind: 'poll-failed', failure });
  assert.equal(ports.ofAction.memory.polls.get(id)?.at, t0);
});

const reasons: Readonly<Record<string, readonly [ExportApiError, string | undefined]>> = {
  'a network error names the system code of its cause': [
    failWith('NetworkError', { cause: Object.assign(new Error('secret'), { code: 'ENOTFOUND' }) }),
    'ENOTFOUND',
  ],
  'a network error without a system code names nothing': [
    failWith('NetworkError', { cause: new TypeError('secret') }),
    undefined,
  ],
  'a server error names its status': [failWith('ServerError', { status: 500 }), 'HTTP 500'],
  'a server error without a status names nothing': [failWith('ServerError'), undefined],
  'a rate limit names nothing, because its code says it': [
    failWith('RateLimited', { status: 429 }),
    undefined,
  ],
};
for (const [name, [error, why]] of Object.entries(reasons)) {
  test(name, async () => {
    const ports = openPorts();
    ports.exportApi.jobs.push(error);
    const { result } = await run(ports, poll);
    const { code, retryAfterMs, requestId } = error;
    assert.deepEqual(result, { kind: 'poll-failed', failure: { code, retryAfterMs, why, requestId } });
  });
}

const issued = (name: string, lifetimeMs = 900_000): IssuedLink => ({
  link: linkOf(name),
  expiresAt: t0 + lifetimeMs,
  serverDate: t0,
});

test('a refreshed link is probed, and returned with its times', async () => {
  const ports = openPorts();
  ports.exportApi.links.push(issued('new.zip'));
  const { result, link, object } = await run(ports, refresh, { published: publishedAt('old.zip') });
  assert.deepEqual(ports.calls, ['issue link', 'probe link']);
  const sent = { baseUrl, key: validKey, jobId: 'se_1', idempotencyKey: 'key-1' };
  assert.deepEqual(ports.exportApi.requests, [sent]);
  const times = { issuedAt: t0, expiresAt: t0 + 900_000 };
  assert.deepEqual(result, { kind: 'issued', times, isPublished: false });
  assert.ok(link?.isSame(linkOf('new.zip')));
  assert.equal(object, ports.cluster.object);
  assert.equal(ports.ofAction.memory.candidates.size, 0, 'a refresh inspects nothing');
});

test('a link that is published already is reported as such', async () => {
  const ports = openPorts();
  ports.exportApi.links.push(issued('same.zip'));
  const { result } = await run(ports, refresh, { published: publishedAt('same.zip') });
  assert.equal(result.kind === 'issued' && result.isPublished, true);
});

test("a subject's link is kept as its candidate", async () => {
  const ports = openPorts();
  ports.exportApi.links.push(issued('new.zip'));
  await run(ports, forSubject);
  const candidate = ports.ofAction.memory.candidates.get(id);
  assert.equal(candidate?.jobId, 'se_1');
  assert.equal(candidate.link?.url.isSame(linkOf('new.zip')), true);
  assert.equal(candidate.link.expiresAt, t0 + 900_000);
  assert.equal(candidate.inspection, undefined);
});

test('a new link keeps what is known of its archive, and drops the inspection of another job', async () => {
  const done = { kind: 'read', inspection: { digest: 'b'.repeat(64), pages: 1, sizeBytes: 1 } } as const;
  for (const jobId of ['se_1', 'se_2']) {
    const ports = openPorts();
    const { candidates } = ports.ofAction.memory;
    const stop = new AbortController();
    const link = { url: linkOf('old.zip'), issuedAt: t0, expiresAt: t0 };
    const before = { jobId, link, stop, rules: 'as before' };
    candidates.set(id, { ...before, inspection: undefined, done });
    ports.exportApi.links.push(issued('new.zip'));
    await run(ports, forSubject);
    assert.deepEqual(candidates.get(id)?.done, jobId === 'se_1' ? done : undefined);
    assert.equal(stop.signal.aborted, true);
  }
});

test("a subject's link that expires within 5 s fails without another request", async () => {
  const ports = openPorts();
  ports.exportApi.links.push(issued('short.zip', 5000));
  const { result, link } = await run(ports, forSubject);
  const failure = { code: 'LifetimeTooShort', retryAfterMs: undefined };
  assert.deepEqual(result, { kind: 'issue-failed', failure });
  assert.equal(link, undefined);
  assert.deepEqual(ports.calls, ['issue link']);
});

const expired = new PublishableError('LinkExpired', 'Storage s3.example.com returned 403', { kind: 'wait' });
const refused = new PublishableError('LinkRefused', 'Storage s3.example.com returned 403');
const early = new PublishableError('LinkNotYetValid', 'Storage s3.example.com returned 403', {
  kind: 'wait',
});

interface Arrival {
  readonly probes: readonly (PublishableError | undefined)[];
  readonly lifetimeMs: number;
  readonly issues: number;
  readonly kind: string;
}

const arrivals: Readonly<Record<string, Arrival>> = {
  'a link that the storage accepts needs one request': {
    probes: [undefined],
    lifetimeMs: 900_000,
    issues: 1,
    kind: 'issued',
  },
  'a link that is not valid yet is kept, because the next one would not be valid earlier': {
    probes: [early],
    lifetimeMs: 900_000,
    issues: 1,
    kind: 'issued',
  },
  'no other link is issued where the storage refuses a valid one': {
    probes: [refused],
    lifetimeMs: 900_000,
    issues: 1,
    kind: 'LinkRefused',
  },
  'a link that the storage calls expired is issued again': {
    probes: [expired, expired],
    lifetimeMs: 900_000,
    issues: 3,
    kind: 'issued',
  },
  'no more than three links are issued for expired ones': {
    probes: [expired, expired, expired],
    lifetimeMs: 900_000,
    issues: 3,
    kind: 'ExpiredOnArrival',
  },
  'a link that is past its own expiry is not probed': {
    probes: [],
    lifetimeMs: 0,
    issues: 3,
    kind: 'ExpiredOnArrival',
  },
};

for (const [name, { probes, lifetimeMs, issues, kind }] of Object.entries(arrivals)) {
  test(name, async () => {
    const ports = openPorts();
    ports.probes.push(...probes);
    for (let index = 0; index < 5; index += 1) ports.exportApi.links.push(issued(`${index}.zip`, lifetimeMs));
    const { result, link } = await run(ports, refresh);
    assert.equal('failure' in result ? result.failure.code : result.kind, kind);
    if ('failure' in result && probes.length > 0)
      assert.match(JSON.stringify(result), /Storage s3.example.com returned 403/);
    assert.equal(link !== undefined, kind === 'issued');
    const sent = ports.exportApi.requests.map(({ idempotencyKey }) => idempotencyKey);
    assert.deepEqual(sent, ['key-1', 'key-2', 'key-3'].slice(0, issues), 'each request has its own key');
    const probed = ports.calls.filter((call) => call === 'probe link').length;
    assert.equal(probed, lifetimeMs === 0 ? 0 : issues);
  });
}

test('a refused link request is a failure without another request', async () => {
  const ports = openPorts();
  ports.exportApi.links.push(failWith('RateLimited', { retryAfterMs: 30_000 }));
  const { result } = await run(ports, refresh);
  const failure = { code: 'RateLimited', retryAfterMs: 30_000, why: undefined, requestId: undefined };
  assert.deepEqual(result, { kind: 'issue-failed', failure });
  assert.deepEqual(ports.calls, ['issue link']);
});

for (const [elsewhere, why] of [
  ['https://former.example.com/v1', 'former.example.com'],
  ['https://api.example.com:8443', 'api.example.com:8443'],
  ['http://api.example.com', 'http://api.example.com'],
] as const) {
  test(`a job of ${elsewhere}, which is not allowed, sends nothing`, async () => {
    const ports = openPorts();
    const { result } = await run(ports, { ...refresh, baseUrl: elsewhere });
    const failure = { code: 'HostNotAllowed', retryAfterMs: undefined, why };
    assert.deepEqual(result, { kind: 'issue-failed', failure });
    assert.deepEqual(ports.calls, []);
  });
}

test('the link of a job comes from the export API that made the job', async () => {
  const ports = openPorts({ allowedApiHosts: ['former.example.com'] });
  ports.exportApi.links.push(issued('new.zip'));
  await run(ports, { ...refresh, baseUrl: 'https://former.example.com' });
  assert.equal(ports.exportApi.requests[0]?.baseUrl, 'https://former.example.com');
});

const closed: Readonly<Record<string, Given>> = {
  'a key': { key: undefined },
  'an allowed host': { observation: { ...fresh, isHostAllowed: false } },
  'a base URL': { observation: { ...fresh, wanted: { ...fresh.wanted, baseUrl: undefined } } },
};
for (const [name, given] of Object.entries(closed)) {
  test(`without ${name} no action makes a call`, async () => {
    for (const action of [start, poll, { ...refresh, baseUrl: undefined }]) {
      const ports = openPorts();
      await assert.rejects(run(ports, action, given), TypeError);
      assert.deepEqual(ports.calls, []);
    }
  });
}

const calls = { start, poll, link: refresh } as const;
for (const [name, action] of Object.entries(calls)) {
  test(`an error that the ${name} call must not throw is thrown unchanged`, async () => {
    const ports = openPorts();
    const defect = new TypeError('defect');
    for (const answers of [ports.exportApi.starts, ports.exportApi.jobs, ports.exportApi.links])
      answers.push(defect);
    await assert.rejects(run(ports, action), defect);
  });

  test(`an abort during the ${name} call is thrown with its own reason`, async () => {
    const ports = openPorts();
    for (const answers of [ports.exportApi.starts, ports.exportApi.jobs, ports.exportApi.links])
      answers.push(new ExportApiError('Aborted', 'scripted'));
    ports.exportApi.before = () => ports.stop(new Error('stopped'));
    await assert.rejects(run(ports, action), { message: 'stopped' });
  });
}
