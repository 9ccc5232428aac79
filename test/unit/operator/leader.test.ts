// What runs while the lease is held, put together as in the program, over a transport in the test's hand: no write
// without the lease, an end in order on shutdown and at once on loss, and a look at all when the clock was set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ExportApi } from '#export-api/answers.ts';
import { createReports } from '#operator/controller/reports.ts';
import { operatorProgram, reconcileTimeoutOf } from '#operator/flags.ts';
import type { Call, Transport } from '#operator/kube/transport/transport.ts';
import { queueSlotsOf, runLeader } from '#operator/leader.ts';
import { InspectionSlots } from '#operator/loop/inspection/inspection-slots.ts';
import { noMirrors } from '#operator/loop/ports.ts';
import { createMetrics } from '#operator/metrics.ts';
import { WorkQueue } from '#operator/queue/work-queue.ts';
import { knownOf } from '#operator/watch/known-resource.ts';
import { readInvocation } from '#platform/runtime/flags/flags.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { openAgent } from '../../support/open-agent.ts';
import { settle, steppedClock } from '../../support/stepped-clock.ts';

const docs = {
  metadata: { namespace: 'ns', name: 'docs', uid: 'u', resourceVersion: '1', generation: 1 },
  spec: { domain: 'docs.example.com', schedule: '61 3 * * *', api: { keySecretRef: { name: 'key' } } },
};

const known = knownOf({
  ...docs,
  metadata: { ...docs.metadata, annotations: {}, labels: {}, ownerReferences: [] },
  status: undefined,
});

interface Answers {
  /** Before the usual answer of the API server. */
  readonly answer?: (call: Call) => unknown;
  readonly exportApi?: ExportApi;
  readonly flags?: readonly string[];
}

function start(isHeld: () => boolean, { answer, exportApi, flags = [] }: Answers = {}) {
  const clock = steppedClock();
  const wall = { aheadMs: 0 };
  const calls: Call[] = [];
  const stops = { shutdown: new AbortController(), lost: new AbortController() };
  /** Answers are held back while this is set. */
  const hold = { isOn: false };
  const transport: Transport = {
    call: async (call, signal) => {
      calls.push(call);
      if (hold.isOn) {
        await new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(new ClusterError('Aborted', 'stopped')));
        });
      }
      const answered = answer?.(call);
      if (answered !== undefined) return answered;
      const { resource, name } = call.address;
      if (call.method !== 'GET' || (resource.plural === 'staticexports' && name === 'docs')) return docs;
      throw new ClusterError('NotFound', 'none');
    },
    stream: () => Promise.reject(new ClusterError('Invalid', 'no stream')),
    close: async () => {},
  };
  const args = ['--api-base-url=https://api.example.com', ...flags];
  const invocation = readInvocation(operatorProgram, '0', args, {});
  assert.equal(invocation.outcome, 'run');
  if (invocation.outcome !== 'run') assert.fail();
  const slots = queueSlotsOf(invocation.values);
  // Each resource calls an API of its own.
  const queue = new WorkQueue({ clock, slots, hostOf: (key) => key });
  const reports = createReports({ get: () => undefined }, clock);
  const metrics = createMetrics({
    workers: 1,
    host: 'h',
    queue: () => queue.figures(),
    reports: () => reports.list(),
    inspections: { taken: 0, waiting: 0 },
    watch: () => ({ missedChanges: 0, silenceSeconds: 0, objects: 1, auditedAt: 0, namespaces: [] }),
  });
  const nothing = () => Promise.reject(new Error('nobody asks for this'));
  const running = runLeader(
    {
      values: invocation.values,
      context: {
        clock: { ...clock, now: () => clock.now() + wall.aheadMs },
        random: { uuid: () => 'id', bytes: (length) => new Uint8Array(length), fraction: () => 0.5 },
        logger: silentLogger,
        shutdown: stops.shutdown.signal,
      },
      queue,
      transport,
      services: {
        exportApi: { connect: () => exportApi ?? assert.fail('no key, no call') },
        bundles: { inspect: nothing, probe: nothing },
        mirrors: noMirrors,
        planner: { plan: nothing },
        notifyAgent: openAgent,
        git: { pusher: { push: nothing, readHeads: nothing }, settings: nothing },
      },
      inspections: new InspectionSlots(2),
      identity: 'host_1',
      operatorLease: 'operators/test',
      metrics,
      reports,
      watches: { get: () => known, keys: () => [] },
    },
    { lost: stops.lost.signal, isHeld },
  );
  let hasEnded = false;
  void running.then(() => {
    hasEnded = true;
  });
  const writes = () => calls.filter(({ method }) => method !== 'GET');
  const reads = () => calls.filter(({ address }) => address.resource.plural === 'staticexports').length;
  const reconcileTimeoutMs = reconcileTimeoutOf(invocation.values);
  return {
    clock,
    wall,
    queue,
    slots,
    reconcileTimeoutMs,
    stops,
    hold,
    running,
    calls,
    writes,
    reads,
    hasEnded: () => hasEnded,
  };
}

