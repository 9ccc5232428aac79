// Tests one reconcile as a whole: the order of its calls, what a deleted resource leaves in memory, and what the
// caller gets when the Kubernetes API server refuses a write.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExportApiError, type IssuedLink } from '../../../src/export-api/answers.ts';
import type { ReconcileContext, ReconcileOutcome } from '../../../src/loop/context.ts';
import { rateLimitId, resourceId, useRateLimit } from '../../../src/loop/memory.ts';
import { reconcile } from '../../../src/loop/reconcile.ts';
import { ReconcileRefused } from '../../../src/loop/refused-reconcile.ts';
import { parseStatus } from '../../../src/staticexport/parse.ts';
import type { Status } from '../../../src/staticexport/status-schema.ts';
import { ClusterError, type ClusterErrorCode } from '../../../src/wire/cluster-error.ts';
import { active, at, inputHash, published, publishedLink, t0 } from '../reconcile/cases/observations.ts';
import {
  exportObject,
  linkOf,
  metaOf,
  openPorts,
  outputName,
  outputSecretOf,
  type Ports,
  publishedBundle,
  resource,
  spec,
} from './ports.ts';

const reads = [
  'read StaticExport',
  'read Secret export-api',
  `read Secret ${outputName}`,
  `read ConfigMap ${outputName}`,
];
const applySecret = `apply Secret ${outputName}`;
const applyConfigMap = `apply ConfigMap ${outputName}`;
const id = resourceId(resource);
/** A link that is valid for an hour. */
const issued = (name: string, now = t0): IssuedLink => ({
  link: linkOf(name),
  expiresAt: now + 3_600_000,
  serverDate: now,
});

/** One reconcile; `calls` then holds its calls only. */
function run(ports: Ports, more: Partial<ReconcileContext> = {}): Promise<ReconcileOutcome> {
  ports.calls.length = 0;
  const context = { ...ports.ofReconcile, ...more };
  return ports.clock.finish(reconcile(resource, context, ports.signal));
}

async function errorOf(running: Promise<unknown>): Promise<unknown> {
  return running.then(
    () => assert.fail('the reconcile did not throw'),
    (error: unknown) => error,
  );
}

const statusIn = ({ cluster }: Ports): Status => parseStatus(cluster.object?.status);
const conditionIn = (ports: Ports, type: string): string | undefined =>
  statusIn(ports).conditions?.find((one) => one.type === type)?.reason;

/** Reconciles from the first export until its version is published. */
async function publishedPorts(): Promise<Ports> {
  const ports = openPorts();
  const { starts, jobs, links } = ports.exportApi;
  starts.push({ jobId: 'se_1', raw: {} });
  jobs.push({ outcome: 'completed', state: 'done', progress: 100, pageCount: 20, raw: {} });
  links.push(issued('first.zip'));
  let wakeAfterMs: number | undefined = 0;
  for (let reconciles = 0; ports.cluster.secrets.get(outputName) === undefined; reconciles += 1) {
    assert.ok(reconciles < 8, 'it is published by then');
    await ports.clock.pass(wakeAfterMs ?? 0);
    ({ wakeAfterMs } = await run(ports));
  }
  return ports;
}

test('a first export makes one action in each reconcile, in this order', async () => {
  const ports = openPorts();
  const { starts, jobs, links } = ports.exportApi;
  starts.push({ jobId: 'se_1', raw: {} });
  jobs.push({ outcome: 'unfinished', state: 'running', progress: 40, pageCount: 8, raw: {} });
  jobs.push({ outcome: 'completed', state: 'done', progress: 100, pageCount: 20, raw: {} });
  links.push(issued('first.zip'));
  const expected: readonly (readonly string[])[] = [
    ['write start record', 'start job', 'write status', 'event ExportStarted'],
    ['read job', 'write status'],
    ['read job', 'write status'],
    ['issue link', 'probe link'],
    ['inspect archive', applySecret, applyConfigMap, 'write status', 'event Promoted'],
    [],
  ];
  for (const calls of expected) {
    const { wakeAfterMs } = await run(ports);
    assert.deepEqual(ports.calls, [...reads, ...calls]);
    if (!calls.includes(applySecret)) await ports.clock.pass(wakeAfterMs ?? 0);
  }
  assert.equal(conditionIn(ports, 'Ready'), 'Published');
  assert.equal(ports.exportApi.requests.length, 4);
});

