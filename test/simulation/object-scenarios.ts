// One short scenario for each rule of other owners' objects. Each passes with the product as it is, and fails with one
// function of it exchanged.

import assert from 'node:assert/strict';
import type { ObjectShape, ObjectTarget } from './object-target.ts';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs, request } from './published-simulation.ts';
import { Simulation } from './simulation.ts';

interface Played {
  readonly simulation: Simulation;
  readonly object: ObjectTarget;
  /** Plays on, under the oracles. */
  run(ms: number): Promise<void>;
}

/** Published, and rolled out unless the arrangement prevents it. */
async function play(shape: ObjectShape, arrange: (object: ObjectTarget) => void = () => {}): Promise<Played> {
  const simulation = new Simulation({ object: shape });
  const { object } = simulation.owned;
  if (object === undefined) throw new Error('a simulation without an object');
  arrange(object);
  object.own();
  simulation.vendor.linkLifetimeMs = 7 * 24 * hourMs;
  const oracles = new Oracles(simulation);
  const run = (ms: number): Promise<void> => simulation.run(ms, (step) => oracles.check(step));
  await run(15 * minuteMs);
  return { simulation, object, run };
}

/** Ends what the scenario arranged; then the version must be rolled out. */
async function settle({ simulation, object, run }: Played): Promise<void> {
  object.restore();
  simulation.editSpec({ historyLimit: 3 });
  await run(hourMs);
  new Oracles(simulation).checkSettled();
}

const rolledOut = (shape: ObjectShape) => async (): Promise<void> => settle(await play(shape));

export const objectScenarios = {
  releasedObject: rolledOut('HelmRelease'),
  syncedObject: rolledOut('Application'),
  requestedObject: rolledOut('Application without automated sync'),
  listedObject: rolledOut('Application with sources'),
  writtenText: rolledOut('Application with text'),
  restartedPods: rolledOut('Deployment'),
  objectWithoutConsent: async () => {
    const played = await play('HelmRelease', (object) => {
      object.isConsenting = false;
    });
    await played.run(hourMs);
    await settle(played);
  },
  declaredObject: async () => {
    const played = await play('Application', (object) => {
      object.declared = 'from-git';
    });
    await played.run(hourMs);
    await settle(played);
  },
  sharedKey: async () => {
    const played = await play('HelmRelease');
    const { simulation, object, run } = played;
    object.declared = simulation.output()?.['version'];
    object.own();
    await run(10 * minuteMs);
    object.declared = undefined;
    simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
    simulation.annotate({ 'staticexport.dev/requestedAt': 'second' });
    await run(hourMs);
    new Oracles(simulation).checkSettled();
  },
  foughtObject: async () => {
    const played = await play('HelmRelease', (object) => {
      object.revertsAfterMs = 1000;
    });
    await played.run(2 * hourMs);
    await settle(played);
  },
  /** The process ends after it published the next version, so that status still names the contested one. */
  versionAfterFight: async () => {
    const played = await play('HelmRelease', (object) => {
      object.revertsAfterMs = 1000;
    });
    const { simulation, object, run } = played;
    await run(20 * minuteMs);
    assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
    object.restore();
    const { version } = simulation.output() ?? {};
    let isCrashed = false;
    simulation.faults = {
      next: (call) => {
        if (isCrashed || call !== 'cluster.applyConfigMap') return 'none';
        isCrashed = true;
        return 'crash-before';
      },
    };
    simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
    request(simulation, 'second');
    await run(20 * minuteMs);
    assert.ok(isCrashed && simulation.output()?.['version'] !== version);
    assert.equal(object.live, simulation.output()?.['version'], 'a new version does not end the contest');
    await settle(played);
  },
  failingSync: async () => {
    const played = await play('Application without automated sync', (object) => {
      object.ending = 'fails';
      object.rolloutMs = 3000;
    });
    await played.run(2 * hourMs);
    await settle(played);
  },
  slowObject: async () => {
    const played = await play('Deployment');
    const { simulation, run } = played;
    simulation.cluster.objects.meanwhile = (call) => simulation.clock.after(call === 'read' ? 1000 : 14_000);
    await run(hourMs);
    await settle(played);
  },
} satisfies Readonly<Record<string, () => Promise<void>>>;
