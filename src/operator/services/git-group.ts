// Git targets that share one push, and what is known of their repository. Pure state, without timers of its own.
// Invariant: the failure that status shows keeps its words until another one lasts or the repository answers, so that a
// repository that stays unreadable causes one write of status.

import type { GitEdit, GitHeads } from '#operator/git/push-task.ts';
import type { GitFinding, GitWish } from '#operator/loop/ports.ts';
import type { WantedGitTarget } from '#operator/staticexport/wanted.ts';
import { givenKeys } from '#operator/targets/target-plan.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';

export interface GitEntry {
  readonly owner: ObjectKey;
  readonly id: string;
  readonly wish: GitWish;
  readonly group: GitGroup;
  finding: GitFinding;
  /** The wanted keys were pushed or found, so that other values are another client's. */
  isWritten: boolean;
  /** What a push was last begun with for this target, or for the entry before it: the file may hold it. */
  sent: string | undefined;
}

export interface GitProblem {
  readonly code: string;
  readonly message: string;
  /** It may pass by itself, so that one alone is not shown. */
  readonly isTemporary?: boolean;
}

export class GitGroup {
  readonly key: string;
  readonly namespace: string;
  /** What its targets have in common. */
  readonly repository: WantedGitTarget;
  readonly entries = new Set<GitEntry>();
  heads: GitHeads | undefined;
  failures = 0;
  /** Ends the current wait. */
  timer = new AbortController();
  /** On the monotonic clock. */
  dueAt = Number.POSITIVE_INFINITY;
  isRunning = false;
  #lastCode: string | undefined;
  #shown: GitProblem | undefined;

  constructor(namespace: string, repository: WantedGitTarget) {
    this.key = groupKey(namespace, repository);
    this.namespace = namespace;
    this.repository = repository;
  }

  /** Why the repository cannot be read, for status. */
  get unread(): string | undefined {
    return this.#shown && `${this.#shown.code}: ${this.#shown.message}`;
  }

  /** @returns whether status is to show something else. @param problem `undefined` after an answer */
  note(problem: GitProblem | undefined): boolean {
    const before = this.#shown;
    const isFirst = problem?.isTemporary !== true || this.#lastCode !== undefined;
    const isLasting = before === undefined ? isFirst : this.#lastCode === problem?.code;
    if (problem === undefined) this.#shown = undefined;
    else if (isLasting && problem.code !== before?.code) this.#shown = problem;
    this.#lastCode = problem?.code;
    return this.#shown !== before;
  }
}

/** Targets share a commit only if they share namespace, credentials, branches and author. */
export function groupKey(namespace: string, target: WantedGitTarget): string {
  const { url, branch, pullRequestBranch = '', secretName, author } = target;
  return JSON.stringify([namespace, secretName, url, branch, pullRequestBranch, author.name, author.email]);
}

export function editOf({ owner, wish, isWritten }: GitEntry, index: number): GitEdit {
  const { target, wanted } = wish;
  const { version, digest } = wanted;
  const keys = givenKeys(wanted);
  const parts: Readonly<Record<string, string>> = { ...owner, version: version ?? digest ?? '' };
  return {
    id: String(index),
    path: target.path,
    keyPath: target.keyPath,
    wanted: keys,
    subject: target.message.replaceAll(/\{(namespace|name|version)\}/g, (_all, name) => parts[name] ?? ''),
    body: `${owner.namespace}/${owner.name}: ${version ?? digest ?? ''}`,
    isDryRun: target.isDryRun,
    ...(isWritten && !target.isDryRun && { lastWritten: keys }),
  };
}
