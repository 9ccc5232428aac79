// The rules of exporting as short stories without chance: what starts an export, what an answer or a loss costs,
// what a schedule does. One thing happens to a resource in each, and what must be seen of it is asserted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemory } from '../../src/loop/memory.ts';
import { reconcile } from '../../src/loop/reconcile.ts';
import { noFaults } from './faults.ts';
import { hourMs, minuteMs, nextVerdict, publishedWorld, request } from './published-world.ts';
import { resource, World } from './world.ts';

test('a request without new content exports again and changes no byte of the outputs', async () => {
  const world = await publishedWorld();
  const before = world.output();
  request(world, 'again');
  assert.equal(await nextVerdict(world), 'Unchanged');
  assert.deepEqual(world.output(), before);
  assert.equal(world.status().lastHandledRequest, 'again');
  assert.equal(world.condition('Exported'), 'True/Unchanged');
});

test('a request with new content publishes a new version, and Ready holds all the while', async () => {
  const world = await publishedWorld();
  const before = world.output()?.['version'] ?? '';
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 21 });
  request(world, 'new');
  await world.until(() => {
    assert.equal(world.condition('Ready'), 'True/Published');
    assert.equal(world.condition('Reconciling'), '-');
    return world.output()?.['version'] !== before;
  });
  assert.deepEqual(
    world.status().history?.map(({ version }) => version),
    [world.output()?.['version'], before],
  );
});

test('a request is handled when its job begins, and complete when that is judged and written out', async () => {
  const world = await publishedWorld();
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 21 });
  const before = world.output()?.['version'];
  request(world, 'new');
  await world.until(() => world.status().lastHandledRequest === 'new');
  await world.until(() => {
    const { lastCompletedRequest, job } = world.status();
    assert.equal(lastCompletedRequest, job?.verdict === undefined ? undefined : 'new');
    return lastCompletedRequest === 'new';
  });
  assert.notEqual(world.output()?.['version'], before);
  assert.equal(world.condition('Exported'), 'True/Promoted');
  world.vendor.ending = 'failed';
  request(world, 'in vain');
  await world.until(() => world.status().lastCompletedRequest === 'in vain');
  assert.equal(world.condition('Exported'), 'False/JobFailed');
});

test('a request whose job is lost is complete when the one in its place is', async () => {
  const world = await publishedWorld();
  request(world, 'lost');
  await world.until(() => world.status().job?.state === 'running');
  const lost = world.status().job?.id ?? assert.fail();
  world.vendor.jobs.delete(lost);
  await world.until(() => world.status().lastCompletedRequest === 'lost');
  assert.notEqual(world.status().job?.id, lost);
  assert.equal(world.status().job?.verdict, 'Unchanged');
});

test('rule 4: a publication whose status write was lost is confirmed by one write and then known', async () => {
  const world = await publishedWorld();
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 21 });
  const before = world.output()?.['version'];
  request(world, 'new');
  await world.until(
    () => world.status().job?.completionTime !== undefined && world.status().job?.id !== 'se_1',
  );
  const isPublished = (): boolean => world.output()?.['version'] !== before;
  world.faults = {
    next: (call) => (call === 'cluster.writeStatus' && isPublished() ? 'crash-before' : 'none'),
  };
  await world.until(isPublished);
  assert.equal(world.status().active?.version, before, 'the status write was not lost');
  world.faults = noFaults;
  const writes = world.cluster.writes.length;
  await world.until(() => world.status().active?.version === world.output()?.['version']);
  const fresh = world.cluster.writes.slice(writes);
  assert.deepEqual(
    fresh.map(({ kind, isChange }) => `${kind} ${isChange}`),
    ['Secret false', 'Status true'],
  );
  await world.turn();
  assert.equal(world.cluster.writes.length, writes + fresh.length, 'confirmed twice');
});

test('rule 3: a mark that cannot be written ends the pass before anything is sent', async () => {
  const world = new World();
  await assert.rejects(
    async () => {
      const context = world.context();
      const cluster = {
        ...context.cluster,
        readStaticExport: async () => {
          const read = await world.cluster.readStaticExport(resource);
          world.annotate({ somebody: 'was faster' });
          return read;
        },
      };
      await reconcile(resource, { ...context, cluster }, new AbortController().signal);
    },
    { code: 'Conflict' },
  );
  assert.equal(world.vendor.calls.length, 0);
});

