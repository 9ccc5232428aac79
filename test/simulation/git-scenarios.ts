// One short scenario for each rule of git targets. Each passes with the product as it is, and fails with one function of
// it exchanged.

import assert from 'node:assert/strict';
import { faultAt } from './faults.ts';
import type { GitShape, GitTarget } from './git-target.ts';
import { Oracles } from './oracles.ts';
import { hourMs, minuteMs, request } from './published-simulation.ts';
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
    const { simulation, git, oracles, run } = await play('branch');
    for (const place of ['docs', 'pages']) {
      for (const change of [
        { keyPath: ['site', place], write: ['version'] },
        { write: ['version', 'digest'] },
        { write: ['digest'] },
        { keyPath: ['staticExport'] },
      ] as const) {
        // A new process knows of the place before by status alone.
        if (place === 'pages') simulation.restart();
        git.edit(change);
        await run(15 * minuteMs);
        oracles.checkSettled();
      }
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
  undoneRollback: async () => {
    const { simulation, git, run } = await play('branch');
    const { tasks } = git.repository;
    const first = simulation.status().active?.version;
    simulation.vendor.contents.set('docs.example.com', { name: 'second', pages: 20 });
    request(simulation, 'second');
    await run(15 * minuteMs);
    const second = simulation.status().active?.version;
    for (const isCrash of [false, true]) {
      simulation.editSpec({ pin: { version: first } });
      const count = tasks.length;
      while (tasks.length === count) await run(200);
      // The process ends after the push, before its status.
      if (isCrash) simulation.faults = faultAt(0, 'crash-before', []);
      if (isCrash) await run(1000);
      simulation.editSpec({ pin: { version: second } });
      await run(15 * minuteMs);
      assert.equal(simulation.condition('TargetsSynced'), 'True/Synced', 'its own push counts as a revert');
      assert.equal(git.held()?.version, second);
    }
    assert.equal(git.repository.pushes, 6, 'a rollback was not pushed');
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
