// What the attempts of a push share: their context, the commit of edited files, and what each edit became. Invariant: an
// attempt ends with a result, with `behind`, or with a fault.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import { writeCommitMessage } from './commit-message.ts';
import { type EditPlan, wasWritten } from './edit-plan.ts';
import type { GitFault } from './git-fault.ts';
import type { Commit } from './object-bytes.ts';
import type { GitEdit, GitEditResult, GitPushResult, GitPushTask } from './push-task.ts';
import type { GitRepository } from './repository.ts';
import type { SigningKey } from './ssh-signature.ts';

/** What an attempt works with. */
export interface AttemptContext {
  readonly task: GitPushTask;
  readonly repository: GitRepository;
  readonly key: SigningKey | undefined;
  /** Epoch milliseconds of the commit. */
  readonly now: () => number;
}

/** `behind`: another client pushed since the fetch. */
export type Attempt = GitPushResult | 'behind';

/** @param depth as of `Repository.fetch`. @throws {GitFault} `BranchNotFound` or `EmptyRepository` */
export async function fetchHead(
  { repository }: AttemptContext,
  branch: string,
  depth: number,
): Promise<Commit> {
  const oid = await repository.fetch(branch, depth);
  if (oid === undefined) throw await branchNotFound(branch, repository);
  const commit = await repository.objects.readCommit(oid);
  if (commit === undefined) {
    throw new PublishableError('Unreachable', 'The git host sent no commit for the branch.', {
      kind: 'retry',
    });
  }
  return commit;
}

export async function branchNotFound(branch: string, repository: GitRepository): Promise<GitFault> {
  return (await repository.isEmpty())
    ? new PublishableError(
        'EmptyRepository',
        'The repository has no commit yet. Push a first commit with the file.',
      )
    : new PublishableError(
        'BranchNotFound',
        `The repository has no branch ${branch}. Correct the branch, or make it.`,
      );
}

/** Whether a change of this edit is written: not in a dry run, and not where another client reverted it. */
export const isToWrite = (edit: GitEdit): boolean => edit.isDryRun !== true && !wasWritten(edit);

/** @returns the id of a commit on top of `parent`, which no branch names yet */
export async function commitTexts(
  { task, repository, key, now }: AttemptContext,
  parent: Commit,
  texts: ReadonlyMap<string, string>,
  edits: readonly GitEdit[],
): Promise<string> {
  const { author, skipsCi = task.pullRequestBranch === undefined } = task;
  const { objects } = repository;
  const tree = await objects.replaceFiles(parent.tree, texts);
  const message = writeCommitMessage(edits, skipsCi);
  return await objects.commit({ tree, parent: parent.oid, message, author, at: now(), key });
}

/** What an edit became on the branch that is pushed to, once the texts are there. */
export function resultOf(edit: GitEdit, plan: EditPlan | undefined): GitEditResult {
  const { id } = edit;
  if (plan === undefined) throw new Error('every edit has a plan');
  if (plan.state === 'held') return { id, outcome: 'unchanged' };
  if (plan.state === 'refused') return { id, outcome: 'refused', code: plan.code, message: plan.message };
  if (edit.isDryRun === true) return { id, outcome: 'planned', keys: plan.keys };
  return isToWrite(edit) ? { id, outcome: 'written' } : revertedResult(edit);
}

export function revertedResult({ id, wanted }: GitEdit): GitEditResult {
  const wish = Object.entries(wanted).map(([name, value]) => `${name} ${value}`);
  const message = `Another commit replaced what the operator wrote. To keep that commit, pin its version in spec.pin. Otherwise put ${wish.join(' and ')} into the file, or change any field of the spec to have it written again.`;
  return { id, outcome: 'reverted', message };
}
