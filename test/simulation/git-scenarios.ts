// One short scenario for each rule of git targets. Each passes with the product as it is, and fails with one function of
// it exchanged.

import assert from 'node:assert/strict';
import type { GitShape, GitTarget } from './git-target.ts';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs } from './published-simulation.ts';
import { Simulation } from './simulation.ts';

interface Played {
  readonly simulation: Simulation;
  readonly git: GitTarget;
  readonly oracles: Oracles;
  /** Plays on, under the oracles. */
  run(ms: number): Promise<void>;
}

async function play(shape: GitShape, arrange: (git: GitTarget) => void = () => {}): Promise<Played> {
  const simulation = new Simulation({ git: shape });
  const { git } = simulation.owned;
  if (git === undefined) throw new Error('a simulation without a repository');
  arrange(git);
  simulation.vendor.linkLifetimeMs = 7 * 24 * hourMs;
  const oracles = new Oracles(simulation);
  const run = (ms: number): Promise<void> => simulation.run(ms, (step) => oracles.check(step));
  await run(15 * minuteMs);
  return { simulation, git, oracles, run };
}

export const gitScenarios = {
  pushedVersion: async () => {
    const { git, oracles, run } = await play('branch');
    await run(hourMs);
    assert.equal(git.repository.tasks.length, 1, 'an unmoved branch was fetched');
    oracles.checkSettled();
  },
  mergedVersion: async () => {
    const { oracles, run } = await play('pull-request');
    await run(hourMs);
    oracles.checkSettled();
  },
  revertedPush: async () => {
    const { simulation, git, oracles, run } = await play('branch');
    git.revert();
    await run(hourMs);
    assert.equal(simulation.condition('TargetsSynced'), 'False/Contested', 'a revert is not noticed');
    simulation.restart();
    await run(hourMs);
    // A new spec asks to write again.
    simulation.editSpec({ historyLimit: 3 });
    await run(hourMs);
    oracles.checkSettled();
  },
  correctedRevert: async () => {
    const { simulation, git, oracles, run } = await play('branch');
    git.revert();
    await run(hourMs);
    simulation.restart();
    await run(hourMs);
    assert.equal(simulation.condition('TargetsSynced'), 'False/Contested', 'a revert is not noticed');
    git.correct();
    await run(15 * minuteMs);
    assert.equal(git.repository.pushes, 1, 'a corrected file was written');
    oracles.checkSettled();
  },
  movedKeys: async () => {
    const { git, oracles, run } = await play('branch');
    for (const change of [
      { keyPath: ['site', 'docs'] },
      { write: ['version', 'digest'] },
      { write: ['digest'] },
      { keyPath: ['staticExport'] },
    ] as const) {
      git.edit(change);
      await run(15 * minuteMs);
      oracles.checkSettled();
    }
  },
  endedReview: async () => {
    const { simulation, git, oracles, run } = await play('pull-request', ({ repository }) => {
      repository.isMerging = false;
    });
    assert.equal(simulation.condition('TargetsSynced'), 'Unknown/AwaitingMerge');
    git.edit({ isReviewed: false });
    await run(15 * minuteMs);
    oracles.checkSettled();
    git.edit({ keyPath: ['site'], isReviewed: true });
    await run(15 * minuteMs);
    assert.equal(simulation.condition('TargetsSynced'), 'Unknown/AwaitingMerge');
    git.repository.isMerging = true;
    await run(15 * minuteMs);
    oracles.checkSettled();
  },
  hangingGitServer: async () => {
    const { simulation, git, oracles, run } = await play('branch', ({ repository }) => {
      repository.isHanging = true;
    });
    assert.equal(simulation.condition('Ready'), 'True/Published', 'a git server delays the status');
    await run(hourMs);
    assert.ok(
      git.repository.tasks.length <= 16,
      `${git.repository.tasks.length} tasks in an hour of hanging`,
    );
    git.restore();
    await run(hourMs);
    oracles.checkSettled();
  },
} as const;
