// The product's rules told as short stories on virtual time, without chance: each test is one thing that a user or
// the world does to a resource, and what must be seen of it. The campaign mixes them; here each stands alone.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemory } from '../../src/loop/memory.ts';
import { runPass } from '../../src/loop/pass.ts';
import { outputName, resource, World, type WorldOptions } from './world.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const configMapId = `${resource.namespace}/${outputName}`;

async function publishedWorld(options: WorldOptions = {}): Promise<World> {
  const world = new World(options);
  await world.until(() => world.condition('Ready') === 'True/Published');
  return world;
}

function request(world: World, token: string): void {
  world.annotate({ 'staticexport.dev/requestedAt': token });
}

/** Runs until the job that follows the present one is judged. */
async function nextVerdict(world: World): Promise<string | undefined> {
  const before = world.status().job?.id;
  await world.until(() => world.status().job?.id !== before && world.status().job?.verdict !== undefined);
  return world.status().job?.verdict;
}

test('rule 1: a link of half a minute is replaced at its share of life, for an hour', async () => {
  const world = new World({ spec: { linkRefresh: { minInterval: '5s' } } });
  world.vendor.linkLifetimeMs = 30_000;
  await world.until(() => world.condition('Ready') === 'True/Published');
  await world.run(hourMs, () => assert.ok(world.isLinkLive()));
  const perHour = world.callsOf('mint');
  assert.ok(perHour >= 3600 / 20 - 2 && perHour <= 3600 / 17 + 3, `${perHour} mints`);
});

test('rule 1: a vendor whose clock is ten minutes off changes nothing', async () => {
  for (const skewMs of [-600_000, 600_000]) {
    const world = new World();
    world.vendor.skewMs = skewMs;
    await world.until(() => world.condition('Ready') === 'True/Published');
    await world.run(2 * hourMs, () => assert.ok(world.isLinkLive()));
  }
});

test('rule 1: our clock set back or forward by an hour leaves no dead link', async () => {
  for (const jumpMs of [-hourMs, hourMs]) {
    const world = await publishedWorld();
    world.clock.jump(jumpMs);
    world.prompt();
    await world.run(2 * hourMs, () => assert.ok(world.isLinkLive()));
  }
});

test('rule 1: a link that is handed out again until it dies is not written twice, and replaced when it is dead', async () => {
  const world = new World();
  world.vendor.isCachingLinks = true;
  await world.until(() => world.condition('Ready') === 'True/Published');
  const first = world.output()?.['bundleUrl'];
  await world.run(14 * minuteMs, () => assert.equal(world.output()?.['bundleUrl'], first));
  await world.run(2 * minuteMs);
  assert.notEqual(world.output()?.['bundleUrl'], first);
  assert.ok(world.isLinkLive());
});

test('rule 1: the same link without a stated expiry lives no longer for being handed out again', async () => {
  const world = new World();
  world.vendor.isCachingLinks = true;
  world.vendor.hidesExpiry = true;
  await world.until(() => world.condition('Ready') === 'True/Published');
  const expiresAt = world.status().active?.linkExpiresAt;
  await world.run(13 * minuteMs);
  assert.equal(world.status().active?.linkExpiresAt, expiresAt);
  await world.run(4 * minuteMs);
  assert.ok(world.isLinkLive());
});

test('rule 1: links that die before the floor between two are said to live too short', async () => {
  const world = new World({ spec: { linkRefresh: { minInterval: '30s' } } });
  world.vendor.linkLifetimeMs = 30_000;
  await world.until(() => world.condition('LinkFresh') === 'False/LifetimeTooShort');
  assert.equal(world.condition('Ready'), 'True/Published');
});

test('rule 2: a refresh changes the Secret and leaves version, ConfigMap and history alone', async () => {
  const world = await publishedWorld();
  const configMap = world.cluster.configMaps.get(configMapId);
  const { version, bundleUrl } = world.output() ?? {};
  await world.run(hourMs);
  assert.notEqual(world.output()?.['bundleUrl'], bundleUrl);
  assert.equal(world.output()?.['version'], version);
  assert.equal(world.cluster.configMaps.get(configMapId), configMap);
  assert.equal(world.status().history?.length, 1);
});

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

