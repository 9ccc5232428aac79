// One short scenario for each rule of targets that write the reference of a mirrored copy: a document, an object and a git
// repository at once. Each passes with the product as it is, and fails with one function of it exchanged.

import assert from 'node:assert/strict';
import { type MirrorShape, mirrorSpec } from './fake-mirror.ts';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs } from './published-simulation.ts';
import { Simulation } from './simulation.ts';

function play(mirror: MirrorShape) {
  const simulation = new Simulation({ target: 'ConfigMap', object: 'HelmRelease', git: 'branch', mirror });
  simulation.vendor.linkLifetimeMs = 7 * 24 * hourMs;
  const oracles = new Oracles(simulation);
  const run = (ms: number): Promise<void> => simulation.run(ms, (step) => oracles.check(step));
  return { simulation, oracles, run };
}

export const refScenarios = {
  lateCopy: async () => {
    const { simulation, oracles, run } = play('best-effort');
    simulation.mirror.failing = 'Unreachable';
    await run(15 * minuteMs);
    assert.equal(
      simulation.condition('TargetsSynced'),
      'Unknown/AwaitingCopy',
      'a target has no copy to name',
    );
    simulation.mirror.failing = undefined;
    await run(hourMs);
    oracles.checkSettled();
  },
  movedCopy: async () => {
    const { simulation, oracles, run } = play('required');
    await run(15 * minuteMs);
    oracles.checkSettled();
    for (const moved of ['moved', 'moved-again']) {
      const { ref } = simulation.status().active ?? {};
      const repository = `registry.test/docs/${moved}`;
      simulation.editSpec({ mirror: { oci: { ...mirrorSpec.oci, repository } } });
      oracles.disturb();
      await run(hourMs);
      assert.notEqual(simulation.status().active?.ref, ref, 'the copy did not move');
      oracles.checkSettled();
      // The next process knows of the reference before by status alone.
      simulation.restart();
    }
  },
} as const;
