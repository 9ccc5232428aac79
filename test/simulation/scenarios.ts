// Short scenarios without randomness, one for each rule that a mutation breaks: they pass with the product and fail
// with the rule's message under the mutation. Owns the events; the oracles and one assertion each judge them.

import assert from 'node:assert/strict';
import { createMemory } from '#operator/loop/memory.ts';
import { reconcile } from '#operator/loop/reconcile.ts';
import { recordVersion } from '#operator/reconcile/history.ts';
import { type FaultPlan, noFaults } from './faults.ts';
import { gitScenarios } from './git-scenarios.ts';
import { mirrorScenarios } from './mirror-scenarios.ts';
import { objectScenarios } from './object-scenarios.ts';
import { Oracles } from './oracles.ts';
import { foreignData } from './publication-oracles.ts';
import {
  configMapId,
  hourMs,
  minuteMs,
  nextVerdict,
  publishedSimulation,
  request,
} from './published-simulation.ts';
import { refScenarios } from './ref-scenarios.ts';
import {
  keySecret,
  outputName,
  resource,
  Simulation,
  type SimulationOptions,
  type Step,
} from './simulation.ts';
import { documentText, ownDocument, ownText } from './target-document.ts';

async function watched(simulation: Simulation, ms: number, excused = 0): Promise<void> {
  const oracles = new Oracles(simulation);
  oracles.excused = excused;
  await simulation.run(ms, (step) => oracles.check(step));
}

const hooked: SimulationOptions = { spec: { trigger: {} } };

/** The duration of a scenario whose export was just requested. */
const exportMs = 10 * minuteMs;

