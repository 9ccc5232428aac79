// What a push says of each target's file, as a finding of the loop; and which findings need no further push. Pure.
// Invariant: a finding that needs no push stays when a later task fails.

import type { GitEditResult } from '#operator/git/push-task.ts';
import type { GitFinding, GitWish } from '#operator/loop/ports.ts';
import type { WantedGitTarget } from '#operator/staticexport/wanted.ts';
import { keyNames } from '#operator/targets/target-plan.ts';

/** @param commit of the task, if one was pushed */
export function findingOf(
  edit: GitEditResult,
  { pullRequestBranch }: WantedGitTarget,
  commit: string | undefined,
): GitFinding {
  switch (edit.outcome) {
    case 'written':
      return { kind: pullRequestBranch === undefined ? 'held' : 'awaiting-merge', commit };
    case 'unchanged':
      return { kind: 'held', commit: undefined };
    case 'awaiting-merge':
      return { kind: 'awaiting-merge', commit: undefined };
    case 'reverted':
      return { kind: 'reverted', message: edit.message };
    case 'planned':
      return { kind: 'planned', keys: edit.keys };
    case 'refused':
      return { kind: 'refused', code: edit.code, message: edit.message };
    default:
      return edit satisfies never;
  }
}

/** True if both want the same keys in the same place. */
export function isKnownWish(one: GitWish, other: GitWish): boolean {
  const textOf = ({ target, wanted }: GitWish): string =>
    JSON.stringify([target, ...keyNames.map((name) => wanted[name] ?? '')]);
  return textOf(one) === textOf(other);
}

/** Equal texts are the same values in the same place. */
export function contentTextOf({ target, wanted }: GitWish): string {
  const { url, branch, pullRequestBranch = '', path, keyPath } = target;
  return JSON.stringify([
    url,
    branch,
    pullRequestBranch,
    path,
    keyPath,
    ...keyNames.map((name) => wanted[name] ?? ''),
  ]);
}

/** True if nothing is to be pushed: the branch is only compared, and a task that fails changes nothing. */
export function isSettled({ kind }: GitFinding): boolean {
  return kind === 'held' || kind === 'awaiting-merge' || kind === 'planned' || kind === 'reverted';
}

/** The commit is known only once; a later look at the same content does not forget it. */
export function isSameFinding(one: GitFinding, other: GitFinding): boolean {
  if (one.kind === 'held' || one.kind === 'awaiting-merge') {
    return other.kind === one.kind && (other.commit === undefined || other.commit === one.commit);
  }
  return JSON.stringify(one) === JSON.stringify(other);
}