test('rule 3: a start whose answer is lost is sent three times with one key, then counts as failed', async () => {
  const world = new World();
  world.vendor.failing = 'RequestTimeout';
  await world.until(() => world.status().failures?.export?.reason === 'StartUnconfirmed');
  const keys = world.vendor.calls.map((call) => call.idempotencyKey);
  assert.equal(keys.length, 3);
  assert.equal(new Set(keys).size, 1);
  const gaps = world.vendor.calls.slice(1).map(({ at }, index) => at - (world.vendor.calls[index]?.at ?? 0));
  assert.deepEqual(gaps, [60_000, 60_000], 'timeout + 30 s each');
  assert.equal(world.condition('Exported'), 'False/StartUnconfirmed');
  world.vendor.failing = undefined;
  await world.until(() => world.condition('Ready') === 'True/Published');
});

test('rule 3: an edit during the POST does not lose the id', async () => {
  const world = new World({
    bend: (context, self) => ({
      ...context,
      exportApi: {
        connect: (baseUrl, key) => {
          const api = context.exportApi.connect(baseUrl, key);
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
  await world.until(() => world.condition('Ready') === 'True/Published');
  assert.equal(world.callsOf('start'), 1);
});

test('rule 4: a failed, a timed out and a refused export withdraw nothing', async () => {
  const world = await publishedWorld({ spec: { jobTimeout: '5m' } });
  const before = world.output()?.['version'];
  const failing = [
    [
      'JobFailed',
      () => {
        world.vendor.ending = 'failed';
      },
    ],
    [
      'TimedOut',
      () => {
        world.vendor.ending = 'never';
      },
    ],
    [
      'BundleRejected',
      () => {
        world.vendor.ending = 'completed';
        world.vendor.unreadable = 'refused';
      },
    ],
  ] as const;
  for (const [verdict, arrange] of failing) {
    arrange();
    request(world, verdict);
    assert.equal(await nextVerdict(world), verdict);
    assert.equal(world.condition('Exported'), `False/${verdict}`);
    assert.equal(world.condition('Ready'), 'True/Published');
    assert.equal(world.output()?.['version'], before);
  }
});

test('rule 7: a status nobody knows means not finished, and a late completion is adopted', async () => {
  const world = new World({ spec: { jobTimeout: '10m', schedule: '0 3 * * *' } });
  await world.until(() => world.condition('Ready') === 'True/Published');
  world.vendor.contents.set('docs.example.com', { name: 'late', pages: 20 });
  world.vendor.jobMs = 30 * minuteMs;
  request(world, 'slow');
  await world.until(() => world.status().job?.verdict === 'TimedOut');
  assert.equal(world.status().job?.state, 'running');
  assert.equal(
    await (async () => {
      await world.until(() => world.status().job?.verdict === 'Promoted');
      return world.condition('Exported');
    })(),
    'True/Promoted',
  );
  assert.equal(world.callsOf('start'), 2);
});

test('rule 8: 401 stops calls until the Secret changes, and a new request is one free try', async () => {
  const world = new World();
  world.vendor.validKey = 'svc_secret-two';
  await world.run(2 * hourMs);
  assert.equal(world.vendor.calls.length, 1);
  assert.equal(world.condition('Stalled'), 'True/KeyRefused');
  request(world, 'try');
  await world.run(hourMs);
  assert.equal(world.vendor.calls.length, 2);
  world.restart();
  await world.run(hourMs);
  assert.equal(world.vendor.calls.length, 2, 'a restart forgets nothing');
  world.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: 'svc_secret-two' });
  await world.until(() => world.condition('Ready') === 'True/Published', 5 * minuteMs);
});

test('rule 8: 403 is tried every fifteen minutes', async () => {
  const world = new World();
  world.vendor.failing = 'Forbidden';
  await world.run(hourMs - 1000);
  assert.equal(world.vendor.calls.length, 4);
  assert.equal(world.condition('Stalled'), 'True/KeyForbidden');
});

test('rule 8: Retry-After given to one resource holds for another with the same key', async () => {
  const world = new World();
  const other = { namespace: 'docs', name: 'other' };
  world.cluster.create(other, { domain: 'other.example.com', api: { keySecretRef: { name: 'export-api' } } });
  world.vendor.failing = 'RateLimited';
  world.vendor.retryAfterMs = 10 * minuteMs;
  const context = world.context(createMemory(new AbortController().signal));
  const signal = new AbortController().signal;
  await world.clock.finish(reconcile(resource, context, signal));
  const { wakeAfterMs, because } = await world.clock.finish(reconcile(other, context, signal));
  assert.equal(world.vendor.calls.length, 1);
  assert.equal(wakeAfterMs, 10 * minuteMs);
  assert.match(because, /export=waiting/);
});

test('rule 8: an unfinished job that is gone is replaced once at once, and then with back-off', async () => {
  const world = new World();
  await world.until(() => world.status().job?.state === 'running');
  world.vendor.jobs.clear();
  await world.until(() => world.callsOf('start') === 2, 2 * minuteMs);
  world.vendor.jobs.clear();
  const lostAt = world.clock.monotonic();
  await world.until(() => world.callsOf('start') === 3);
  assert.ok(world.clock.monotonic() - lostAt >= minuteMs);
});

test('rule 8: a pinned job that is gone stalls, and starts nothing', async () => {
  const world = await publishedWorld();
  world.editSpec({ pin: { version: world.output()?.['version'] } });
  world.vendor.jobs.clear();
  await world.run(3 * hourMs);
  assert.equal(world.condition('Stalled'), 'True/PinnedJobGone');
  assert.equal(world.callsOf('start'), 1);
  assert.ok(world.output() !== undefined);
});

test('new inputs are exported at once, and Reconciling says so', async () => {
  const world = await publishedWorld();
  world.editSpec({ domain: 'www.example.com' });
  await world.turn();
  assert.equal(world.condition('Reconciling'), 'True/Exporting');
  assert.equal(world.condition('Ready'), 'False/Exporting');
  await world.until(() => world.condition('Ready') === 'True/Published');
  assert.equal(world.status().history?.length, 2);
});

test('the schedule: a missed tick runs once, a tick during a job is skipped', async () => {
  const world = await publishedWorld({ spec: { schedule: '0 * * * *' } });
  await world.clock.pass(5 * hourMs);
  await world.run(30 * minuteMs);
  assert.equal(world.callsOf('start'), 2, 'five missed ticks are one export');
  world.vendor.jobMs = 90 * minuteMs;
  world.editSpec({ jobTimeout: '3h' });
  await world.run(2.5 * hourMs);
  const starts = world.vendor.calls.filter(({ kind }) => kind === 'start');
  assert.equal(starts.length, 4, 'a job of ninety minutes takes two ticks');
  assert.equal(world.condition('Reconciling'), '-', 'scheduled runs are no reconciliation');
});

test('an invalid schedule stalls, and the link is refreshed all the same', async () => {
  const world = await publishedWorld();
  world.editSpec({ schedule: '0 3 30 2 *' });
  await world.run(hourMs, () => assert.ok(world.isLinkLive()));
  assert.equal(world.condition('Stalled'), 'True/InvalidSchedule');
  world.editSpec({ schedule: '0 3 * * *' });
  await world.turn();
  assert.equal(world.condition('Ready'), 'True/Published');
});

test('a job is asked about no sooner than its API asked for', async () => {
  const world = new World();
  world.vendor.pollAfterMs = 45_000;
  world.vendor.jobMs = 5 * minuteMs;
  await world.until(() => world.condition('Ready') === 'True/Published');
  const polls = world.vendor.calls.filter(({ kind }) => kind !== 'issue').map((call) => call.at);
  const gaps = polls.slice(1).map((at, index) => at - (polls[index] ?? 0));
  assert.ok(gaps.length > 3 && gaps.every((gap) => gap === 45_000), String(gaps));
});

test('while a job runs, a pass asks about it each time it wakes: no look is in vain', async () => {
  const world = new World();
  world.vendor.jobMs = 20 * minuteMs;
  await world.until(() => world.status().job?.id !== undefined);
  let vain = 0;
  await world.run(15 * minuteMs, ({ callsMade }) => {
    if (callsMade === 0) vain += 1;
  });
  assert.equal(vain, 0);
});
