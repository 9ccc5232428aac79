// One attempt on the branch itself: fetch its head, edit, commit on top, push without force. Refuses to write an edit
// again that another client reverted. Invariant: nothing is pushed where no file changes.

import { type Attempt, type AttemptContext, commitTexts, fetchHead, isToWrite, resultOf } from './attempt.ts';
import { planTree } from './edit-plan.ts';

/** @throws {GitFault} */
export async function tryOnBranch(context: AttemptContext): Promise<Attempt> {
  const { task, repository } = context;
  const head = await fetchHead(context, task.branch, 1);
  const { plans, texts } = await planTree(repository.objects, head.tree, task.edits, isToWrite);
  const edits = task.edits.map((edit) => resultOf(edit, plans.get(edit.id)));
  if (texts.size === 0) return { head: head.oid, heads: { branch: head.oid }, edits };
  const written = task.edits.filter((_edit, at) => edits[at]?.outcome === 'written');
  const commit = await commitTexts(context, head, texts, written);
  const push = { commit, branch: task.branch, expected: head.oid, isForced: false };
  const pushed = await repository.push(push);
  if (pushed.outcome === 'declined') throw pushed.fault;
  if (pushed.outcome === 'behind') return 'behind';
  return { head: commit, commit, heads: { branch: commit }, edits };
}
