// One attempt on a pull-request branch, which is based on the branch. Commits on top of it; rebuilds it on the branch only
// if it holds nothing but this author's commits of these edits. Refuses to drop commits of others or of an unknown
// history, and to make the branch again for edits that were declined with it.

import {
  type Attempt,
  type AttemptContext,
  commitTexts,
  fetchHead,
  isToWrite,
  resultOf,
  revertedResult,
} from './attempt.ts';
import { type BranchHistory, compareHistories } from './branch-history.ts';
import { type EditPlan, planTree } from './edit-plan.ts';
import type { GitObjects } from './git-objects.ts';
import type { Commit } from './object-bytes.ts';
import type { GitEdit, GitEditResult } from './push-task.ts';
import type { Push } from './repository.ts';

/** Commits of the branch that are fetched to find where the pull-request branch parted from it, if they fit. */
const depth = 50;

const isApplied = (edit: GitEdit): boolean => edit.isDryRun !== true;

/**
 * @param branch of the pull request
 * @throws {GitFault}
 */
export async function tryOnPullRequest(context: AttemptContext, branch: string): Promise<Attempt> {
  const { task, repository } = context;
  const known = await repository.readHead(branch);
  const base = await fetchHead(context, task.branch, known === undefined ? 1 : depth);
  const { plans } = await planTree(repository.objects, base.tree, task.edits, isApplied);
  const open = task.edits.filter((edit) => isApplied(edit) && plans.get(edit.id)?.state === 'change');
  const settled = new Map(task.edits.map((edit) => [edit.id, resultOf(edit, plans.get(edit.id))]));
  const finish = (head: string | undefined, results: readonly GitEditResult[], commit?: string): Attempt => {
    for (const result of results) settled.set(result.id, result);
    return {
      head: head ?? base.oid,
      ...(commit === undefined ? {} : { commit }),
      heads: { branch: base.oid, ...(head === undefined ? {} : { pullRequestBranch: head }) },
      edits: task.edits.flatMap(({ id }) => settled.get(id) ?? []),
    };
  };
  if (open.length === 0) return finish(known, []);
  // Where it differs from the branch by more than fits, it is fetched alone. Its history is then unknown.
  const headOid = known === undefined ? undefined : await repository.fetch(branch, 1);
  const head = headOid === undefined ? undefined : await repository.objects.readCommit(headOid);
  if (known !== undefined && head === undefined) return 'behind';
  const work = await planWork(context, base, head, open);
  if (work.written.length === 0) return finish(head?.oid, work.results);
  for (const way of work.ways) {
    const { texts } = await planTree(repository.objects, way.parent.tree, way.edits, () => true);
    const commit = await commitTexts(context, way.parent, texts, way.edits);
    const push: Push = { commit, branch, expected: head?.oid, isForced: way.isForced };
    const pushed = await repository.push(push);
    if (pushed.outcome === 'behind') return 'behind';
    if (pushed.outcome === 'pushed') return finish(commit, work.results, commit);
    // A host that declines every forced push may accept a commit on top.
    if (way === work.ways.at(-1)) throw pushed.fault;
  }
  throw new Error('work that writes has a way');
}

interface Way {
  readonly parent: Commit;
  readonly edits: readonly GitEdit[];
  readonly isForced: boolean;
}

interface Work {
  /** Of the open edits. */
  readonly results: readonly GitEditResult[];
  readonly written: readonly GitEdit[];
  /** How the commit may be made, in order of preference. */
  readonly ways: readonly Way[];
}

/** @param open the edits that the branch does not hold */
async function planWork(
  { task, repository }: AttemptContext,
  base: Commit,
  head: Commit | undefined,
  open: readonly GitEdit[],
): Promise<Work> {
  const { objects } = repository;
  const history = head && (await compareHistories(objects, head.oid, base.oid, task.author));
  if (head === undefined || history === undefined || history.isMerged) {
    const written = open.filter(isToWrite);
    const results = open.map((edit) => writtenOrReverted(edit));
    // A merged branch moves forward, also where the fetched depth does not show it.
    return { results, written, ways: [{ parent: base, edits: written, isForced: head !== undefined }] };
  }
  const { plans } = await planTree(objects, head.tree, open, isToWrite);
  const isRefused = (edit: GitEdit): boolean => plans.get(edit.id)?.state === 'refused';
  const mayRebuild = await canRebuild(objects, history, base, head, open);
  const results = open.map((edit) =>
    mayRebuild && isRefused(edit) ? writtenOrReverted(edit) : resultOnTop(edit, plans.get(edit.id), history),
  );
  const idsOf = (outcome: GitEditResult['outcome']): ReadonlySet<string> =>
    new Set(results.flatMap((result) => (result.outcome === outcome ? [result.id] : [])));
  const ids = idsOf('written');
  const held = idsOf('awaiting-merge');
  const written = open.filter(({ id }) => ids.has(id));
  const onTop: Way = { parent: head, edits: written, isForced: false };
  const kept = open.filter(({ id }) => ids.has(id) || held.has(id));
  const rebuilt: Way = { parent: base, edits: kept, isForced: true };
  if (!mayRebuild) return { results, written, ways: [onTop] };
  return { results, written, ways: written.some(isRefused) ? [rebuilt] : [rebuilt, onTop] };
}

const writtenOrReverted = (edit: GitEdit): GitEditResult =>
  isToWrite(edit) ? { id: edit.id, outcome: 'written' } : revertedResult(edit);

function resultOnTop(edit: GitEdit, plan: EditPlan | undefined, history: BranchHistory): GitEditResult {
  const { id } = edit;
  if (plan?.state === 'held') return { id, outcome: 'awaiting-merge' };
  if (plan?.state !== 'refused' || !history.hasForeign) return resultOf(edit, plan);
  const message = `The pull-request branch holds commits of others, and the file cannot be edited there (${plan.code}). Merge or delete the branch.`;
  return { id, outcome: 'refused', code: 'ForeignCommits', message };
}

/**
 * Whether the branch may be made again on a base that moved: nothing is lost, because these edits make the same files of
 * the branch as of the commit where it started.
 */
async function canRebuild(
  objects: GitObjects,
  { isOurs, mergeBase }: BranchHistory,
  base: Commit,
  head: Commit,
  open: readonly GitEdit[],
): Promise<boolean> {
  if (!isOurs || mergeBase === undefined || mergeBase.oid === base.oid) return false;
  const edited = async ({ tree }: Commit): Promise<string> => {
    const { texts } = await planTree(objects, tree, open, () => true);
    return await objects.replaceFiles(tree, texts);
  };
  return (await edited(head)) === (await edited(mergeBase));
}