test('the leader writes only while it holds the lease', async () => {
  let isOurs = false;
  const { clock, queue, stops, running, writes } = start(() => isOurs);
  queue.add('ns/docs');
  await clock.pass(100);
  assert.deepEqual(writes(), []);
  isOurs = true;
  await clock.pass(5_000);
  assert.ok(writes().some(({ address }) => address.subresource === 'status'));
  assert.ok(writes().some(({ address }) => address.resource.plural === 'events'));
  stops.shutdown.abort();
  await running;
});

test('a resource that moved to another operator is read and not written', async () => {
  const { clock, queue, stops, running, reads, writes } = start(() => true, { flags: ['--instance=blue'] });
  queue.add('ns/docs');
  await clock.pass(10_000);
  assert.deepEqual([reads(), writes()], [1, []]);
  stops.shutdown.abort();
  await running;
});

test('a reconcile that was frozen after its start record starts no job and reports no failure', async () => {
  let isOurs = true;
  const starts: string[] = [];
  const exportApi: ExportApi = {
    startJob: async ({ idempotencyKey }) => {
      starts.push(idempotencyKey);
      return { jobId: 'job', raw: {} };
    },
    readJob: () => assert.fail('there is no job'),
    issueLink: () => assert.fail('there is no job'),
  };
  const apiKey = Buffer.from('svc_leader').toString('base64');
  let stored: object = { ...docs, spec: { domain: 'docs.example.com', api: docs.spec.api } };
  const marks: unknown[] = [];
  const answer = (call: Call): unknown => {
    const { resource, name, subresource } = call.address;
    if (resource.plural === 'secrets' && name === 'key') {
      return { metadata: { ...docs.metadata, name }, data: { apiKey } };
    }
    if (resource.plural !== 'staticexports') return undefined;
    if (call.method === 'GET') return stored;
    assert.equal(subresource, 'status');
    assert.ok(typeof call.body === 'object' && call.body !== null && 'status' in call.body);
    marks.push(call.body.status);
    stored = { ...stored, status: call.body.status };
    // The answer was on its way when the process froze.
    isOurs = false;
    return stored;
  };
  const { clock, queue, stops, running } = start(() => isOurs, { answer, exportApi });
  queue.add('ns/docs');
  await clock.pass(100);
  assert.deepEqual([marks.length, starts], [1, []]);
  // As nothing became of it, so nothing is said of it: ours again, the mark is found and waits for its time.
  isOurs = true;
  await clock.pass(10_000);
  assert.deepEqual(starts, []);
  assert.ok(
    marks.every((status) => !JSON.stringify(status).includes('failures')),
    JSON.stringify(marks),
  );
  stops.shutdown.abort();
  await running;
});

test('on shutdown no reconcile begins, and running ones have 25 seconds', async () => {
  const { clock, queue, stops, hold, running, reads, hasEnded } = start(() => true);
  hold.isOn = true;
  queue.add('ns/docs');
  await settle();
  stops.shutdown.abort();
  queue.add('ns/other');
  await clock.pass(24_999);
  assert.deepEqual([reads(), hasEnded()], [1, false]);
  await clock.pass(1);
  await running;
  assert.equal(clock.waiting(), 0);
});

test('edits have workers while hanging reconciles fill all other slots', async () => {
  const { queue, slots, stops, hold, running, reads } = start(() => true);
  const { total, edits } = slots;
  hold.isOn = true;
  for (let index = 0; index < total + 5; index += 1) queue.add(`ns/listed-${index}`, 'listed');
  await settle();
  assert.equal(reads(), total);
  for (let index = 0; index < edits + 5; index += 1) queue.add(`ns/edited-${index}`, 'edited');
  await settle();
  assert.equal(reads(), total + edits);
  stops.lost.abort();
  await running;
});

test('a reconcile that hangs is aborted after --reconcile-timeout and retried', async () => {
  const { clock, queue, reconcileTimeoutMs, stops, hold, running, reads } = start(() => true);
  hold.isOn = true;
  queue.add('ns/docs');
  await clock.pass(reconcileTimeoutMs);
  assert.equal(reads(), 1);
  await clock.pass(1_000);
  assert.equal(reads(), 2);
  stops.lost.abort();
  await running;
});

test('the leader waits for an event that is being sent when the work ends', async () => {
  const written = Promise.withResolvers<object>();
  const answer = ({ address }: Call): unknown =>
    address.resource.plural === 'events' ? written.promise : undefined;
  const { clock, queue, stops, running, writes, hasEnded } = start(() => true, { answer });
  queue.add('ns/docs');
  await clock.pass(100);
  assert.ok(writes().some(({ address }) => address.resource.plural === 'events'));
  stops.shutdown.abort();
  await settle();
  assert.equal(hasEnded(), false);
  written.resolve(docs);
  await running;
});

test('a lost lease aborts running reconciles at once', async () => {
  const { clock, queue, stops, hold, running } = start(() => true);
  hold.isOn = true;
  queue.add('ns/docs');
  await settle();
  stops.lost.abort();
  await running;
  assert.equal(clock.waiting(), 0);
});

test('a delayed resource is reconciled after the clock was set', async () => {
  const { clock, wall, queue, stops, running, reads } = start(() => true);
  queue.add('ns/docs');
  await clock.pass(15_000);
  const before = reads();
  wall.aheadMs = 3_600_000;
  await clock.pass(10_000);
  assert.ok(reads() > before, `${reads()} after ${before}`);
  stops.shutdown.abort();
  await running;
});
