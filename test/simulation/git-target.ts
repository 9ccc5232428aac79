// A git repository that a resource writes its version into: the spec that names it, the operator's groups of targets over
// it, and what must be true of it after every reconcile. Uses no randomness of the scenario; troubles say when.

import assert from 'node:assert/strict';
import type { GitTargets } from '../../src/loop/ports.ts';
import { createGitTargets } from '../../src/services/git-targets.ts';
import { parseStatus } from '../../src/staticexport/parse.ts';
import { Dice } from './dice.ts';
import { FakeRepository } from './fake-repository.ts';
import type { Simulation, Step } from './simulation.ts';

export type GitShape = 'branch' | 'pull-request';

export const gitPath = 'clusters/prod/values.yaml';
export const pullRequestBranch = 'static-export/docs';
const targetName = 'fleet';
const secret = { namespace: 'docs', name: 'fleet-git' };
/** The heads are compared every five minutes, up to a tenth later; then the reconcile, and slack. */
const noticeMs = 7 * 60_000;

export class GitTarget {
  readonly shape: GitShape;
  readonly repository: FakeRepository;
  readonly #simulation: Simulation;

  constructor(shape: GitShape, simulation: Simulation) {
    this.shape = shape;
    this.#simulation = simulation;
    this.repository = new FakeRepository(simulation.clock);
    this.repository.isMerging = shape === 'pull-request';
    this.putCredentials();
  }

  /** An entry of `spec.targets`. */
  specTarget(): object {
    const review = this.shape === 'pull-request' ? { pullRequestBranch } : {};
    const url = 'https://git.example.com/team/fleet.git';
    return {
      ...{ name: targetName, type: 'Git' },
      git: { url, path: gitPath, secretRef: { name: secret.name }, ...review },
    };
  }

  /** The groups of one process. */
  open(wake: () => void, signal: AbortSignal): GitTargets {
    const { clock, cluster } = this.#simulation;
    return createGitTargets({
      clock,
      random: new Dice(1).random(),
      pusher: this.repository,
      settings: () =>
        Promise.resolve({
          allowPrivateAddresses: false,
          userAgent: 'simulation',
          limits: { maxBytes: 1, deadlineMs: 1 },
        }),
      allowedHosts: ['git.example.com'],
      readSecret: async (key) => cluster.secrets.get(`${key.namespace}/${key.name}`),
      wake,
      observe: () => {},
      signal,
    });
  }

  putCredentials(data: Record<string, string> = { token: 'token-of-fleet' }): void {
    this.#simulation.cluster.putSecret(secret, data);
  }

  /** Another client's commit. */
  revert(): void {
    this.repository.write(gitPath, { version: 'by-hand' });
  }

  restore(): void {
    const { repository } = this;
    Object.assign(repository, {
      ...{ failure: undefined, isHanging: false },
      isMerging: this.shape === 'pull-request',
    });
    this.putCredentials();
  }
}

/** The rules of a git target: synced only if the branch holds the version, and no revert is overwritten. */
export class GitOracles {
  readonly #simulation: Simulation;
  readonly #git: GitTarget;
  #behindSince: number | undefined;
  #overwritten = 0;
  #pushes = 0;
  /** At the last push. */
  #pushed: { readonly generation: number | undefined; readonly crashes: number } | undefined;

  constructor(simulation: Simulation, git: GitTarget) {
    this.#simulation = simulation;
    this.#git = git;
  }

  /** @param isQuiet no fault in this step, and none of its parts failed */
  check(step: Step, isQuiet: boolean): void {
    const { clock, crashes } = this.#simulation;
    const { repository } = this.#git;
    const generation = this.#simulation.object()?.metadata.generation;
    // A push whose status was lost in a crash is not known to be ours.
    const isSame = generation === this.#pushed?.generation && crashes === this.#pushed?.crashes;
    const { overwritten } = repository;
    if (isSame) assert.equal(overwritten, this.#overwritten, "another client's commit was overwritten");
    if (repository.pushes !== this.#pushes) this.#pushed = { generation, crashes };
    this.#overwritten = overwritten;
    this.#pushes = repository.pushes;
    assert.equal(repository.spareCommits, 0, 'a commit that changes nothing was pushed');
    if (!isQuiet || step.outcome === undefined) this.#behindSince = undefined;
    else this.#checkSynced(clock.monotonic());
  }

  /** At the end, after a calm time. */
  checkSettled(): void {
    const version = this.#simulation.output()?.['version'];
    assert.equal(
      this.#git.repository.read(gitPath)?.version,
      version,
      'the branch lacks the version after calm',
    );
  }

  #checkSynced(now: number): void {
    const { targets } = parseStatus(this.#simulation.object()?.status);
    const state = targets?.find(({ name }) => name === targetName);
    const held = this.#git.repository.read(gitPath)?.version;
    const isWrong = state?.synced === true && state.version !== held;
    this.#behindSince = isWrong ? (this.#behindSince ?? now) : undefined;
    if (this.#behindSince === undefined) return;
    assert.ok(now - this.#behindSince <= noticeMs, `synced, while the branch holds ${held}`);
  }
}
