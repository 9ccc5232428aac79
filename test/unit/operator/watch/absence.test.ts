// What counts as gone, by a read and by the watches: in a table, and through the real transport, pass and controller
// against a server that answers 404 for what is there.

import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { after, test } from 'node:test';
import { type ReconcileResult, runController } from '#operator/controller/controller.ts';
import { createCluster } from '#operator/kube/cluster.ts';
import { createTransport } from '#operator/kube/transport/transport.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { WorkQueue } from '#operator/queue/work-queue.ts';
import { nextLookMs, trustWatchedDeletions } from '#operator/watch/absence.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { ClusterError, type ClusterErrorCode } from '#platform/wire/cluster-error.ts';
import { FakeCluster } from '../../../simulation/fake-cluster.ts';
import { publishedSimulation } from '../../../simulation/published-simulation.ts';
import { resource } from '../../../simulation/simulation.ts';
import { json, never, startLoopbackServer } from '../kube/loopback-server.ts';

const server = await startLoopbackServer();
after(() => server.close());

const looks: readonly (readonly [
  wakeAfterMs: number | undefined,
  isKnown: boolean,
  lookMs: number | undefined,
])[] = [
  [5_000, true, 5_000],
  [0, false, 0],
  [undefined, true, 60_000],
  [undefined, false, undefined],
];
for (const [wakeAfterMs, isKnown, lookMs] of looks) {
  test(`a requeue time of ${wakeAfterMs} of a resource that the watches ${isKnown ? 'know' : 'do not know'}: ${lookMs}`, () => {
    assert.equal(nextLookMs(wakeAfterMs, isKnown), lookMs);
  });
}

const reads: readonly (readonly [code: ClusterErrorCode, isKnown: boolean, result: string])[] = [
  ['Unavailable', false, 'gone'],
  ['Forbidden', false, 'gone'],
  ['Unavailable', true, 'Unavailable'],
  ['Forbidden', true, 'Forbidden'],
  ['Unauthorized', false, 'Unauthorized'],
  ['Aborted', false, 'Aborted'],
];
for (const [code, isKnown, result] of reads) {
  test(`a read with ${code} of a resource that the watches ${isKnown ? 'know' : 'saw deleted'}: ${result}`, async () => {
    const cluster = new FakeCluster();
    cluster.readStaticExport = () => Promise.reject(new ClusterError(code, 'scripted'));
    const believing = trustWatchedDeletions(cluster, (key) => isKnown && key === 'docs/site');
    const read = believing.readStaticExport(resource, never).then(
      (found) => (found === undefined ? 'gone' : 'there'),
      (error: ClusterError) => error.code,
    );
    assert.equal(await read, result);
  });
}

/** Passes of a published resource by the real controller; the first read of it is answered by the server. */
async function passesAfter(answer: (response: ServerResponse) => void) {
  server.handle = (_request, response) => answer(response);
  const transport = createTransport(server.connection(), { clock: systemClock, timeoutMs: 60_000 });
  const simulation = await publishedSimulation();
  const { clock } = simulation;
  const context = simulation.context();
  const through = {
    ...context,
    cluster: { ...context.cluster, readStaticExport: createCluster(transport).readStaticExport },
  };
  const results: ReconcileResult[] = [];
  const first = Promise.withResolvers<void>();
  const queue = new WorkQueue({ clock, slots: { perHost: 9, total: 9, edits: 0 }, hostOf: () => '' });
  const running = runController(
    {
      queue,
      reconcile: (key, signal) => reconcile(key, results.length === 0 ? through : context, signal),
      workers: 1,
      timeoutMs: 300_000,
      resyncMs: () => 36_000_000,
      isKnown: (key) => key === 'docs/site',
      linkRemainingMs: () => undefined,
      clock,
      random: context.random,
      logger: silentLogger,
      observe: (_key, result) => {
        results.push(result);
        first.resolve();
      },
    },
    never,
  );
  queue.add('docs/site', 'listed');
  await first.promise;
  await clock.pass(61_000);
  queue.close();
  await running;
  await transport.close();
  return results;
}

const absent = { kind: 'Status', reason: 'NotFound', details: { name: resource.name }, code: 404 };
const page = (text: string) => (response: ServerResponse) => {
  response.writeHead(404, { 'content-type': 'text/html' }).end(text);
};
const answers: readonly (readonly [string, (response: ServerResponse) => void, ReconcileResult])[] = [
  ['a Status of what the watches know', (response) => json(response, 404, absent), 'gone'],
  ["a proxy's page", page('<h1>Not Found</h1>'), 'error'],
  ['the plain text of what is not served', page('404 page not found\n'), 'error'],
];
for (const [name, answer, result] of answers) {
  test(`one 404 for an existing resource is checked again within a minute: ${name}`, async () => {
    const [first, second] = await passesAfter(answer);
    assert.deepEqual([first, second], [result, 'requeue_after']);
  });
}
