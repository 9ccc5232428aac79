// Short stories without chance, one for each rule that a mutation breaks: they pass as the product is, and fail in
// the rule's words when it is not. Owns what happens; the oracles and one assertion each judge it.

import assert from 'node:assert/strict';
import { createMemory } from '../../src/loop/memory.ts';
import { reconcile } from '../../src/loop/reconcile.ts';
import { recordVersion } from '../../src/reconcile/history.ts';
import { type FaultPlan, noFaults } from './faults.ts';
import { Oracles } from './oracles.ts';
import { foreignData } from './publication-oracles.ts';
import { configMapId, hourMs, minuteMs, nextVerdict, publishedWorld, request } from './published-world.ts';
import { documentText, ownDocument, ownText } from './target-document.ts';
import { keySecret, outputName, resource, type Turn, World, type WorldOptions } from './world.ts';

async function watched(world: World, ms: number, excused = 0): Promise<void> {
  const oracles = new Oracles(world);
  oracles.excused = excused;
  await world.run(ms, (turn) => oracles.check(turn));
}

/** As long as the story takes whose export was just asked for. */
const exportMs = 10 * minuteMs;

async function wholeDay(options: WorldOptions = {}): Promise<void> {
  const world = new World({ spec: { schedule: '0 3 * * *' }, ...options });
  const oracles = new Oracles(world);
  await world.run(24 * hourMs, (turn) => oracles.check(turn));
  oracles.checkSettled();
}

function losing(name: string, times: number): FaultPlan {
  let left = times;
  return {
    next: (call) => {
      if (call !== name || left === 0) return 'none';
      left -= 1;
      return 'lost';
    },
  };
}

function exportAnew(world: World, name: string, pages = 20): void {
  world.vendor.contents.set('docs.example.com', { name, pages });
  request(world, name);
}