test('a start comes before the outputs, the outputs before targets, and status before events', async () => {
  const ports = openPorts();
  const { cluster } = ports;
  const values = { kind: 'ConfigMap', namespace: 'apps', name: 'docs-values' };
  const object = exportObject({ active }, { annotations: { 'staticexport.dev/requestedAt': 'now' } });
  cluster.object = { ...object, spec: { ...spec, targets: [{ name: 'argo', type: 'Values', values }] } };
  cluster.secrets.set(outputName, outputSecretOf(publishedBundle));
  const consent = { 'staticexport.dev/allow-from': id };
  cluster.configMaps.set('docs-values', {
    metadata: metaOf('docs-values', { namespace: 'apps', annotations: consent }),
    data: { 'values.yaml': 'replicas: 2\n' },
  });
  ports.exportApi.starts.push({ jobId: 'se_2', raw: {} });
  await run(ports);
  assert.deepEqual(ports.calls, [
    ...reads,
    'write start record',
    'start job',
    'write status',
    applySecret,
    applyConfigMap,
    'read ConfigMap docs-values',
    'edit ConfigMap docs-values',
    'write status',
    'event ExportStarted',
  ]);
  assert.deepEqual(
    cluster.statuses.map(({ job, start, targets }) => [start?.key, job?.id, targets?.[0]?.synced]),
    [
      ['key-1', undefined, undefined],
      [undefined, 'se_2', undefined],
      [undefined, 'se_2', true],
    ],
  );
});

test('a published resource is read and not written, until its link is due', async () => {
  const ports = await publishedPorts();
  await run(ports);
  const { wakeAfterMs, because, report } = await run(ports);
  assert.deepEqual(ports.calls, reads);
  assert.match(because, /none$/);
  assert.equal(report?.isReady, true);
  assert.equal(report.failure, undefined);
  assert.ok(wakeAfterMs !== undefined && wakeAfterMs > 60_000);
  await ports.clock.pass(wakeAfterMs);
  ports.exportApi.links.push(issued('second.zip', ports.clock.now()));
  await run(ports);
  assert.deepEqual(ports.calls.slice(reads.length, -1), ['issue link', 'probe link', applySecret]);
  assert.equal(ports.calls.at(-1), 'write status', 'the ConfigMap holds no link');
});

test('a lost response leads to the same start with the same key', async () => {
  const ports = openPorts();
  ports.exportApi.starts.push(new ExportApiError('RequestTimeout', 'scripted'), { jobId: 'se_1', raw: {} });
  const { wakeAfterMs, report } = await run(ports);
  assert.equal(report?.actionFailure, 'RequestTimeout');
  assert.equal(statusIn(ports).start?.key, 'key-1');
  assert.ok(wakeAfterMs !== undefined && wakeAfterMs > 0);
  await ports.clock.pass(wakeAfterMs);
  for (let waits = 0; ports.exportApi.requests.length === 1; waits += 1) {
    assert.ok(waits < 8, 'it is sent again by then');
    await ports.clock.pass((await run(ports)).wakeAfterMs ?? 0);
  }
  const sent = ports.exportApi.requests.map(({ idempotencyKey }) => idempotencyKey);
  assert.deepEqual(sent, ['key-1', 'key-1']);
  assert.equal(statusIn(ports).start, undefined);
  assert.equal(statusIn(ports).job?.id, 'se_1');
});

test('a process that stops during the request leaves its start record', async () => {
  const ports = openPorts();
  ports.exportApi.starts.push(new ExportApiError('Aborted', 'scripted'));
  ports.exportApi.before = () => ports.stop(new Error('stopped'));
  await assert.rejects(run(ports), { message: 'stopped' });
  assert.deepEqual(ports.calls, [...reads, 'write start record', 'start job']);
  assert.equal(statusIn(ports).start?.key, 'key-1');
});

