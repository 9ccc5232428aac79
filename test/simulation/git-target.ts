// A git repository that a resource writes its version into: the spec that names it, the operator's groups of targets over
// it, and what must be true of it after every reconcile. Uses no randomness of the scenario; troubles say when.

import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { GitKeys } from '#operator/git/push-task.ts';
import type { GitTargets } from '#operator/loop/ports.ts';
import { createGitTargets } from '#operator/services/git-targets.ts';
import { parseStatus } from '#operator/staticexport/parse.ts';
import { givenKeys, type KeyName } from '#operator/targets/target-plan.ts';
import { isRecord } from '#platform/wire/json-text.ts';
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

/** What a person may change of the target: which keys are written, and where. */
export interface GitPlace {
  readonly keyPath: readonly string[];
  readonly write: readonly KeyName[];
  readonly isReviewed: boolean;
}

export class GitTarget {
  readonly shape: GitShape;
  readonly repository: FakeRepository;
  readonly #simulation: Simulation;
  #place: GitPlace;
  #hasToken = true;

  constructor(shape: GitShape, simulation: Simulation) {
    this.shape = shape;
    this.#simulation = simulation;
    this.repository = new FakeRepository(simulation.clock);
    this.repository.isMerging = shape === 'pull-request';
    this.#place = this.#firstPlace();
    this.putCredentials();
  }

  #firstPlace(): GitPlace {
    const write: readonly KeyName[] = this.#simulation.writesRef ? ['version', 'ref'] : ['version'];
    return { keyPath: ['staticExport'], write, isReviewed: this.shape === 'pull-request' };
  }

  /** An entry of `spec.targets`. */
  specTarget(): object {
    const { keyPath, write, isReviewed } = this.#place;
    const url = 'https://git.example.com/team/fleet.git';
    const review = isReviewed ? { pullRequestBranch } : {};
    return {
      ...{ name: targetName, type: 'Git', write },
      git: { url, path: gitPath, keyPath, secretRef: { name: secret.name }, ...review },
    };
  }

  /** A person edits the target in the spec. */
  edit(change: Partial<GitPlace>): void {
    this.#place = { ...this.#place, ...change };
    const spec = this.#simulation.object()?.spec;
    const targets: unknown = isRecord(spec) ? spec['targets'] : undefined;
    if (!Array.isArray(targets)) return;
    const isOurs = (target: unknown): boolean => isRecord(target) && target['name'] === targetName;
    this.#simulation.editSpec({
      targets: targets.map((target) => (isOurs(target) ? this.specTarget() : target)),
    });
  }

  get place(): GitPlace {
    return this.#place;
  }

  /** What the branch holds where the spec says. */
  held(): GitKeys | undefined {
    return this.repository.read(gitPath, 'main', this.#place.keyPath);
  }

  /** Whether another client replaced what was pushed there. */
  isReplaced(): boolean {
    return this.repository.isReplaced(gitPath, this.#place.keyPath);
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
    this.#hasToken = 'token' in data;
    this.#simulation.cluster.putSecret(secret, data);
  }

  /** Another client's commit. */
  revert(): void {
    this.repository.write(gitPath, { version: 'by-hand' }, this.#place.keyPath);
  }

  /** Another client puts back what the cluster publishes. */
  correct(): void {
    const { version, digest, ref } = this.#simulation.status().active ?? {};
    if (version === undefined) return;
    const { keyPath } = this.#place;
    this.repository.write(gitPath, givenKeys({ version, digest, ref }), keyPath);
  }

  /** The operator can read and push. */
  get isReachable(): boolean {
    const { failure, isHanging } = this.repository;
    return failure === undefined && !isHanging && this.#hasToken;
  }

  restore(): void {
    const { repository } = this;
    Object.assign(repository, {
      ...{ failure: undefined, isHanging: false },
      isMerging: this.shape === 'pull-request',
    });
    this.putCredentials();
    if (!isDeepStrictEqual(this.#place, this.#firstPlace())) this.edit(this.#firstPlace());
  }
}

/**
 * The rules of a git target: synced only if the branch holds the keys, contested only if another client replaced them,
 * and no revert is overwritten.
 */
export class GitOracles {
  readonly #simulation: Simulation;
  readonly #git: GitTarget;
  #behindSince: number | undefined;
  #accusingSince: number | undefined;
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
    if (!isQuiet || step.outcome === undefined) {
      this.#behindSince = undefined;
      this.#accusingSince = undefined;
    } else {
      this.#checkSynced(clock.monotonic());
      this.#checkContested(clock.monotonic());
    }
  }

  /** At the end, after a calm time. */
  checkSettled(): void {
    const version = this.#simulation.output()?.['version'];
    assert.equal(this.#git.held()?.version, version, 'the branch lacks the version after calm');
    if (this.#simulation.writesRef) {
      const ref = this.#simulation.output()?.['ref'];
      assert.equal(this.#git.held()?.ref, ref, 'the branch lacks the published reference after calm');
    }
    const { reason, message } = this.#state() ?? {};
    assert.equal(reason, 'Synced', `the target is not synced after calm: ${message}`);
  }

  #state() {
    const { targets } = parseStatus(this.#simulation.object()?.status);
    return targets?.find(({ name }) => name === targetName);
  }

  #checkSynced(now: number): void {
    const state = this.#state();
    const held = this.#git.held();
    const { active } = this.#simulation.status();
    const lacks = (name: KeyName, value: string | undefined): boolean =>
      this.#git.place.write.includes(name) && held?.[name] !== value;
    const isWrong =
      state?.synced === true &&
      (lacks('version', state.version) || lacks('digest', active?.digest) || lacks('ref', active?.ref));
    this.#behindSince = isWrong ? (this.#behindSince ?? now) : undefined;
    if (this.#behindSince === undefined) return;
    assert.ok(now - this.#behindSince <= noticeMs, `synced, while the branch holds ${held?.version}`);
  }

  #checkContested(now: number): void {
    const isWrong = this.#state()?.reason === 'Contested' && this.#git.isReachable && !this.#git.isReplaced();
    this.#accusingSince = isWrong ? (this.#accusingSince ?? now) : undefined;
    if (this.#accusingSince === undefined) return;
    assert.ok(now - this.#accusingSince <= noticeMs, 'contested, while no other client replaced the keys');
  }
}
