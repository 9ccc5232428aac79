// The state of a `git` target, from what is known of its file. Never waits: the repository is read and pushed to between
// reconciles, because a git server may hang. Invariant: after another client reverts the push, the file is not written
// again until the version or the spec changes.

import type { PublishedBundle } from '../../bundle/published-bundle.ts';
import type { TargetStatus } from '../../staticexport/status-schema.ts';
import type { WantedGitTarget } from '../../staticexport/wanted.ts';
import type { KeyChange, WantedKeys } from '../../targets/target-plan.ts';
import type { ObjectMeta } from '../../wire/cluster.ts';
import { formatInstant } from '../../wire/instant.ts';
import type { GitFinding, GitTargets } from '../ports.ts';
import { wantedKeys } from './object-targets.ts';
import { dryRun, planId } from './target-edit.ts';
import { held, holdsWish, lastWrite, recordOf, refused, waiting } from './target-records.ts';

interface GitInput {
  readonly owner: ObjectMeta;
  readonly now: number;
  readonly isHurried: boolean;
  readonly published: PublishedBundle;
}

export function findGitTarget(
  target: WantedGitTarget,
  before: TargetStatus | undefined,
  { owner, now, isHurried, published }: GitInput,
  git: GitTargets,
): TargetStatus {
  const wanted = wantedKeys(target, published);
  const { namespace, name } = owner;
  // A spec that changed after the contest asks to write again.
  const isWritten = before?.reason !== 'Contested' && isWrittenBy(before, published);
  const wish = { target, wanted, isWritten };
  const finding = git.find({ namespace, name }, planId(target), wish, isHurried);
  return stateOf(finding, wanted, target, before, { owner, now, published });
}

function isWrittenBy(before: TargetStatus | undefined, { version }: PublishedBundle): boolean {
  return before?.version === version && before.writeTime !== undefined;
}

function stateOf(
  finding: GitFinding,
  wanted: WantedKeys,
  target: WantedGitTarget,
  before: TargetStatus | undefined,
  { owner, now, published }: Omit<GitInput, 'isHurried'>,
): TargetStatus {
  switch (finding.kind) {
    case 'pending':
      return before?.reason === 'DryRun' && target.isDryRun ? before : waiting(target, before, published);
    case 'planned':
      return dryRun(target, before, changesOf(finding.keys, wanted, target));
    case 'held':
    case 'awaiting-merge': {
      if (target.isDryRun) return dryRun(target, before, []);
      const { commit } = finding;
      const writeTime = isWrittenBy(before, published) ? before?.writeTime : undefined;
      const record = {
        writeTime: writeTime ?? (commit === undefined ? undefined : formatInstant(now)),
        revertTimes: undefined,
      };
      const known = holdsWish(target, before, published) ? before.message : undefined;
      if (finding.kind === 'awaiting-merge') {
        const message = `the branch ${target.pullRequestBranch} waits for its merge into ${target.branch}`;
        return held(target, published, { state: 'awaiting-merge', message }, record);
      }
      const message = commit === undefined ? known : `commit ${commit.slice(0, 12)}`;
      return {
        ...held(target, published, { state: 'complete' }, record),
        ...(message !== undefined && { message }),
      };
    }
    case 'reverted': {
      const { version } = published;
      const contestedGeneration = owner.generation;
      const reason = { synced: false, reason: 'Contested', message: finding.message, contestedGeneration };
      return { ...lastWrite(before), ...recordOf(target), ...reason, version };
    }
    case 'refused':
      return refused(target, before, 'Refused', `${finding.code}: ${finding.message}`);
    case 'failed':
      return refused(target, before, 'PushFailed', `${finding.code}: ${finding.message}`);
    default:
      return finding satisfies never;
  }
}

function changesOf(
  keys: readonly ('version' | 'digest')[],
  wanted: WantedKeys,
  { keyPath }: WantedGitTarget,
): readonly KeyChange[] {
  return keys.map((name) => {
    const value = wanted[name];
    // Status shows 64 characters of a key.
    const key = [...keyPath, name].join('.').slice(-64);
    return { key, ...(value !== undefined && { value }) };
  });
}
