// Where two branches parted, as far as they were fetched, and whose commits one of them holds alone. Refuses to guess: a
// history that ends at the fetched depth is incomplete. Pure but for the reads of commits.

import type { Commit, Person } from './object-bytes.ts';

export interface BranchHistory {
  /** The other branch holds every commit of this one. */
  readonly isMerged: boolean;
  /** Where the branches parted; absent where that is beyond the fetched commits, or is not one commit. */
  readonly mergeBase: Commit | undefined;
  /** All commits of this branch alone are by the author; false where not all of them are known. */
  readonly isOurs: boolean;
  /** A commit of this branch alone is by another author. */
  readonly hasForeign: boolean;
}

export interface CommitReader {
  readCommit(oid: string): Promise<Commit | undefined>;
}

/** @param head of the branch that is judged; @param base head of the other one */
export async function compareHistories(
  commits: CommitReader,
  head: string,
  base: string,
  author: Person,
): Promise<BranchHistory> {
  const other = new Set((await reach(commits, base, () => false)).found.map(({ oid }) => oid));
  const { found, stops, isComplete } = await reach(commits, head, (oid) => other.has(oid));
  const isBy = ({ name, email }: Person): boolean => name === author.name && email === author.email;
  const hasForeign = found.some((commit) => !isBy(commit.author) || !isBy(commit.committer));
  const [mergeBase, ...more] = [...stops];
  return {
    isMerged: other.has(head),
    mergeBase: mergeBase === undefined || more.length > 0 ? undefined : await commits.readCommit(mergeBase),
    isOurs: isComplete && !hasForeign,
    hasForeign,
  };
}

/** Commits from `start` back to those where the walk stops, or to the fetched depth. */
async function reach(commits: CommitReader, start: string, isStop: (oid: string) => boolean) {
  const found: Commit[] = [];
  const stops = new Set<string>();
  const seen = new Set([start]);
  let isComplete = true;
  for (const oid of seen) {
    if (isStop(oid)) {
      stops.add(oid);
      continue;
    }
    const commit = await commits.readCommit(oid);
    if (commit === undefined) isComplete = false;
    else {
      found.push(commit);
      for (const parent of commit.parents) seen.add(parent);
    }
  }
  return { found, stops, isComplete };
}
