// The rules of exporting as short scenarios without randomness: what starts an export, what an answer or a loss
// causes, what a schedule does. Each has one event and asserts its visible effect.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemory } from '#operator/loop/memory.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { noFaults } from './faults.ts';
import { hourMs, minuteMs, nextVerdict, publishedSimulation, request } from './published-simulation.ts';
import { resource, Simulation } from './simulation.ts';

test('a request without new content exports again and changes no byte of the outputs', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.output();
  request(simulation, 'again');
  assert.equal(await nextVerdict(simulation), 'Unchanged');
  assert.deepEqual(simulation.output(), before);
  assert.equal(simulation.status().lastHandledRequest, 'again');
  assert.equal(simulation.condition('Exported'), 'True/Unchanged');
});

test('a request with new content publishes a new version, and Ready stays True', async () => {
  const simulation = await publishedSimulation();
  const before = simulation.output()?.['version'] ?? '';
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 21 });
  request(simulation, 'new');
  await simulation.until(() => {
    assert.equal(simulation.condition('Ready'), 'True/Published');
    assert.equal(simulation.condition('Reconciling'), '-');
    return simulation.output()?.['version'] !== before;
  });
  assert.deepEqual(
    simulation.status().history?.map(({ version }) => version),
    [simulation.output()?.['version'], before],
  );
});

test('a request is handled when its job starts, and complete when its export is judged and published', async () => {
  const simulation = await publishedSimulation();
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 21 });
  const before = simulation.output()?.['version'];
  request(simulation, 'new');
  await simulation.until(() => simulation.status().lastHandledRequest === 'new');
  await simulation.until(() => {
    const { lastCompletedRequest, job } = simulation.status();
    assert.equal(lastCompletedRequest, job?.verdict === undefined ? undefined : 'new');
    return lastCompletedRequest === 'new';
  });
  assert.notEqual(simulation.output()?.['version'], before);
  assert.equal(simulation.condition('Exported'), 'True/Promoted');
  simulation.vendor.ending = 'failed';
  request(simulation, 'in vain');
  await simulation.until(() => simulation.status().lastCompletedRequest === 'in vain');
  assert.equal(simulation.condition('Exported'), 'False/JobFailed');
});

test('three failed jobs in a row are one notification, and the version that follows is the next', async () => {
  const simulation = await publishedSimulation();
  const reported = simulation.notices.length;
  simulation.vendor.ending = 'failed';
  for (const token of ['first', 'second', 'third']) {
    request(simulation, token);
    await simulation.until(() => simulation.status().lastCompletedRequest === token);
  }
  simulation.vendor.ending = 'completed';
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 21 });
  request(simulation, 'fixed');
  assert.equal(await nextVerdict(simulation), 'Promoted');
  assert.deepEqual(
    simulation.notices.slice(reported).map(({ kinds, reason }) => `${kinds.join('+')} ${reason}`),
    ['Failed JobFailed', 'Published+Recovered Promoted'],
  );
});

test('an outage of the export API is one notification when it begins, and one when it ends', async () => {
  const simulation = await publishedSimulation();
  const reported = simulation.notices.length;
  simulation.vendor.failing = 'NetworkError';
  request(simulation, 'away');
  await simulation.until(() => (simulation.status().failures?.export?.count ?? 0) >= 3);
  simulation.vendor.failing = undefined;
  await simulation.until(() => simulation.status().lastCompletedRequest === 'away');
  assert.deepEqual(
    simulation.notices
      .slice(reported)
      .map(({ kinds, reason }) => `${kinds.join('+')} ${reason}`)
      .filter((notice) => !notice.includes('Link')),
    ['Failed ExportApiUnreachable', 'Recovered ExportApiUnreachable'],
  );
});

test('a request whose job is lost is complete when the replacement job is complete', async () => {
  const simulation = await publishedSimulation();
  request(simulation, 'lost');
  await simulation.until(() => simulation.status().job?.state === 'running');
  const lost = simulation.status().job?.id ?? assert.fail();
  simulation.vendor.jobs.delete(lost);
  await simulation.until(() => simulation.status().lastCompletedRequest === 'lost');
  assert.notEqual(simulation.status().job?.id, lost);
  assert.equal(simulation.status().job?.verdict, 'Unchanged');
});

