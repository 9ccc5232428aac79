// A git repository as the thread that pushes sees it: the keys at each path of its branches, and how many commits were
// pushed. It may refuse, hang or be changed by another client. Takes half a second for each task.

import type {
  GitEdit,
  GitEditResult,
  GitFailureCode,
  GitHeads,
  GitKeys,
  GitPushResult,
  GitPushTask,
} from '../../src/git/push-task.ts';
import type { Clock } from '../../src/runtime/clock.ts';
import type { GitPusher } from '../../src/services/git-targets.ts';

const taskMs = 500;

export class FakeRepository implements GitPusher {
  /** Branch → path → keys. */
  readonly branches = new Map<string, Map<string, GitKeys>>([['main', new Map()]]);
  readonly tasks: GitPushTask[] = [];
  readonly subjects: string[] = [];
  headsRead = 0;
  commits = 0;
  /** Commits of ours. */
  pushes = 0;
  /** A version of another client was replaced by one that was pushed before. */
  overwritten = 0;
  /** Commits of ours that changed nothing. */
  spareCommits = 0;
  /** Pull requests are merged at the next look. */
  isMerging = false;
  /** The version of our last commit, by path. */
  readonly #pushed = new Map<string, string | undefined>();
  /** Every task fails so. */
  failure: GitFailureCode | undefined;
  /** No task ends before its signal aborts. */
  isHanging = false;
  readonly #clock: Pick<Clock, 'after'>;

  constructor(clock: Pick<Clock, 'after'>) {
    this.#clock = clock;
  }

  /** What a reviewer did since the last look. */
  #review({ pullRequestBranch }: GitPushTask): void {
    if (!this.isMerging || pullRequestBranch === undefined) return;
    if (this.branches.has(pullRequestBranch)) this.merge(pullRequestBranch);
  }

  /** Another client's commit. */
  write(path: string, keys: GitKeys, branch = 'main'): void {
    this.#branch(branch).set(path, keys);
    this.commits += 1;
  }

  read(path: string, branch = 'main'): GitKeys | undefined {
    return this.branches.get(branch)?.get(path);
  }

  merge(branch: string): void {
    for (const [path, keys] of this.#branch(branch)) this.#branch('main').set(path, keys);
    this.branches.delete(branch);
    this.commits += 1;
  }

  async push(task: GitPushTask, _owner: string, signal: AbortSignal): Promise<GitPushResult> {
    this.tasks.push(task);
    await this.#clock.after(this.isHanging ? 90_000 : taskMs, signal);
    if (this.isHanging) return failed('Timeout');
    if (this.failure !== undefined) return failed(this.failure);
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
    return { outcome: 'done', head, heads, edits: results, ...(isPushed && { commit: head }) };
  }

  async readHeads(task: GitPushTask, _owner: string, signal: AbortSignal): Promise<GitHeads | undefined> {
    this.headsRead += 1;
    await this.#clock.after(taskMs, signal);
    if (this.failure === undefined && !this.isHanging) this.#review(task);
    return this.failure === undefined && !this.isHanging ? this.#heads(task) : undefined;
  }

  #heads({ pullRequestBranch }: GitPushTask): GitHeads {
    const head = String(this.commits).padStart(40, '0');
    const hasBranch = pullRequestBranch !== undefined && this.branches.has(pullRequestBranch);
    return { branch: head, ...(hasBranch && { pullRequestBranch: head }) };
  }

  #branch(name: string): Map<string, GitKeys> {
    const branch = this.branches.get(name) ?? new Map<string, GitKeys>();
    this.branches.set(name, branch);
    return branch;
  }

  #edit(edit: GitEdit, branch: string, pullRequestBranch: string | undefined): GitEditResult {
    const { id, path, wanted, lastWritten, isDryRun } = edit;
    if (holds(this.read(path, branch), wanted)) return { id, outcome: 'unchanged' };
    if (isDryRun) return { id, outcome: 'planned', keys: ['version'] };
    if (pullRequestBranch !== undefined && holds(this.read(path, pullRequestBranch), wanted)) {
      return { id, outcome: 'awaiting-merge' };
    }
    if (lastWritten?.version === wanted.version) {
      return { id, outcome: 'reverted', message: 'another commit replaced the version; ask its author' };
    }
    const target = this.#branch(pullRequestBranch ?? branch);
    const found = target.get(path) ?? this.read(path, branch);
    if (holds(found, wanted)) this.spareCommits += 1;
    if (this.#pushed.get(path) === wanted.version) this.overwritten += 1;
    this.#pushed.set(path, wanted.version);
    target.set(path, wanted);
    return { id, outcome: 'written' };
  }
}

const holds = (found: GitKeys | undefined, wanted: GitKeys): boolean =>
  wanted.version === undefined || found?.version === wanted.version;

function failed(code: GitFailureCode): GitPushResult {
  return { outcome: 'failed', code, message: 'it failed; check the git server', isTemporary: true };
}