async function wholeDay(options: SimulationOptions = {}): Promise<void> {
  const simulation = new Simulation({ spec: { schedule: '0 3 * * *' }, ...options });
  const oracles = new Oracles(simulation);
  await simulation.run(24 * hourMs, (step) => oracles.check(step));
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

function exportAnew(simulation: Simulation, name: string, pages = 20): void {
  simulation.vendor.contents.set('docs.example.com', { name, pages });
  request(simulation, name);
}

export const scenarios = {
  ...objectScenarios,
  ...gitScenarios,
  ...refScenarios,
  ...mirrorScenarios,
  day: () => wholeDay(),
  quietDay: async () => {
    const simulation = new Simulation();
    simulation.vendor.linkLifetimeMs = 7 * 24 * hourMs;
    await watched(simulation, 24 * hourMs);
  },
  lostStart: () => wholeDay({ faults: losing('api.startJob', 1) }),
  busyProject: async () => {
    const simulation = new Simulation({
      spec: { api: { keySecretRef: { name: 'export-api' }, projectId: 'p1' } },
    });
    const oracles = new Oracles(simulation);
    for (let count = 0; count < 12; count += 1) {
      simulation.restart();
      request(simulation, `token-${count}`);
      await simulation.run(4 * minuteMs, (step) => oracles.check(step));
    }
  },
  prompt: async () => {
    const simulation = new Simulation();
    await simulation.until(() => simulation.condition('Ready') === 'True/Published', 10 * minuteMs);
  },
  sameLink: async () => {
    const simulation = await publishedSimulation();
    simulation.vendor.isCachingLinks = true;
    await simulation.run(20 * minuteMs);
    const before = simulation.cluster.writes.filter(({ kind }) => kind === 'Secret').length;
    const known = simulation.vendor.links.size;
    await watched(simulation, 3 * hourMs);
    const writes = simulation.cluster.writes.filter(({ kind }) => kind === 'Secret').length - before;
    assert.ok(writes <= simulation.vendor.links.size - known, 'a link was written that was issued again');
  },
  silentStart: async () => {
    const simulation = new Simulation({ faults: losing('api.startJob', 100) });
    await watched(simulation, hourMs, 100);
    const keys = simulation.vendor.calls
      .filter(({ kind }) => kind === 'start')
      .map((one) => one.idempotencyKey);
    for (const key of keys) {
      const sent = keys.filter((other) => other === key).length;
      assert.ok(sent <= 3, `one start was sent ${sent} times`);
    }
  },
  sleepingLeader: async () => {
    const simulation = await publishedSimulation();
    const asleep = Promise.withResolvers<void>();
    const awake = Promise.withResolvers<void>();
    const { signal } = new AbortController();
    const context = simulation.context(createMemory(signal));
    const probe: typeof context.bundles.probe = async (link, passing) => {
      asleep.resolve();
      await awake.promise;
      return context.bundles.probe(link, passing);
    };
    await simulation.clock.pass(11 * minuteMs);
    const sleeping = { ...context, bundles: { ...context.bundles, probe } };
    const late = reconcile(resource, sleeping, signal).catch(() => undefined);
    await asleep.promise;
    exportAnew(simulation, 'second');
    await nextVerdict(simulation);
    const version = simulation.output()?.['version'];
    awake.resolve();
    await late;
    assert.equal(simulation.output()?.['version'], version, 'rolled back by a leader that slept');
  },
  shrunk: async () => {
    const simulation = await publishedSimulation();
    const version = simulation.output()?.['version'];
    exportAnew(simulation, 'shrunk', 9);
    await watched(simulation, exportMs);
    assert.equal(simulation.output()?.['version'], version, 'published past its promotion gate');
  },
  rejected: async () => {
    const simulation = await publishedSimulation({ spec: { schedule: '0 * * * *' } });
    exportAnew(simulation, 'shrunk', 9);
    await nextVerdict(simulation);
    simulation.annotate({ 'staticexport.dev/reject': simulation.status().candidate?.version ?? '' });
    await watched(simulation, 2 * hourMs);
    assert.equal(simulation.condition('Exported'), 'False/Rejected');
  },
  empty: async () => {
    const simulation = new Simulation();
    simulation.vendor.contents.set('docs.example.com', { name: 'empty', pages: 0 });
    await simulation.run(hourMs);
    assert.equal(simulation.output(), undefined, 'published past its promotion gate');
  },
  twoExports: async () => {
    const simulation = await publishedSimulation();
    const version = simulation.output()?.['version'];
    request(simulation, 'again');
    await watched(simulation, exportMs);
    assert.equal(simulation.output()?.['version'], version, 'the same content was promoted');
    exportAnew(simulation, 'second');
    await nextVerdict(simulation);
    assert.notEqual(simulation.output()?.['version'], version, 'new content was not promoted');
  },
  failingStarts: async () => {
    const simulation = new Simulation();
    simulation.vendor.failing = 'BadRequest';
    await simulation.run(6 * hourMs);
    assert.ok(
      simulation.callsOf('start') < 20,
      `${simulation.callsOf('start')} starts in six hours of refusals`,
    );
  },
  refusedKey: async () => {
    const simulation = new Simulation();
    simulation.vendor.validKey = 'svc_secret-two';
    await watched(simulation, 2 * hourMs);
    assert.equal(simulation.vendor.calls.length, 1, 'calls with a refused key');
  },
  retryAfter: async () => {
    const simulation = new Simulation();
    simulation.vendor.failing = 'RateLimited';
    simulation.vendor.retryAfterMs = 10 * minuteMs;
    const other = { namespace: 'docs', name: 'other' };
    simulation.cluster.create(other, {
      domain: 'docs.example.com',
      api: { keySecretRef: { name: 'export-api' } },
    });
    const { signal } = new AbortController();
    const context = simulation.context(createMemory(signal));
    await simulation.clock.finish(reconcile(resource, context, signal));
    await simulation.clock.finish(reconcile(other, context, signal));
    assert.equal(simulation.vendor.calls.length, 1, 'called before Retry-After was over');
  },
  retryAfterStorm: async () => {
    const simulation = await publishedSimulation({ spec: { schedule: '*/10 * * * *' } });
    simulation.vendor.failing = 'RateLimited';
    simulation.vendor.retryAfterMs = hourMs;
    await watched(simulation, 3 * hourMs);
  },
  forbiddenKey: async () => {
    const simulation = new Simulation();
    simulation.vendor.failing = 'Forbidden';
    await watched(simulation, 2 * hourMs);
  },
  changedKey: async () => {
    const simulation = await publishedSimulation();
    simulation.vendor.failing = 'Forbidden';
    await simulation.until(() => simulation.status().failures?.link !== undefined, 15 * minuteMs);
    // Past the reconcile at the end of the grace period; no other comes before the link expires.
    await simulation.run(2 * minuteMs);
    simulation.vendor.failing = undefined;
    simulation.cluster.putSecret(keySecret, { apiKey: simulation.vendor.validKey });
    await simulation.run(hourMs, ({ wasLinkValid: wasLinkLive }) =>
      assert.ok(wasLinkLive, 'a link expired although its key was changed in time'),
    );
  },
  foreignOutput: async () => {
    const simulation = await publishedSimulation();
    simulation.cluster.secrets.delete(configMapId);
    simulation.cluster.putSecret({ namespace: resource.namespace, name: outputName }, foreignData);
    simulation.prompt();
    await watched(simulation, hourMs);
  },
  pastSecret: async () => {
    const simulation = new Simulation();
    simulation.vendor.linkLifetimeMs = 7 * 24 * hourMs;
    const oracles = new Oracles(simulation);
    const judge = (step: Step): Promise<void> => oracles.check(step);
    await simulation.run(exportMs, judge);
    exportAnew(simulation, 'second');
    await simulation.run(exportMs, judge);
    const version = simulation.output()?.['version'];
    simulation.cluster.secrets.delete(configMapId);
    simulation.cluster.putSecret({ namespace: resource.namespace, name: outputName }, foreignData);
    simulation.prompt();
    await judge(await simulation.step());
    simulation.faults = { next: (call) => (call === 'cluster.readSecret' ? 'replayed' : 'none') };
    await oracles.check(await simulation.step(), true);
    simulation.faults = noFaults;
    const reported = simulation.cluster.configMaps.get(configMapId)?.data['version'];
    assert.equal(reported, version, 'the ConfigMap went back to an older version');
    simulation.cluster.secrets.delete(configMapId);
    simulation.prompt();
    await simulation.run(exportMs, judge);
    assert.equal(simulation.output()?.['version'], version, 'rolled back to an older version');
  },
  oldLink: async () => {
    const simulation = new Simulation();
    const oracles = new Oracles(simulation);
    const judge = (step: Step): Promise<void> => oracles.check(step);
    await simulation.run(5 * minuteMs, judge);
    // Issued again at its refresh time only; the next link request gives another link.
    simulation.vendor.isCachingLinks = true;
    await simulation.run(6 * minuteMs, judge);
    simulation.vendor.isCachingLinks = false;
    await simulation.run(hourMs, judge);
  },
  unknownOnce: async () => {
    const simulation = await publishedSimulation();
    let reads = 1;
    simulation.faults = {
      next: (call) => (call === 'cluster.readStaticExport' && reads-- > 0 ? 'absent' : 'none'),
    };
    const oracles = new Oracles(simulation);
    simulation.prompt();
    await oracles.check(await simulation.step(), true);
    await simulation.run(3 * hourMs, (step) => oracles.check(step));
    oracles.checkSettled();
  },
  deadOnArrival: async () => {
    const simulation = await publishedSimulation();
    simulation.vendor.unusableLinks = 1;
    await simulation.run(12 * minuteMs);
    assert.ok(simulation.isLinkValid(), 'an expired link is published although the export API answers');
  },
  lostJob: async () => {
    const simulation = await publishedSimulation();
    simulation.vendor.jobs.delete(simulation.status().active?.jobId ?? '');
    await simulation.run(2 * hourMs);
    assert.ok(simulation.isLinkValid(), 'no valid link after the published job was lost');
  },
  lostOutput: async () => {
    const simulation = await publishedSimulation();
    simulation.cluster.secrets.delete('docs/site-bundle');
    simulation.prompt();
    await simulation.until(() => simulation.output() !== undefined, 10 * minuteMs);
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
    const simulation = await publishedSimulation();
    const version = simulation.output()?.['version'];
    exportAnew(simulation, 'second');
    await simulation.step();
    simulation.vendor.readMs = 600_000;
    await simulation.until(
      () =>
        simulation.status().job?.completionTime !== undefined &&
        simulation.status().job?.verdict === undefined,
    );
    simulation.editSpec({ suspend: true });
    simulation.restart();
    simulation.vendor.readMs = 1000;
    await simulation.run(2 * hourMs);
    assert.equal(simulation.output()?.['version'], version, 'promoted while suspended');
  },
  setBack: async () => {
    const simulation = await publishedSimulation();
    simulation.vendor.linkLifetimeMs = hourMs;
    await simulation.run(44 * minuteMs);
    // Set back by nearly all of the link's age, which then appears to be a minute.
    const issuedAt = Date.parse(simulation.status().active?.linkIssueTime ?? '');
    simulation.jump(issuedAt + minuteMs - simulation.clock.now());
    simulation.prompt();
    await simulation.run(2 * hourMs, ({ wasLinkValid: wasLinkLive }) =>
      assert.ok(wasLinkLive, 'a link outlived by a clock set back'),
    );
  },
  failingTarget: async () => {
    const refused: FaultPlan = { next: (call) => (call === 'cluster.editDocument' ? 'refused' : 'none') };
    const simulation = new Simulation({ target: 'ConfigMap', faults: refused });
    await simulation.until(
      () => simulation.condition('TargetsSynced') === 'False/WriteFailed',
      10 * minuteMs,
    );
    await watched(simulation, 3 * hourMs);
    assert.equal(
      simulation.condition('Ready'),
      'True/Published',
      'a target keeps the resource from being ready',
    );
  },
  noConsent: async () => {
    const simulation = new Simulation({ target: 'ConfigMap' });
    ownDocument(simulation, 'ConfigMap', ownText, false);
    await simulation.run(hourMs);
    assert.equal(documentText(simulation), ownText, 'a document was written without consent');
    ownDocument(simulation, 'ConfigMap');
    await simulation.run(2 * minuteMs);
    assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  },
  foughtTarget: async () => {
    const simulation = new Simulation({ target: 'Secret' });
    await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced');
    for (let reverts = 0; reverts < 30; reverts += 1) {
      ownDocument(simulation, 'Secret');
      simulation.prompt();
      await simulation.run(10_000);
    }
    const writes = simulation.cluster.writes.filter(({ kind }) => kind === 'Document').length;
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
    const simulation = new Simulation({ faults });
    await simulation.until(() => simulation.condition('Ready') === 'True/Published', 10 * minuteMs);
    assert.equal(simulation.vendor.jobs.size, 1, 'a death of the reader cost an export');
  },
  burstOfHooks: async () => {
    const simulation = await publishedSimulation(hooked);
    const starts = simulation.callsOf('start');
    const oracles = new Oracles(simulation);
    simulation.hook(50, 5000);
    await simulation.run(6 * minuteMs, (step) => oracles.check(step));
    assert.equal(simulation.callsOf('start') - starts, 1, 'the end of the quiet period starts no export');
    await simulation.run(hourMs, (step) => oracles.check(step));
    assert.equal(
      simulation.callsOf('start') - starts,
      1,
      'a burst of hooks starts another number of exports',
    );
    oracles.checkSettled();
  },
  endlessHooks: async () => {
    const simulation = await publishedSimulation(hooked);
    const starts = simulation.callsOf('start');
    const oracles = new Oracles(simulation);
    simulation.hook(240, minuteMs / 2);
    await simulation.run(2 * hourMs, (step) => oracles.check(step));
    const exports = simulation.callsOf('start') - starts;
    assert.ok(exports >= 10 && exports <= 13, `${exports} exports in two hours of hooks`);
  },
  hookInBackoff: async () => {
    const simulation = await publishedSimulation(hooked);
    simulation.vendor.failing = 'BadRequest';
    simulation.hook(20, 2 * minuteMs);
    const oracles = new Oracles(simulation);
    await simulation.run(2 * hourMs, (step) => oracles.check(step));
    simulation.vendor.failing = undefined;
    await simulation.run(2 * hourMs, (step) => oracles.check(step));
    oracles.checkSettled();
  },
  hookDuringJob: async () => {
    const simulation = await publishedSimulation(hooked);
    const starts = simulation.callsOf('start');
    simulation.vendor.jobMs = 10 * minuteMs;
    request(simulation, 'long');
    await simulation.until(() => simulation.callsOf('start') === starts + 1);
    simulation.hook(3, minuteMs);
    const oracles = new Oracles(simulation);
    await simulation.run(hourMs, (step) => oracles.check(step));
    assert.equal(
      simulation.callsOf('start') - starts,
      2,
      'the hooks during a job start another number of exports',
    );
    oracles.checkSettled();
  },
  forbiddenInputs: async () => {
    const simulation = await publishedSimulation();
    simulation.vendor.forbidden.add('www.example.com');
    simulation.editSpec({ domain: 'www.example.com' });
    await watched(simulation, 3 * hourMs);
  },
} satisfies Readonly<Record<string, () => Promise<void>>>;