test('rule 4: a publication whose status write was lost is confirmed by one write', async () => {
  const simulation = await publishedSimulation();
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 21 });
  const before = simulation.output()?.['version'];
  request(simulation, 'new');
  await simulation.until(
    () => simulation.status().job?.completionTime !== undefined && simulation.status().job?.id !== 'se_1',
  );
  const isPublished = (): boolean => simulation.output()?.['version'] !== before;
  simulation.faults = {
    next: (call) => (call === 'cluster.writeStatus' && isPublished() ? 'crash-before' : 'none'),
  };
  await simulation.until(isPublished);
  assert.equal(simulation.status().active?.version, before, 'the status write was not lost');
  simulation.faults = noFaults;
  const writes = simulation.cluster.writes.length;
  await simulation.until(() => simulation.status().active?.version === simulation.output()?.['version']);
  const fresh = simulation.cluster.writes.slice(writes);
  assert.deepEqual(
    fresh.map(({ kind, isChange }) => `${kind} ${isChange}`),
    ['Secret false', 'Status true'],
  );
  await simulation.step();
  assert.equal(simulation.cluster.writes.length, writes + fresh.length, 'confirmed twice');
});

test('rule 3: a start record that cannot be written ends the reconcile before the start is sent', async () => {
  const simulation = new Simulation();
  await assert.rejects(
    async () => {
      const context = simulation.context();
      const cluster = {
        ...context.cluster,
        readStaticExport: async () => {
          const read = await simulation.cluster.readStaticExport(resource);
          simulation.annotate({ 'example.com/edit': 'concurrent' });
          return read;
        },
      };
      await reconcile(resource, { ...context, cluster }, new AbortController().signal);
    },
    { code: 'Conflict' },
  );
  assert.equal(simulation.vendor.calls.length, 0);
});

test('rule 3: a start whose answer is lost is sent three times with one key, then counts as failed', async () => {
  const simulation = new Simulation();
  simulation.vendor.failing = 'RequestTimeout';
  await simulation.until(() => simulation.status().failures?.export?.count === 1);
  assert.equal(simulation.status().failures?.export?.reason, 'RequestTimeout');
  const keys = simulation.vendor.calls.map((call) => call.idempotencyKey);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  const gaps = simulation.vendor.calls
    .slice(1)
    .map(({ at }, index) => at - (simulation.vendor.calls[index]?.at ?? 0));
  assert.deepEqual(gaps, [60_000, 60_000], 'timeout + 30 s each');
  assert.equal(simulation.condition('Exported'), 'False/ExportApiUnreachable');
  simulation.vendor.failing = undefined;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
});

test('rule 3: an edit during the POST does not lose the job id', async () => {
  const simulation = new Simulation({
    bend: (context, self) => ({
      ...context,
      exportApi: {
        connect: (address, key) => {
          const api = context.exportApi.connect(address, key);
          return {
            ...api,
            startJob: async (start, signal) => {
              const started = await api.startJob(start, signal);
              self.annotate({ unrelated: 'edit' });
              return started;
            },
          };
        },
      },
    }),
  });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  assert.equal(simulation.callsOf('start'), 1);
});

test('rule 4: a failed, a timed out and a rejected export keep the published version', async () => {
  const simulation = await publishedSimulation({ spec: { jobTimeout: '5m' } });
  const before = simulation.output()?.['version'];
  const failing = [
    [
      'JobFailed',
      () => {
        simulation.vendor.ending = 'failed';
      },
    ],
    [
      'TimedOut',
      () => {
        simulation.vendor.ending = 'never';
      },
    ],
    [
      'BundleRejected',
      () => {
        simulation.vendor.ending = 'completed';
        simulation.vendor.unreadable = 'rejected';
      },
    ],
  ] as const;
  for (const [verdict, arrange] of failing) {
    arrange();
    request(simulation, verdict);
    assert.equal(await nextVerdict(simulation), verdict);
    assert.equal(simulation.condition('Exported'), `False/${verdict}`);
    assert.equal(simulation.condition('Ready'), 'True/Published');
    assert.equal(simulation.output()?.['version'], before);
  }
});