test('a Secret that status does not know is confirmed before anything is sent', async () => {
  const behind = { active: { ...active, version: '20260105-100000-bbbbbbbb' } };
  const object = exportObject(behind, { annotations: { 'staticexport.dev/requestedAt': 'now' } });
  for (const code of [undefined, 'Conflict'] as const) {
    const ports = openPorts();
    ports.cluster.object = object;
    ports.cluster.secrets.set(outputName, outputSecretOf(publishedBundle));
    ports.exportApi.starts.push({ jobId: 'se_2', raw: {} });
    if (code !== undefined) ports.cluster.refuse(applySecret, code);
    const running = run(ports);
    if (code === undefined) await running;
    else await assert.rejects(running, { code });
    const upToSecret = [...reads, applySecret];
    assert.deepEqual(ports.calls.slice(0, upToSecret.length), upToSecret);
    assert.equal(ports.calls.length > upToSecret.length, code === undefined);
    if (code === undefined) assert.equal(statusIn(ports).active?.version, published.version);
  }
});

/** What this process may hold of a resource. */
function fillMemory({ ofReconcile: { memory } }: Ports): AbortController {
  const stop = new AbortController();
  const times = { issuedAt: t0, expiresAt: t0 + 900_000 };
  memory.polls.set(id, { jobId: 'se_1', at: t0, retryAfterMs: undefined });
  memory.links.set(id, { ...times, reading: { offsetMs: 0, at: 0 }, setBackMs: 0 });
  memory.refusedReads.key.set(id, { since: 0, seenAt: 0 });
  const link = { url: linkOf('first.zip'), ...times };
  const work = { jobId: 'se_1', link, stop, rules: undefined };
  memory.candidates.set(id, { ...work, inspection: undefined, done: undefined });
  const limit = rateLimitId('https://api.example.com', 'docs', { name: 'export-api', key: 'apiKey' });
  useRateLimit(memory, id, limit);
  memory.rateLimits.set(limit, { closedUntil: t0, closedAt: t0, refused: undefined });
  memory.otherOperators.written.add(id);
  return stop;
}

const sizesOf = ({ ofReconcile: { memory } }: Ports): readonly number[] => [
  memory.polls.size,
  memory.links.size,
  memory.refusedReads.key.size,
  memory.candidates.size,
  memory.rateLimits.size,
  memory.users.size,
  memory.otherOperators.written.size,
];

for (const because of ['gone', 'deleting'] as const) {
  for (const isKnown of [false, true]) {
    test(`a resource that is ${because} and ${isKnown ? 'known' : 'unknown'} to the watch ${isKnown ? 'keeps' : 'loses'} its memory`, async () => {
      const ports = openPorts();
      const stop = fillMemory(ports);
      const deletionTimestamp = at(-1);
      ports.cluster.object = because === 'gone' ? undefined : exportObject({}, { deletionTimestamp });
      const outcome = await run(ports, { isKnown: () => isKnown });
      assert.deepEqual(outcome, { wakeAfterMs: undefined, because, report: undefined });
      assert.deepEqual(ports.calls, ['read StaticExport'], 'nothing is read or written for it');
      const left = isKnown ? 1 : 0;
      assert.deepEqual(sizesOf(ports), [left, left, left, left, left, left, left]);
      assert.equal(stop.signal.aborted, !isKnown);
    });
  }
}

const unreadable = { domain: 'docs.example.com', api: 'https://api.example.com' };

test('an unreadable spec is reported without reading or writing anything else', async () => {
  const ports = openPorts();
  ports.cluster.object = { ...exportObject(), spec: unreadable };
  const { because, wakeAfterMs, report } = await run(ports);
  assert.deepEqual(ports.calls.slice(0, 2), ['read StaticExport', 'write status']);
  assert.ok(ports.calls.slice(2).every((call) => call.startsWith('event ')));
  assert.equal(because, 'unreadable → none');
  assert.equal(wakeAfterMs, 3_600_000);
  assert.equal(report, undefined);
  assert.equal(conditionIn(ports, 'Stalled'), 'InvalidSpec');
  await run(ports);
  assert.deepEqual(ports.calls, ['read StaticExport'], 'a second reconcile has nothing to report');
});