export const scenarios = {
  day: () => wholeDay(),
  quietDay: async () => {
    const world = new World();
    world.vendor.linkLifetimeMs = 7 * 24 * hourMs;
    await watched(world, 24 * hourMs);
  },
  lostStart: () => wholeDay({ faults: losing('api.startJob', 1) }),
  prompt: async () => {
    const world = new World();
    await world.until(() => world.condition('Ready') === 'True/Published', 10 * minuteMs);
  },
  sameLink: async () => {
    const world = await publishedWorld();
    world.vendor.isCachingLinks = true;
    await world.run(20 * minuteMs);
    const before = world.cluster.writes.filter(({ kind }) => kind === 'Secret').length;
    const known = world.vendor.links.size;
    await watched(world, 3 * hourMs);
    const writes = world.cluster.writes.filter(({ kind }) => kind === 'Secret').length - before;
    assert.ok(writes <= world.vendor.links.size - known, 'a link was written that was handed out again');
  },
  silentStart: async () => {
    const world = new World({ faults: losing('api.startJob', 100) });
    await watched(world, hourMs, 100);
    const keys = world.vendor.calls.filter(({ kind }) => kind === 'start').map((one) => one.idempotencyKey);
    for (const key of keys) {
      const sent = keys.filter((other) => other === key).length;
      assert.ok(sent <= 3, `one start was sent ${sent} times`);
    }
  },
  sleepingLeader: async () => {
    const world = await publishedWorld();
    const asleep = Promise.withResolvers<void>();
    const awake = Promise.withResolvers<void>();
    const { signal } = new AbortController();
    const context = world.context(createMemory(signal));
    const probe: typeof context.bundles.probe = async (link, passing) => {
      asleep.resolve();
      await awake.promise;
      return context.bundles.probe(link, passing);
    };
    await world.clock.pass(11 * minuteMs);
    const sleeping = { ...context, bundles: { ...context.bundles, probe } };
    const late = reconcile(resource, sleeping, signal).catch(() => undefined);
    await asleep.promise;
    exportAnew(world, 'second');
    await nextVerdict(world);
    const version = world.output()?.['version'];
    awake.resolve();
    await late;
    assert.equal(world.output()?.['version'], version, 'rolled back by a leader that slept');
  },
  shrunk: async () => {
    const world = await publishedWorld();
    const version = world.output()?.['version'];
    exportAnew(world, 'shrunk', 9);
    await watched(world, exportMs);
    assert.equal(world.output()?.['version'], version, 'published past its gate');
  },
  empty: async () => {
    const world = new World();
    world.vendor.contents.set('docs.example.com', { name: 'empty', pages: 0 });
    await world.run(hourMs);
    assert.equal(world.output(), undefined, 'published past its gate');
  },
  twoExports: async () => {
    const world = await publishedWorld();
    const version = world.output()?.['version'];
    request(world, 'again');
    await watched(world, exportMs);
    assert.equal(world.output()?.['version'], version, 'the same content was promoted');
    exportAnew(world, 'second');
    await nextVerdict(world);
    assert.notEqual(world.output()?.['version'], version, 'new content was not promoted');
  },
  failingStarts: async () => {
    const world = new World();
    world.vendor.failing = 'BadRequest';
    await world.run(6 * hourMs);
    assert.ok(world.callsOf('start') < 20, `${world.callsOf('start')} starts in six hours of refusals`);
  },
  refusedKey: async () => {
    const world = new World();
    world.vendor.validKey = 'svc_secret-two';
    await watched(world, 2 * hourMs);
    assert.equal(world.vendor.calls.length, 1, 'calls with a refused key');
  },
  retryAfter: async () => {
    const world = new World();
    world.vendor.failing = 'RateLimited';
    world.vendor.retryAfterMs = 10 * minuteMs;
    const other = { namespace: 'docs', name: 'other' };
    world.cluster.create(other, {
      domain: 'docs.example.com',
      api: { keySecretRef: { name: 'export-api' } },
    });
    const { signal } = new AbortController();
    const context = world.context(createMemory(signal));
    await world.clock.finish(reconcile(resource, context, signal));
    await world.clock.finish(reconcile(other, context, signal));
    assert.equal(world.vendor.calls.length, 1, 'called before Retry-After was over');
  },
  retryAfterStorm: async () => {
    const world = await publishedWorld({ spec: { schedule: '*/10 * * * *' } });
    world.vendor.failing = 'RateLimited';
    world.vendor.retryAfterMs = hourMs;
    await watched(world, 3 * hourMs);
  },
  forbiddenKey: async () => {
    const world = new World();
    world.vendor.failing = 'Forbidden';
    await watched(world, 2 * hourMs);
  },
  changedKey: async () => {
    const world = await publishedWorld();
    world.vendor.failing = 'Forbidden';
    await world.until(() => world.status().failures?.link !== undefined, 15 * minuteMs);
    // Until the look at the end of the grace is over: no other comes before the link dies.
    await world.run(2 * minuteMs);
    world.vendor.failing = undefined;
    world.cluster.putSecret(keySecret, { apiKey: world.vendor.validKey });
    await world.run(hourMs, ({ wasLinkLive }) =>
      assert.ok(wasLinkLive, 'a link died although its key was changed in time'),
    );
  },
  foreignOutput: async () => {
    const world = await publishedWorld();
    world.cluster.secrets.delete(configMapId);
    world.cluster.putSecret({ namespace: resource.namespace, name: outputName }, foreignData);
    world.prompt();
    await watched(world, hourMs);
  },
  pastSecret: async () => {
    const world = new World();
    world.vendor.linkLifetimeMs = 7 * 24 * hourMs;
    const oracles = new Oracles(world);
    const judge = (turn: Turn): Promise<void> => oracles.check(turn);
    await world.run(exportMs, judge);
    exportAnew(world, 'second');
    await world.run(exportMs, judge);
    const version = world.output()?.['version'];
    world.cluster.secrets.delete(configMapId);
    world.cluster.putSecret({ namespace: resource.namespace, name: outputName }, foreignData);
    world.prompt();
    await judge(await world.turn());
    world.faults = { next: (call) => (call === 'cluster.readSecret' ? 'replayed' : 'none') };
    await oracles.check(await world.turn(), true);
    world.faults = noFaults;
    const told = world.cluster.configMaps.get(configMapId)?.data['version'];
    assert.equal(told, version, 'the ConfigMap went back to a version of the past');
    world.cluster.secrets.delete(configMapId);
    world.prompt();
    await world.run(exportMs, judge);
    assert.equal(world.output()?.['version'], version, 'rolled back to a version of the past');
  },
  oldLink: async () => {
    const world = new World();
    const oracles = new Oracles(world);
    const judge = (turn: Turn): Promise<void> => oracles.check(turn);
    await world.run(5 * minuteMs, judge);
    // Handed out again at its time of refresh, and then no more: at the next asking there is another.
    world.vendor.isCachingLinks = true;
    await world.run(6 * minuteMs, judge);
    world.vendor.isCachingLinks = false;
    await world.run(hourMs, judge);
  },
  unknownOnce: async () => {
    const world = await publishedWorld();
    let reads = 1;
    world.faults = {
      next: (call) => (call === 'cluster.readStaticExport' && reads-- > 0 ? 'absent' : 'none'),
    };
    const oracles = new Oracles(world);
    world.prompt();
    await oracles.check(await world.turn(), true);
    await world.run(3 * hourMs, (turn) => oracles.check(turn));
    oracles.checkSettled();
  },
  deadOnArrival: async () => {
    const world = await publishedWorld();
    world.vendor.unusableLinks = 1;
    await world.run(12 * minuteMs);
    assert.ok(world.isLinkLive(), 'a dead link is published although the API answers');
  },
  lostJob: async () => {
    const world = await publishedWorld();
    world.vendor.jobs.delete(world.status().active?.jobId ?? '');
    await world.run(2 * hourMs);
    assert.ok(world.isLinkLive(), 'no live link after the published job was lost');
  },
  lostOutput: async () => {
    const world = await publishedWorld();
    world.cluster.secrets.delete('docs/site-bundle');
    world.prompt();
    await world.until(() => world.output() !== undefined, 10 * minuteMs);
  },
  pinnedHistory: async () => {
    const entry = (version: string) => ({ version, jobId: `job of ${version}` });
    const pin = { version: 'a', jobId: undefined };
    const kept = recordVersion([entry('b'), entry('a')], entry('c'), 1, pin);
    assert.ok(
      kept.some(({ version }) => version === 'a'),
      'the pinned version is gone from the history',
    );
  },
  suspended: async () => {
    const world = await publishedWorld();
    const version = world.output()?.['version'];
    exportAnew(world, 'second');
    await world.turn();
    world.vendor.readMs = 600_000;
    await world.until(
      () => world.status().job?.completionTime !== undefined && world.status().job?.verdict === undefined,
    );
    world.editSpec({ suspend: true });
    world.restart();
    world.vendor.readMs = 1000;
    await world.run(2 * hourMs);
    assert.equal(world.output()?.['version'], version, 'promoted while suspended');
  },
  setBack: async () => {
    const world = await publishedWorld();
    world.vendor.linkLifetimeMs = hourMs;
    await world.run(44 * minuteMs);
    // By nearly all of the link's age: it looks a minute old.
    const issuedAt = Date.parse(world.status().active?.linkIssueTime ?? '');
    world.jump(issuedAt + minuteMs - world.clock.now());
    world.prompt();
    await world.run(2 * hourMs, ({ wasLinkLive }) =>
      assert.ok(wasLinkLive, 'a link outlived by a clock set back'),
    );
  },
  failingTarget: async () => {
    const refused: FaultPlan = { next: (call) => (call === 'cluster.editDocument' ? 'refused' : 'none') };
    const world = new World({ target: 'ConfigMap', faults: refused });
    await world.until(() => world.condition('TargetsSynced') === 'False/WriteFailed', 10 * minuteMs);
    await watched(world, 3 * hourMs);
    assert.equal(world.condition('Ready'), 'True/Published', 'a target keeps the resource from being ready');
  },
  noConsent: async () => {
    const world = new World({ target: 'ConfigMap' });
    ownDocument(world, 'ConfigMap', ownText, false);
    await world.run(hourMs);
    assert.equal(documentText(world), ownText, 'a document was written without consent');
    ownDocument(world, 'ConfigMap');
    await world.run(2 * minuteMs);
    assert.equal(world.condition('TargetsSynced'), 'True/Synced');
  },
  foughtTarget: async () => {
    const world = new World({ target: 'Secret' });
    await world.until(() => world.condition('TargetsSynced') === 'True/Synced');
    for (let reverts = 0; reverts < 30; reverts += 1) {
      ownDocument(world, 'Secret');
      world.prompt();
      await world.run(10_000);
    }
    const writes = world.cluster.writes.filter(({ kind }) => kind === 'Document').length;
    assert.ok(writes <= 5, `${writes} writes in a fight over a target`);
  },
  dyingReader: async () => {
    let deaths = 2;
    const faults: FaultPlan = {
      next: (call) => {
        if (call !== 'bundles.inspect' || deaths === 0) return 'none';
        deaths -= 1;
        return 'crash-before';
      },
    };
    const world = new World({ faults });
    await world.until(() => world.condition('Ready') === 'True/Published', 10 * minuteMs);
    assert.equal(world.vendor.jobs.size, 1, 'a death of the reader cost an export');
  },
  forbiddenInputs: async () => {
    const world = await publishedWorld();
    world.vendor.forbidden.add('www.example.com');
    world.editSpec({ domain: 'www.example.com' });
    await watched(world, 3 * hourMs);
  },
} satisfies Readonly<Record<string, () => Promise<void>>>;
