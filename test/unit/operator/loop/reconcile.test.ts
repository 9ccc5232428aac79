// Tests one reconcile as a whole: the order of its calls, what a deleted resource leaves in memory, and what the
// caller gets when the Kubernetes API server refuses a write.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rateLimitId, resourceId, useRateLimit } from '#operator/loop/memory.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { ReconcileRefused } from '#operator/loop/refused-reconcile.ts';
import { parseStatus } from '#operator/staticexport/parse.ts';
import { ClusterError, type ClusterErrorCode } from '#platform/wire/cluster-error.ts';
import { outputName, resource, type SimulationOptions } from '../../../simulation/simulation.ts';
import { ownDocument } from '../../../simulation/target-document.ts';
import { active, at, t0 } from '../reconcile/cases/observations.ts';
import { linkOf, openRecorded, type Recorded, store } from './recorded-simulation.ts';

const applySecret = `applySecret ${outputName}`;
const applyConfigMap = `applyConfigMap ${outputName}`;
const id = resourceId(resource);

async function openPublished(options: SimulationOptions = {}): Promise<Recorded> {
  const recorded = openRecorded(options);
  const { simulation } = recorded;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  await simulation.step();
  recorded.calls.length = 0;
  return recorded;
}

/** The calls so far without the reads that begin each reconcile. */
const actsOf = ({ calls }: Recorded): readonly string[] => calls.filter((call) => !call.startsWith('read'));

test('a first export makes one action in each reconcile, in this order', async () => {
  const recorded = openRecorded();
  const { simulation, calls } = recorded;
  simulation.vendor.jobMs = 1000;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const reconciles = calls.join('\n').split('readStaticExport site\n').slice(1);
  const reads = `readSecret export-api\nreadSecret ${outputName}\nreadConfigMap ${outputName}`;
  for (const one of reconciles) assert.ok(one.startsWith(reads), one);
  const acts = reconciles.map((one) => one.slice(reads.length).trim().split('\n').join(', '));
  assert.deepEqual(acts, [
    'writeStatus site, startJob, writeStatus site, event ExportStarted',
    'readJob, writeStatus site',
    'issueLink, probe',
    `inspect, ${applySecret}, ${applyConfigMap}, writeStatus site, event Promoted`,
  ]);
});

test('a start comes before the outputs, the outputs before targets, and status before events', async () => {
  const recorded = await openPublished({ target: 'ConfigMap' });
  const { simulation } = recorded;
  simulation.cluster.configMaps.delete(`docs/${outputName}`);
  ownDocument(simulation, 'ConfigMap');
  simulation.annotate({ 'staticexport.dev/requestedAt': 'now' });
  await simulation.step();
  const start = ['writeStatus site', 'startJob', 'writeStatus site'];
  const outputs = [applyConfigMap, 'editDocument docs-values'];
  assert.deepEqual(actsOf(recorded), [...start, ...outputs, 'writeStatus site', 'event ExportStarted']);
});

test('an event does not say when the next retry is, because it outlasts the retry; status does', async () => {
  const { simulation } = await openPublished();
  simulation.vendor.failing = 'ServerError';
  simulation.annotate({ 'staticexport.dev/requestedAt': 'now' });
  await simulation.until(() => simulation.condition('Exported')?.startsWith('False/'));
  const { conditions = [] } = parseStatus(simulation.object()?.status);
  assert.match(conditions.find(({ type }) => type === 'Exported')?.message ?? '', /\. Retrying at \S+Z\.$/);
  const event = simulation.events.find(({ type }) => type === 'Warning');
  assert.match(event?.message ?? '', /returned a server error/);
  assert.doesNotMatch(event?.message ?? '', /Retrying/);
});

/** What this process may hold of a resource. */
function fillMemory({ context: { memory } }: Recorded): AbortController {
  const stop = new AbortController();
  const times = { issuedAt: t0, expiresAt: t0 + 900_000 };
  memory.polls.set(id, { jobId: 'se_1', at: t0, retryAfterMs: undefined });
  memory.links.set(id, { ...times, reading: { offsetMs: 0, at: 0 }, setBackMs: 0 });
  memory.refusedReads.key.set(id, { since: 0, seenAt: 0 });
  const work = { jobId: 'se_1', link: { url: linkOf('first.zip'), ...times }, stop, rules: undefined };
  memory.candidates.set(id, { ...work, inspection: undefined, done: undefined });
  const limit = rateLimitId({ baseUrl: 'https://api.example.com', project: undefined }, 'docs', {
    name: 'export-api',
    key: 'apiKey',
  });
  useRateLimit(memory, id, limit);
  memory.rateLimits.set(limit, { closedUntil: t0, closedAt: t0, refused: undefined });
  memory.otherOperators.written.add(id);
  return stop;
}