test('an unreadable spec wakes when the published link expires', async () => {
  const ports = openPorts();
  const status = { active: { ...active, linkIssueTime: at(-60), linkExpirationTime: at(840) } };
  ports.cluster.object = { ...exportObject(status), spec: unreadable };
  assert.equal((await run(ports)).wakeAfterMs, 840_000);
  await ports.clock.pass(840_000);
  assert.equal((await run(ports)).wakeAfterMs, 3_600_000);
  assert.equal(conditionIn(ports, 'LinkFresh'), 'Expired');
});

test('what remains of a spec keeps the published link valid, and starts nothing', async () => {
  const ports = openPorts();
  const annotations = { 'staticexport.dev/requestedAt': 'now' };
  const object = exportObject({ active }, { annotations });
  ports.cluster.object = { ...object, spec: { ...spec, domain: 7 } };
  ports.cluster.secrets.set(outputName, outputSecretOf(publishedBundle));
  await ports.clock.pass(800_000);
  ports.exportApi.links.push(issued('second.zip', ports.clock.now()));
  const { report } = await run(ports);
  assert.deepEqual(ports.calls.slice(reads.length, reads.length + 3), [
    'issue link',
    'probe link',
    applySecret,
  ]);
  assert.equal(report?.failure, 'InvalidSpec');
  assert.equal(report.linkIssuedAt, t0 + 800_000);
  assert.equal(ports.exportApi.requests.length, 1);
});

test('a target keeps its state while the output Secret is unreadable', async () => {
  const ports = openPorts();
  const object = 'ConfigMap/docs/docs-values/values.yaml';
  const known = { name: 'argo', object, synced: true, reason: 'Synced', version: published.version };
  const stalled = { status: 'True', reason: 'OutputUnreadable', message: '.', lastTransitionTime: at(-60) };
  const status = { active, targets: [known], conditions: [{ type: 'Stalled', ...stalled }] };
  const values = { kind: 'ConfigMap', name: 'docs-values' };
  const targets = [{ name: 'argo', type: 'Values', values }];
  ports.cluster.object = { ...exportObject(status), spec: { ...spec, targets } };
  ports.cluster.refuse(`read Secret ${outputName}`, 'Forbidden');
  const { report } = await run(ports);
  assert.equal(report?.failure, 'OutputUnreadable');
  assert.deepEqual(statusIn(ports).targets, [known]);
  assert.equal(ports.calls.includes('read ConfigMap docs-values'), false);
});

test('a refused output without a publication throws the refusal with its report', async () => {
  const ports = await publishedPorts();
  await run(ports);
  const expiresAt = statusIn(ports).active?.linkExpirationTime;
  ports.cluster.configMaps.delete(outputName);
  ports.cluster.refuse(applyConfigMap, 'Forbidden');
  const error = await errorOf(run(ports));
  assert.ok(error instanceof ReconcileRefused);
  assert.equal(error.code, 'Forbidden');
  assert.ok(error.cause instanceof ClusterError);
  assert.equal(error.report.failure, 'Forbidden');
  assert.equal(error.report.action, 'none');
  assert.equal(error.report.linkExpiresAt, Date.parse(expiresAt ?? ''));
  const events = ports.events.filter(({ reason }) => reason === 'OutputWriteFailed');
  assert.equal(events.length, 1);
  assert.deepEqual(ports.calls.slice(reads.length, reads.length + 2), [applyConfigMap, 'write status']);
  ports.cluster.before = () => {};
  await run(ports);
  assert.deepEqual(ports.calls.slice(reads.length, reads.length + 1), [applyConfigMap], 'a retry');
});