test('rule 7: an unknown job status means not finished, and a late completion is adopted', async () => {
  const simulation = new Simulation({ spec: { jobTimeout: '10m', schedule: '0 3 * * *' } });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  simulation.vendor.contents.set('docs.example.com', { name: 'late', pages: 20 });
  simulation.vendor.jobMs = 30 * minuteMs;
  request(simulation, 'slow');
  await simulation.until(() => simulation.status().job?.verdict === 'TimedOut');
  assert.equal(simulation.status().job?.state, 'running');
  assert.equal(
    await (async () => {
      await simulation.until(() => simulation.status().job?.verdict === 'Promoted');
      return simulation.condition('Exported');
    })(),
    'True/Promoted',
  );
  assert.equal(simulation.callsOf('start'), 2);
});

test('rule 8: 401 stops calls until the Secret changes, and a new request permits one attempt', async () => {
  const simulation = new Simulation();
  simulation.vendor.validKey = 'svc_secret-two';
  await simulation.run(2 * hourMs);
  assert.equal(simulation.vendor.calls.length, 1);
  assert.equal(simulation.condition('Stalled'), 'True/KeyRefused');
  request(simulation, 'try');
  await simulation.run(hourMs);
  assert.equal(simulation.vendor.calls.length, 2);
  simulation.restart();
  await simulation.run(hourMs);
  assert.equal(simulation.vendor.calls.length, 2, 'a restart forgets nothing');
  simulation.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: 'svc_secret-two' });
  await simulation.until(() => simulation.condition('Ready') === 'True/Published', 5 * minuteMs);
});

test('rule 8: after 403 the call is retried every fifteen minutes', async () => {
  const simulation = new Simulation();
  simulation.vendor.failing = 'Forbidden';
  await simulation.run(hourMs - 1000);
  assert.equal(simulation.vendor.calls.length, 4);
  assert.equal(simulation.condition('Stalled'), 'True/KeyForbidden');
});

test('rule 8: Retry-After given to one resource holds for another with the same key', async () => {
  const simulation = new Simulation();
  const other = { namespace: 'docs', name: 'other' };
  simulation.cluster.create(other, {
    domain: 'other.example.com',
    api: { keySecretRef: { name: 'export-api' } },
  });
  simulation.vendor.failing = 'RateLimited';
  simulation.vendor.retryAfterMs = 10 * minuteMs;
  const context = simulation.context(createMemory(new AbortController().signal));
  const signal = new AbortController().signal;
  await simulation.clock.finish(reconcile(resource, context, signal));
  const { wakeAfterMs, because } = await simulation.clock.finish(reconcile(other, context, signal));
  assert.equal(simulation.vendor.calls.length, 1);
  assert.equal(wakeAfterMs, 10 * minuteMs);
  assert.match(because, /export=waiting/);
});

test('rule 8: a lost job is replaced once at once, and then with back-off', async () => {
  const simulation = new Simulation();
  await simulation.until(() => simulation.status().job?.state === 'running');
  simulation.vendor.jobs.clear();
  await simulation.until(() => simulation.callsOf('start') === 2, 2 * minuteMs);
  simulation.vendor.jobs.clear();
  const lostAt = simulation.clock.monotonic();
  await simulation.until(() => simulation.callsOf('start') === 3);
  assert.ok(simulation.clock.monotonic() - lostAt >= minuteMs);
});

test('rule 8: a lost pinned job stalls the resource, and no job starts', async () => {
  const simulation = await publishedSimulation();
  simulation.editSpec({ pin: { version: simulation.output()?.['version'] } });
  simulation.vendor.jobs.clear();
  await simulation.run(3 * hourMs);
  assert.equal(simulation.condition('Stalled'), 'True/PinnedJobGone');
  assert.equal(simulation.callsOf('start'), 1);
  assert.ok(simulation.output() !== undefined);
});

test('new inputs are exported at once, and Reconciling says so', async () => {
  const simulation = await publishedSimulation();
  simulation.editSpec({ domain: 'www.example.com' });
  await simulation.step();
  assert.equal(simulation.condition('Reconciling'), 'True/Exporting');
  assert.equal(simulation.condition('Ready'), 'False/Exporting');
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  assert.equal(simulation.status().history?.length, 2);
});