for (const because of ['gone', 'deleting'] as const) {
  for (const isKnown of [false, true]) {
    test(`a resource that is ${because} and ${isKnown ? 'known' : 'unknown'} to the watch ${isKnown ? 'keeps' : 'loses'} its memory`, async () => {
      const recorded = openRecorded();
      const { simulation, context, signal } = recorded;
      const { memory } = context;
      const stop = fillMemory(recorded);
      const object = simulation.object() ?? assert.fail();
      const metadata = { ...object.metadata, deletionTimestamp: at(-1) };
      if (because === 'gone') simulation.cluster.remove(resource);
      else simulation.cluster.exports.set(id, { ...object, metadata });
      const outcome = await reconcile(resource, { ...context, isKnown: () => isKnown }, signal);
      assert.deepEqual(outcome, { wakeAfterMs: undefined, because, report: undefined });
      assert.deepEqual(recorded.calls, ['readStaticExport site'], 'nothing is read or written for it');
      const { polls, links, refusedReads, candidates, rateLimits, users, otherOperators } = memory;
      const held = [polls, links, refusedReads.key, candidates, rateLimits, users, otherOperators.written];
      for (const { size } of held) assert.equal(size, isKnown ? 1 : 0);
      assert.equal(stop.signal.aborted, !isKnown);
    });
  }
}

test('an unreadable spec is reported without reading or writing anything else, until the link expires', async () => {
  const recorded = openRecorded();
  const { simulation, calls } = recorded;
  store(simulation, { active: { ...active, linkIssueTime: at(-60), linkExpirationTime: at(840) } });
  simulation.editSpec({ api: 'https://api.example.com' });
  const { outcome } = await simulation.step();
  assert.deepEqual([outcome?.because, outcome?.wakeAfterMs], ['unreadable → none', 840_000]);
  assert.equal(outcome?.report, undefined);
  assert.deepEqual(actsOf(recorded).slice(0, 1), ['writeStatus site']);
  assert.equal(simulation.condition('Stalled'), 'True/InvalidSpec');
  calls.length = 0;
  await simulation.step();
  assert.deepEqual(calls, ['readStaticExport site'], 'a second reconcile has nothing to report');
  await simulation.clock.pass(840_000);
  assert.equal((await simulation.step()).outcome?.wakeAfterMs, 3_600_000);
  assert.equal(simulation.condition('LinkFresh'), 'False/Expired');
});

test('a reconcile reports that the spec is not valid only where it is not', async () => {
  const { simulation } = await openPublished();
  const failure = async () => (await simulation.step()).outcome?.report?.failure;
  assert.equal(await failure(), undefined);
  simulation.editSpec({ domain: 7 });
  assert.equal(await failure(), 'InvalidSpec');
});

test('a target keeps its state while the output Secret is unreadable', async () => {
  const recorded = await openPublished({ target: 'ConfigMap' });
  const { simulation, calls } = recorded;
  const { targets } = simulation.status();
  recorded.refuse(`readSecret ${outputName}`, 'Forbidden');
  await simulation.until(() => simulation.condition('Stalled') === 'True/OutputUnreadable');
  calls.length = 0;
  await simulation.step();
  assert.deepEqual(simulation.status().targets, targets);
  assert.equal(calls.includes('readConfigMap docs-values'), false);
});

test('a refused output without a publication throws the refusal with its report, and is tried again', async () => {
  const recorded = await openPublished();
  const { simulation } = recorded;
  simulation.cluster.configMaps.delete(`docs/${outputName}`);
  recorded.refuse(applyConfigMap, 'Forbidden');
  const { error } = await simulation.step();
  assert.ok(error instanceof ReconcileRefused && error.cause instanceof ClusterError);
  const { failure, action, linkExpiresAt } = error.report;
  const expiresAt = Date.parse(simulation.status().active?.linkExpirationTime ?? '');
  assert.deepEqual(
    [error.code, failure, action, linkExpiresAt],
    ['Forbidden', 'Forbidden', 'none', expiresAt],
  );
  assert.deepEqual(actsOf(recorded), [applyConfigMap, 'writeStatus site', 'event OutputWriteFailed']);
  recorded.calls.length = 0;
  recorded.before = () => {};
  await simulation.step();
  assert.deepEqual(actsOf(recorded).slice(0, 1), [applyConfigMap]);
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
    const recorded = await openPublished();
    const { simulation } = recorded;
    const expiresAt = Date.parse(simulation.status().active?.linkExpirationTime ?? '');
    simulation.editSpec({ historyLimit: 7 });
    recorded.refuse('writeStatus site', code);
    const { error } = await simulation.step();
    assert.ok(error instanceof ClusterError);
    assert.deepEqual([error.code, error instanceof ReconcileRefused], [code, isRefusal]);
    if (error instanceof ReconcileRefused) assert.equal(error.report.linkExpiresAt, expiresAt);
    assert.deepEqual(actsOf(recorded), [
      'writeStatus site',
      ...(hasEvent ? ['event StatusWriteFailed'] : []),
    ]);
  });
}

test('a start record that is forbidden has an event', async () => {
  const recorded = openRecorded();
  recorded.refuse('writeStatus site', 'Forbidden');
  const { error } = await recorded.simulation.step();
  assert.ok(error instanceof ClusterError && error.code === 'Forbidden');
  assert.deepEqual(actsOf(recorded), ['writeStatus site', 'event StatusWriteFailed']);
});
