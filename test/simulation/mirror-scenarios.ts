// One short scenario for each rule of mirrors. Each passes with the product as it is, and fails with one function of it
// exchanged.

import assert from 'node:assert/strict';
import { type MirrorShape, mirrorFields } from './fake-mirror.ts';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs, nextVerdict, request } from './published-simulation.ts';
import { Simulation } from './simulation.ts';

const dayMs = 24 * hourMs;

interface Played {
  readonly simulation: Simulation;
  readonly oracles: Oracles;
  /** Plays on, under the oracles. */
  run(ms: number): Promise<void>;
}

async function play(shape: MirrorShape, spec: Record<string, unknown> = {}): Promise<Played> {
  const simulation = new Simulation({ mirror: shape, spec });
  simulation.vendor.linkLifetimeMs = 7 * dayMs;
  const oracles = new Oracles(simulation);
  const run = (ms: number): Promise<void> => simulation.run(ms, (step) => oracles.check(step));
  await run(15 * minuteMs);
  oracles.checkSettled();
  return { simulation, oracles, run };
}

function exportAnew(simulation: Simulation): void {
  simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
  request(simulation, 'second');
}

export const mirrorScenarios = {
  mirrorAway: async () => {
    const { simulation, oracles, run } = await play('required');
    simulation.mirror.failing = 'Unreachable';
    exportAnew(simulation);
    await run(2 * hourMs);
    simulation.mirror.failing = undefined;
    await run(hourMs);
    oracles.checkSettled();
  },
  lostCopy: async () => {
    const { simulation, oracles, run } = await play('required');
    simulation.mirror.copies.clear();
    await run(25 * hourMs);
    oracles.checkSettled();
  },
  quietMirror: async () => {
    const { simulation, run } = await play('linkless');
    const calls = simulation.vendor.calls.length;
    await run(10 * dayMs);
    assert.equal(simulation.vendor.calls.length, calls, 'the export API was called between two exports');
    const looks = simulation.mirror.calls.filter((call) => call === 'look').length;
    assert.ok(looks <= 12, `the copy was looked at ${looks} times in ten days`);
  },
  droppedLink: async () => {
    const { simulation, oracles, run } = await play('required');
    simulation.editSpec(mirrorFields('linkless'));
    await run(2 * hourMs);
    oracles.checkSettled();
  },
  rollbackToCopy: async () => {
    const { simulation } = await play('required');
    const { version } = simulation.status().active ?? {};
    exportAnew(simulation);
    assert.equal(await nextVerdict(simulation), 'Promoted');
    simulation.vendor.failing = 'NetworkError';
    simulation.editSpec({ pin: { version } });
    await simulation.run(10 * minuteMs);
    assert.equal(simulation.output()?.['version'], version, 'a rollback to a copy waits for the vendor');
  },
  retainedCopies: async () => {
    const { simulation, run } = await play('retained', { historyLimit: 2 });
    exportAnew(simulation);
    await run(6 * dayMs);
    assert.deepEqual(simulation.mirror.removed, [], 'a copy that is listed was deleted');
  },
};