test('rule 3: a mark that cannot be written ends the pass before anything is sent', async () => {
  const world = new World();
  await assert.rejects(
    async () => {
      const edge = world.edge();
      const cluster = {
        ...edge.cluster,
        readStaticExport: async () => {
          const read = await world.cluster.readStaticExport(resource);
          world.annotate({ somebody: 'was faster' });
          return read;
        },
      };
      await runPass(resource, { ...edge, cluster }, new AbortController().signal);
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
    bend: (edge, self) => ({
      ...edge,
      exportApi: {
        connect: (baseUrl, key) => {
          const api = edge.exportApi.connect(baseUrl, key);
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

test('rule 6: an idle resource costs no call and no write between its timers', async () => {
  const world = await publishedWorld();
  const writes = world.cluster.writes.length;
  const calls = world.vendor.calls.length;
  for (let look = 0; look < 20; look += 1) {
    await world.clock.pass(10_000);
    await world.turn();
  }
  assert.equal(world.cluster.writes.length, writes);
  assert.equal(world.vendor.calls.length, calls);
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
  const edge = world.edge(createMemory(new AbortController().signal));
  const signal = new AbortController().signal;
  await world.clock.finish(runPass(resource, edge, signal));
  const { wakeAfterMs, because } = await world.clock.finish(runPass(other, edge, signal));
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

test('rule 8: the published job is gone: serving goes on, and one new export gives it a link again', async () => {
  const world = await publishedWorld();
  const before = world.output();
  world.vendor.jobs.clear();
  await world.until(() => world.condition('LinkFresh') === 'False/JobGone');
  assert.deepEqual(world.output(), before);
  await world.until(() => world.condition('LinkFresh') === 'True/Fresh', 10 * minuteMs);
  assert.equal(world.output()?.['version'], before?.['version'], 'the same content under the same version');
  assert.notEqual(world.status().active?.jobId, JSON.parse(before?.['bundle.json'] ?? '{}').jobId);
  assert.equal(world.callsOf('start'), 2);
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

test('rule 9: links that are dead on arrival are minted again, three times and no more', async () => {
  const world = await publishedWorld();
  const before = world.callsOf('mint');
  const dead = world.edge();
  const bundles = { ...dead.bundles, probe: async () => 'dead' as const };
  await world.clock.pass(10 * minuteMs);
  await world.clock.finish(runPass(resource, { ...dead, bundles }, new AbortController().signal));
  assert.equal(world.callsOf('mint') - before, 3);
  assert.equal(world.status().failures?.link?.reason, 'DeadOnArrival');
});

test('rule 11: a lost Secret is made again under the same version', async () => {
  const world = await publishedWorld();
  const before = world.output()?.['version'];
  world.cluster.secrets.delete(configMapId);
  world.prompt();
  await world.until(() => world.output() !== undefined, minuteMs);
  assert.equal(world.output()?.['version'], before);
  assert.equal(world.callsOf('start'), 1);
});

test('rule 11: a Secret of somebody else is never overwritten', async () => {
  const world = new World();
  world.cluster.putSecret({ namespace: 'docs', name: outputName }, { theirs: 'yes' });
  await world.run(hourMs);
  assert.equal(world.condition('Stalled'), 'True/OutputNotOwned');
  assert.deepEqual(world.output(), { theirs: 'yes' });
  assert.equal(world.vendor.calls.length, 0);
  world.cluster.secrets.delete(configMapId);
  await world.until(() => world.condition('Ready') === 'True/Published', 5 * minuteMs);
});

test('a published version that status forgot is taken from the Secret', async () => {
  const world = await publishedWorld();
  const before = world.output();
  const object = world.object();
  assert.ok(object);
  await world.cluster.writeStatus(object, { observedGeneration: -1 });
  world.prompt();
  await world.turn();
  assert.equal(world.status().active?.version, before?.['version']);
  assert.deepEqual(world.output(), before);
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

test('gates: a shrunk export is held and published when released', async () => {
  const world = await publishedWorld();
  const before = world.output()?.['version'];
  world.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 9 });
  request(world, 'shrink');
  assert.equal(await nextVerdict(world), 'Held');
  assert.equal(world.condition('Exported'), 'False/PageCountDropped');
  assert.equal(world.condition('Ready'), 'True/Published');
  await world.run(hourMs);
  assert.equal(world.output()?.['version'], before);
  const candidate = world.status().candidate?.version ?? '';
  world.annotate({ 'staticexport.dev/promote': candidate });
  await world.until(() => world.output()?.['version'] === candidate, minuteMs);
  assert.equal(world.status().candidate, undefined);
  assert.equal(world.condition('Exported'), 'True/Promoted');
});

test('gates: an empty first export and a manual one stall until a person acts', async () => {
  const empty = new World();
  empty.vendor.contents.set('docs.example.com', { name: 'empty', pages: 0 });
  await empty.until(() => empty.condition('Stalled') === 'True/TooFewPages');
  await empty.run(3 * hourMs);
  assert.equal(empty.callsOf('start'), 1, 'what a gate holds is not exported again');
  const manual = new World({ spec: { promotion: { mode: 'Manual' } } });
  await manual.until(() => manual.condition('Stalled') === 'True/AwaitingPromotion');
  manual.annotate({ 'staticexport.dev/promote': manual.status().candidate?.version ?? '' });
  await manual.until(() => manual.condition('Ready') === 'True/Published', minuteMs);
});

test('without inspection a complete job is published as it is', async () => {
  const world = await publishedWorld({ spec: { promotion: { inspect: 'Never' } } });
  assert.equal(world.status().active?.digest, undefined);
  assert.match(world.output()?.['version'] ?? '', /^\d{8}-\d{6}-[0-9a-f]{8}$/);
});

test('pin: an older version is published again, kept alive, and nothing is exported meanwhile', async () => {
  const world = await publishedWorld({ spec: { schedule: '0 * * * *' } });
  const first = world.output()?.['version'];
  world.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(world, 'second');
  assert.equal(await nextVerdict(world), 'Promoted');
  const starts = world.callsOf('start');
  world.editSpec({ pin: { version: first } });
  await world.turn();
  await world.until(() => world.condition('Ready') === 'True/Published', minuteMs);
  assert.equal(world.output()?.['version'], first);
  request(world, 'while pinned');
  await world.run(5 * hourMs, () => assert.ok(world.isLinkLive()));
  assert.equal(world.callsOf('start'), starts);
  assert.match(
    world.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /no longer pinned/,
  );
  world.editSpec({ pin: undefined });
  await world.until(() => world.output()?.['version'] !== first, 10 * minuteMs);
  assert.equal(world.status().lastHandledRequest, 'while pinned');
});

test('pin: a job started elsewhere is followed and published, past any gate', async () => {
  const world = await publishedWorld({ spec: { promotion: { mode: 'Auto' } } });
  world.vendor.contents.set('docs.example.com', { name: 'elsewhere', pages: 1 });
  const jobId = world.vendor.startElsewhere('docs.example.com');
  world.editSpec({ pin: { jobId } });
  await world.until(() => world.status().active?.jobId === jobId);
  assert.equal(world.condition('Ready'), 'True/Published');
  assert.equal(world.callsOf('start'), 1);
});

test('pin: a job that outlasts its timeout is published when it completes after all', async () => {
  const world = await publishedWorld({ spec: { jobTimeout: '10m' } });
  world.vendor.jobMs = 40 * minuteMs;
  world.vendor.contents.set('docs.example.com', { name: 'slow', pages: 20 });
  const jobId = world.vendor.startElsewhere('docs.example.com');
  world.editSpec({ pin: { jobId } });
  await world.run(15 * minuteMs);
  assert.equal(world.condition('Stalled'), 'True/PinnedJobFailed');
  await world.until(() => world.status().active?.jobId === jobId);
  assert.equal(world.condition('Ready'), 'True/Published');
});

test('pin: time does not run out on a pinned job while the resource is suspended', async () => {
  const world = await publishedWorld({ spec: { jobTimeout: '10m' } });
  const jobId = world.vendor.startElsewhere('docs.example.com');
  world.editSpec({ pin: { jobId }, suspend: true });
  await world.run(48 * hourMs);
  world.editSpec({ suspend: false });
  await world.until(() => world.status().active?.jobId === jobId, 10 * minuteMs);
});

test('gates: the same content held back night after night keeps its name until it is released', async () => {
  const world = await publishedWorld({
    spec: { schedule: '0 * * * *', promotion: { mode: 'Auto', maxShrinkPercent: 10 } },
  });
  world.vendor.contents.set('docs.example.com', { name: 'shrunk', pages: 10 });
  await world.until(() => world.status().candidate !== undefined);
  const candidate = world.status().candidate;
  await world.run(3 * hourMs);
  assert.equal(world.status().candidate?.version, candidate?.version);
  assert.notEqual(world.status().candidate?.jobId, candidate?.jobId, 'but its job is the newest');
  world.annotate({ 'staticexport.dev/promote': candidate?.version ?? '' });
  await world.until(() => world.output()?.['version'] === candidate?.version, minuteMs);
});

test('pin: what does not exist stalls and leaves the published version alone', async () => {
  const world = await publishedWorld();
  const before = world.output()?.['version'];
  for (const [pin, reason] of [
    [{ version: '20200101-000000-00000000' }, 'PinnedVersionUnknown'],
    [{ jobId: 'se_nowhere' }, 'PinnedJobGone'],
  ] as const) {
    world.editSpec({ pin });
    await world.run(hourMs);
    assert.equal(world.condition('Stalled'), `True/${reason}`);
    assert.equal(world.output()?.['version'], before);
    assert.ok(world.isLinkLive());
  }
  assert.equal(world.callsOf('start'), 1);
});

test('suspend: no exports and no promotions, but the link lives and a request is reported', async () => {
  const world = await publishedWorld({ spec: { schedule: '0 * * * *' } });
  world.editSpec({ suspend: true });
  request(world, 'while suspended');
  await world.run(5 * hourMs, () => assert.ok(world.isLinkLive()));
  assert.equal(world.callsOf('start'), 1);
  assert.equal(world.condition('Ready'), 'True/Suspended');
  assert.match(
    world.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /no longer suspended/,
  );
  world.editSpec({ suspend: false });
  assert.equal(await nextVerdict(world), 'Unchanged');
  assert.equal(world.status().lastHandledRequest, 'while suspended');
});

test('a key Secret that appears later is found within a minute', async () => {
  const world = new World();
  world.cluster.secrets.clear();
  await world.run(10 * minuteMs);
  assert.equal(world.condition('Reconciling'), 'True/KeyMissing');
  world.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: world.vendor.validKey });
  await world.until(() => world.callsOf('start') === 1, 61_000);
});

for (const [text, reason] of [
  ['', 'KeyEmpty'],
  ['two words', 'KeyInvalid'],
  ['svc_ü', 'KeyInvalid'],
] as const) {
  test(`a key of ${JSON.stringify(text)} is ${reason} and is never sent`, async () => {
    const world = new World();
    world.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: text });
    await world.run(10 * minuteMs);
    assert.equal(world.condition('Stalled'), `True/${reason}`);
    assert.equal(world.vendor.calls.length, 0);
  });
}

test('a key without the usual prefix is used, with one warning', async () => {
  const world = new World();
  world.vendor.validKey = 'unusual';
  world.cluster.putSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: 'unusual\n' });
  await world.until(() => world.condition('Ready') === 'True/Published');
  assert.equal(world.logs.filter((line) => line.includes('svc_')).length, 1);
});

test('a key never goes to a host that is not allowed', async () => {
  const world = new World({
    spec: { api: { baseUrl: 'https://api.example.com.evil.test', keySecretRef: { name: 'export-api' } } },
  });
  await world.run(hourMs);
  assert.equal(world.condition('Stalled'), 'True/HostNotAllowed');
  assert.equal(world.vendor.calls.length, 0);
});

test('a job is asked about no sooner than its API asked for', async () => {
  const world = new World();
  world.vendor.pollAfterMs = 45_000;
  world.vendor.jobMs = 5 * minuteMs;
  await world.until(() => world.condition('Ready') === 'True/Published');
  const polls = world.vendor.calls.filter(({ kind }) => kind !== 'mint').map((call) => call.at);
  const gaps = polls.slice(1).map((at, index) => at - (polls[index] ?? 0));
  assert.ok(gaps.length > 3 && gaps.every((gap) => gap === 45_000), String(gaps));
});

test('a spec that cannot be read stalls with the fields that are wrong, and everything stays', async () => {
  const world = await publishedWorld();
  const before = world.output();
  world.editSpec({ historyLimit: 'many' });
  await world.turn();
  assert.equal(world.condition('Stalled'), 'True/InvalidSpec');
  assert.match(
    world.status().conditions?.find(({ type }) => type === 'Ready')?.message ?? '',
    /spec\.historyLimit/,
  );
  assert.deepEqual(world.output(), before);
  world.editSpec({ historyLimit: 3 });
  await world.turn();
  assert.equal(world.condition('Ready'), 'True/Published');
});

test('an archive that takes an hour to read delays no refresh', async () => {
  const world = await publishedWorld();
  world.vendor.readMs = 8 * minuteMs;
  world.vendor.contents.set('docs.example.com', { name: 'large', pages: 20 });
  world.vendor.linkLifetimeMs = 4 * minuteMs;
  await world.run(12 * minuteMs);
  request(world, 'large');
  await world.run(11 * minuteMs, () => assert.ok(world.isLinkLive()));
});

test('conditions and fields of status that are not ours survive', async () => {
  const world = await publishedWorld();
  const object = world.object();
  assert.ok(object !== undefined);
  const theirs = {
    type: 'Audited',
    status: 'True',
    reason: 'Yes',
    message: '',
    lastTransitionTime: '2026-01-05T12:00:00Z',
  };
  const status = {
    ...world.status(),
    conditions: [...(world.status().conditions ?? []), theirs],
    audit: { by: 'us' },
  };
  await world.cluster.writeStatus(object, status);
  request(world, 'again');
  await nextVerdict(world);
  assert.equal(world.condition('Audited'), 'True/Yes');
  assert.deepEqual(Object.entries(world.object()?.status ?? {}).find(([name]) => name === 'audit')?.[1], {
    by: 'us',
  });
});

test('the lastTransitionTime of a condition moves only with its status', async () => {
  const world = await publishedWorld();
  const readyAt = world.status().conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime;
  request(world, 'again');
  await nextVerdict(world);
  await world.run(hourMs);
  assert.equal(world.status().conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime, readyAt);
});