test('a missed tick of the schedule runs once, and a tick during a job is skipped', async () => {
  const simulation = await publishedSimulation({ spec: { schedule: '0 * * * *' } });
  await simulation.clock.pass(5 * hourMs);
  await simulation.run(30 * minuteMs);
  assert.equal(simulation.callsOf('start'), 2, 'five missed ticks are one export');
  simulation.vendor.jobMs = 90 * minuteMs;
  simulation.editSpec({ jobTimeout: '3h' });
  await simulation.run(2.5 * hourMs);
  const starts = simulation.vendor.calls.filter(({ kind }) => kind === 'start');
  assert.equal(starts.length, 4, 'a job of ninety minutes takes two ticks');
  assert.equal(simulation.condition('Reconciling'), '-', 'scheduled runs are no reconciliation');
});

test('an invalid schedule stalls the resource, and the link is still refreshed', async () => {
  const simulation = await publishedSimulation();
  simulation.editSpec({ schedule: '0 3 30 2 *' });
  await simulation.run(hourMs, () => assert.ok(simulation.isLinkValid()));
  assert.equal(simulation.condition('Stalled'), 'True/InvalidSchedule');
  simulation.editSpec({ schedule: '0 3 * * *' });
  await simulation.step();
  assert.equal(simulation.condition('Ready'), 'True/Published');
});

test('a job is polled no sooner than its export API asked for', async () => {
  const simulation = new Simulation();
  simulation.vendor.pollAfterMs = 45_000;
  simulation.vendor.jobMs = 5 * minuteMs;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  const polls = simulation.vendor.calls.filter(({ kind }) => kind !== 'issue').map((call) => call.at);
  const gaps = polls.slice(1).map((at, index) => at - (polls[index] ?? 0));
  assert.ok(gaps.length > 3 && gaps.every((gap) => gap === 45_000), String(gaps));
});

test('while a job runs, each reconcile polls it', async () => {
  const simulation = new Simulation();
  simulation.vendor.jobMs = 20 * minuteMs;
  await simulation.until(() => simulation.status().job?.id !== undefined);
  let vain = 0;
  await simulation.run(15 * minuteMs, ({ callsMade }) => {
    if (callsMade === 0) vain += 1;
  });
  assert.equal(vain, 0);
});

for (const [what, code] of [
  ['does not answer', 'NetworkError'],
  ['answers with server errors', 'ServerError'],
  ['answers with pages', 'UnexpectedAnswer'],
] as const) {
  test(`an export API that ${what} for a day has one reason and one event`, async () => {
    const simulation = await publishedSimulation();
    simulation.vendor.failing = code;
    request(simulation, 'again');
    await simulation.until(() => simulation.condition('Exported') === 'False/ExportApiUnreachable');
    const events = simulation.events.length;
    assert.equal(simulation.events.filter(({ reason }) => reason === 'ExportApiUnreachable').length, 1);
    const end = simulation.vendor.calls.length + 24;
    await simulation.until(() => {
      assert.equal(simulation.condition('Exported'), 'False/ExportApiUnreachable');
      return simulation.vendor.calls.length >= end;
    });
    assert.equal(simulation.status().failures?.export?.reason, code);
    assert.deepEqual(
      simulation.events.slice(events).filter(({ reason }) => !reason.startsWith('Link')),
      [],
    );
    simulation.vendor.failing = undefined;
    await simulation.until(() => simulation.condition('Exported') !== 'False/ExportApiUnreachable');
    await simulation.until(() => simulation.status().lastCompletedRequest === 'again');
    assert.equal(simulation.status().failures?.export, undefined);
  });
}

test('a refused domain is stalled with the words of the export API, until the spec changes', async () => {
  const simulation = new Simulation();
  simulation.vendor.failing = 'BadRequest';
  await simulation.until(() => simulation.condition('Stalled') === 'True/StartRefused');
  assert.equal(simulation.condition('Reconciling'), '-');
  simulation.vendor.failing = undefined;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  assert.equal(simulation.condition('Stalled'), '-');
});
