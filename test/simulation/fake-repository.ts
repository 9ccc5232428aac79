// A git repository as the thread that pushes sees it: the keys at each place of its branches, and how many commits were
// pushed. It may refuse, hang or be changed by another client. Takes half a second for each task. A place is a path with
// the names that lead to the keys.

import type {
  GitEdit,
  GitEditResult,
  GitFailureCode,
  GitHeads,
  GitKeys,
  GitPushResult,
  GitPushTask,
} from '#operator/git/push-task.ts';
import type { GitPusher } from '#operator/services/git-targets.ts';
import { type KeyName, keyNames } from '#operator/targets/target-plan.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';

const taskMs = 500;
const defaultKeyPath: readonly string[] = ['staticExport'];

export class FakeRepository implements GitPusher {
  /** Branch → place → keys. */
  readonly #branches = new Map<string, Map<string, GitKeys>>([['main', new Map()]]);
  readonly tasks: GitPushTask[] = [];
  readonly subjects: string[] = [];
  headsRead = 0;
  commits = 0;
  /** Commits of ours. */
  pushes = 0;
  /** Keys of another client were replaced by those that were pushed before. */
  overwritten = 0;
  /** Commits of ours that changed nothing. */
  spareCommits = 0;
  /** Pull requests are merged at the next look. */
  isMerging = false;
  /** The keys of our last commit, by place. */
  readonly #pushed = new Map<string, GitKeys>();
  /** Places where another client replaced what we pushed. */
  readonly #replaced = new Set<string>();
  /** Every task fails so. */
  failure: GitFailureCode | undefined;
  /** Every task fails so that reads files. */
  fetchFailure: GitFailureCode | undefined;
  /** No task ends before its signal aborts. */
  isHanging = false;
  readonly #clock: Pick<Clock, 'after'>;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** What a reviewer did since the last look. */
  #review({ pullRequestBranch }: GitPushTask): void {
    if (!this.isMerging || pullRequestBranch === undefined) return;
    if (this.#branches.has(pullRequestBranch)) this.merge(pullRequestBranch);
  }

  /** Another client's commit. */
  write(path: string, keys: GitKeys, keyPath = defaultKeyPath): void {
    this.#replace(placeOf(path, keyPath), keys);
    this.commits += 1;
  }

  #replace(place: string, keys: GitKeys): void {
    const ours = this.#pushed.get(place);
    if (ours === undefined || holds(keys, ours)) this.#replaced.delete(place);
    else this.#replaced.add(place);
    this.#branch('main').set(place, keys);
  }

  read(path: string, branch = 'main', keyPath = defaultKeyPath): GitKeys | undefined {
    return this.#branches.get(branch)?.get(placeOf(path, keyPath));
  }

  /** Whether another client replaced what we pushed there. */
  isReplaced(path: string, keyPath = defaultKeyPath): boolean {
    return this.#replaced.has(placeOf(path, keyPath));
  }

  merge(branch: string): void {
    for (const [place, keys] of this.#branch(branch)) this.#replace(place, keys);
    this.#branches.delete(branch);
    this.commits += 1;
  }

  async push(task: GitPushTask, _owner: string, signal: AbortSignal): Promise<GitPushResult> {
    this.tasks.push(task);
    await this.#clock.after(this.isHanging ? 90_000 : taskMs, signal);
    if (this.isHanging) throw failed('Timeout');
    const failure = this.failure ?? this.fetchFailure;
    if (failure !== undefined) throw failed(failure);
    this.#review(task);
    const { branch, pullRequestBranch, edits } = task;
    const results = edits.map((edit) => this.#edit(edit, branch, pullRequestBranch));
    const isPushed = results.some(({ outcome }) => outcome === 'written');
    if (isPushed) {
      this.pushes += 1;
      this.commits += 1;
      const [only] = edits;
      this.subjects.push(edits.length === 1 && only !== undefined ? only.subject : `${edits.length} edits`);
    }
    const heads = this.#heads(task);
    const head = heads.branch;
    return { head, heads, edits: results, ...(isPushed && { commit: head }) };
  }

  async readHeads(task: GitPushTask, _owner: string, signal: AbortSignal): Promise<GitHeads> {
    this.headsRead += 1;
    await this.#clock.after(taskMs, signal);
    if (this.isHanging) throw failed('Timeout');
    if (this.failure !== undefined) throw failed(this.failure);
    this.#review(task);
    return this.#heads(task);
  }

  #heads({ pullRequestBranch }: GitPushTask): GitHeads {
    const head = String(this.commits).padStart(40, '0');
    const hasBranch = pullRequestBranch !== undefined && this.#branches.has(pullRequestBranch);
    return { branch: head, ...(hasBranch && { pullRequestBranch: head }) };
  }

  #branch(name: string): Map<string, GitKeys> {
    const branch = this.#branches.get(name) ?? new Map<string, GitKeys>();
    this.#branches.set(name, branch);
    return branch;
  }

  #edit(edit: GitEdit, branch: string, pullRequestBranch: string | undefined): GitEditResult {
    const { id, path, keyPath, wanted, lastWritten, isDryRun } = edit;
    const found = this.read(path, branch, keyPath);
    if (holds(found, wanted)) return { id, outcome: 'unchanged' };
    if (isDryRun) return { id, outcome: 'planned', keys: missingKeys(found, wanted) };
    if (pullRequestBranch !== undefined && holds(this.read(path, pullRequestBranch, keyPath), wanted)) {
      return { id, outcome: 'awaiting-merge' };
    }
    if (lastWritten !== undefined && holds(lastWritten, wanted)) {
      return { id, outcome: 'reverted', message: 'another commit replaced the version; ask its author' };
    }
    const target = this.#branch(pullRequestBranch ?? branch);
    const place = placeOf(path, keyPath);
    const before = target.get(place) ?? found;
    if (holds(before, wanted)) this.spareCommits += 1;
    if (this.#replaced.delete(place) && holds(this.#pushed.get(place), wanted)) this.overwritten += 1;
    this.#pushed.set(place, wanted);
    target.set(place, { ...before, ...wanted });
    return { id, outcome: 'written' };
  }
}

const placeOf = (path: string, keyPath: readonly string[]): string => JSON.stringify([path, ...keyPath]);

const missingKeys = (found: GitKeys | undefined, wanted: GitKeys): readonly KeyName[] =>
  keyNames.filter((name) => wanted[name] !== undefined && found?.[name] !== wanted[name]);

const holds = (found: GitKeys | undefined, wanted: GitKeys): boolean =>
  missingKeys(found, wanted).length === 0;

function failed(code: GitFailureCode): PublishableError {
  const isTemporary = code === 'Timeout' || code === 'Unreachable';
  return new PublishableError(code, 'it failed; check the git server', {
    kind: isTemporary ? 'retry' : 'stall',
  });
}