test('a publication that is refused is withheld: it waits in its own back-off and throws nothing', async () => {
  const ports = openPorts();
  const job = { id: 'se_1', inputHash, cause: 'First', startTime: at(-60), completionTime: at(-1) };
  ports.cluster.object = exportObject({ job });
  ports.exportApi.links.push(issued('first.zip'));
  ports.cluster.refuse(applySecret, 'Forbidden');
  await run(ports);
  const { wakeAfterMs, report } = await run(ports);
  assert.ok(ports.calls.includes('inspect archive'));
  assert.equal(ports.calls.includes(applyConfigMap), false);
  assert.equal(statusIn(ports).failures?.poll?.reason, 'OutputWriteFailed');
  assert.equal(statusIn(ports).active, undefined);
  assert.equal(report?.failure, 'Forbidden');
  assert.ok(wakeAfterMs !== undefined && wakeAfterMs > 0);
  assert.equal(ports.ofReconcile.memory.candidates.get(id)?.done?.kind, 'read', 'the archive stays known');
  ports.cluster.before = () => {};
  await ports.clock.pass(wakeAfterMs);
  await run(ports);
  assert.equal(ports.cluster.statuses.at(-1)?.active?.jobId, 'se_1');
  assert.equal(ports.ofReconcile.memory.candidates.size, 0);
  assert.equal(ports.exportApi.requests.length, 1, 'the same link is published');
});

const refusedStatus: readonly (readonly [ClusterErrorCode, isRefusal: boolean, hasEvent: boolean])[] = [
  ['Forbidden', true, true],
  ['Invalid', true, true],
  ['Unavailable', true, false],
  ['NotFound', true, false],
  ['Conflict', false, false],
  ['Aborted', false, false],
];
for (const [code, isRefusal, hasEvent] of refusedStatus) {
  test(`a status that is refused with ${code} throws ${isRefusal ? 'a report' : 'no report'}, with ${hasEvent ? 'an' : 'no'} event`, async () => {
    const ports = openPorts();
    ports.cluster.object = exportObject({ active });
    ports.cluster.secrets.set(outputName, outputSecretOf(publishedBundle));
    ports.cluster.refuse('write status', code);
    const error = await errorOf(run(ports));
    assert.ok(error instanceof ClusterError);
    assert.equal(error.code, code);
    assert.equal(error instanceof ReconcileRefused, isRefusal);
    if (error instanceof ReconcileRefused) assert.equal(error.report.linkExpiresAt, publishedLink.expiresAt);
    const reasons = ports.events.map(({ reason }) => reason);
    assert.deepEqual(reasons, hasEvent ? ['StatusWriteFailed'] : []);
  });
}

test('a start record that is forbidden has an event', async () => {
  const ports = openPorts();
  ports.cluster.refuse('write start record', 'Forbidden');
  await assert.rejects(run(ports), { code: 'Forbidden' });
  assert.deepEqual(
    ports.events.map(({ reason }) => reason),
    ['StatusWriteFailed'],
  );
});

test('another operator that writes the same status is named, and the overlap is checked again', async () => {
  const ports = await publishedPorts();
  await run(ports);
  const foreign = { operatorLease: 'operators/other' };
  ports.cluster.changeObject(({ status }) => ({ status: { ...parseStatus(status), ...foreign } }));
  const { overlapsWith, wakeAfterMs } = await run(ports);
  assert.equal(overlapsWith, 'operators/other');
  assert.ok(wakeAfterMs !== undefined && wakeAfterMs <= 600_000);
  assert.equal(statusIn(ports).operatorLease, 'operators/own');
  assert.ok(ports.events.some(({ reason }) => reason === 'OperatorsOverlap'));
  await ports.clock.pass(600_000);
  assert.equal((await run(ports)).overlapsWith, undefined);
});

test('no status, event or ConfigMap holds the key or the link', async () => {
  const ports = await publishedPorts();
  const { cluster, events } = ports;
  const shown = JSON.stringify([cluster.statuses, events, [...cluster.configMaps.values()]]);
  assert.equal(shown.includes('svc_valid'), false);
  assert.equal(shown.includes('storage.example.com'), false);
});
