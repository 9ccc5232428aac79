// The state of a `git` target, from what is known of its file. Never waits: the repository is read and pushed to between
// reconciles, because a git server may hang. Invariant: after another client reverts the push, the file is only read until
// it is corrected, or the version or the spec changes.

import { isDeepStrictEqual } from 'node:util';
import type { PublishedBundle } from '#bundle/published-bundle.ts';
import type { TargetStatus, WrittenPlace } from '#operator/staticexport/status-schema.ts';
import type { WantedGitTarget } from '#operator/staticexport/wanted.ts';
import type { KeyChange, KeyName, WantedKeys } from '#operator/targets/target-plan.ts';
import type { ObjectMeta } from '#platform/wire/cluster.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { GitFinding, GitTargets } from '../ports.ts';
import { wantedKeys } from './object-targets.ts';
import { dryRun, planId } from './target-edit.ts';
import {
  contentOf,
  heldTarget,
  holdsWish,
  isContested,
  isOfPublished,
  lastWrite,
  longestTargetMessage,
  recordOf,
  refused,
  waiting,
} from './target-records.ts';

/** What a message starts with while the commit of the push is known. */
const commitForm = /^commit [0-9a-f]{12}/;

interface GitInput {
  readonly owner: ObjectMeta;
  readonly now: number;
  readonly published: PublishedBundle;
}

export function findGitTarget(
  target: WantedGitTarget,
  before: TargetStatus | undefined,
  input: GitInput & { readonly isHurried: boolean },
  git: GitTargets,
): TargetStatus {
  const { owner, published, isHurried } = input;
  const { namespace, name } = owner;
  // What was written elsewhere says nothing about this place. A contest ends with a new version or spec.
  const isKnown =
    isDeepStrictEqual(before?.written, placeOf(target)) &&
    (before?.reason !== 'Contested' || isContested(target, before, owner, published));
  const record = isKnown ? before : undefined;
  const isWritten = isOfPublished(target, record, published);
  const wish = { target, wanted: wantedKeys(target, published), isWritten };
  const finding = git.find({ namespace, name }, planId(target), wish, isHurried);
  const isPlanKept = finding.kind === 'pending' && target.isDryRun && before?.reason === 'DryRun';
  if (isPlanKept) return before;
  const state = stateOf(finding, wish.wanted, target, record, input);
  const { unread } = finding;
  if (unread === undefined) return state;
  const known = state.message === undefined ? '' : `${state.message.replace(/\.$/, '')}. `;
  return { ...state, message: printable(`${known}The last check failed. ${unread}`, longestTargetMessage) };
}

/** Where a write goes and what it changes. After an edit of it, other values are not another client's. */
function placeOf(target: WantedGitTarget): WrittenPlace {
  const { branch, pullRequestBranch = branch, keyPath, writesVersion, writesDigest, writesRef } = target;
  const keys: WrittenPlace['keys'] = [];
  if (writesVersion) keys.push('version');
  if (writesDigest) keys.push('digest');
  if (writesRef) keys.push('ref');
  return { branch: pullRequestBranch, keyPath: [...keyPath], keys };
}

/** @param before of the same place */
function stateOf(
  finding: GitFinding,
  wanted: WantedKeys,
  target: WantedGitTarget,
  before: TargetStatus | undefined,
  { owner, now, published }: GitInput,
): TargetStatus {
  switch (finding.kind) {
    case 'pending':
      return before?.reason === 'Contested' ? before : waiting(target, before, published);
    case 'planned':
      return dryRun(target, before, changesOf(finding.keys, wanted, target));
    case 'held':
    case 'awaiting-merge': {
      if (target.isDryRun) return dryRun(target, before, []);
      const { commit } = finding;
      const writeTime = isOfPublished(target, before, published) ? before.writeTime : undefined;
      const record = {
        writeTime: writeTime ?? (commit === undefined ? undefined : formatInstant(now)),
        revertTimes: undefined,
      };
      const written = placeOf(target);
      if (finding.kind === 'awaiting-merge') {
        const message = `the branch ${target.pullRequestBranch} waits for its merge into ${target.branch}`;
        return { ...heldTarget(target, published, { state: 'awaiting-merge', message }, record), written };
      }
      const known = holdsWish(target, before, published) ? commitForm.exec(before.message ?? '') : undefined;
      const message = commit === undefined ? known?.[0] : `commit ${commit.slice(0, 12)}`;
      return {
        ...heldTarget(target, published, { state: 'complete' }, record),
        ...{ written, ...(message !== undefined && { message }) },
      };
    }
    case 'reverted': {
      const content = contentOf(target, published);
      const contestedGeneration = owner.generation;
      const reason = { synced: false, reason: 'Contested', message: finding.message, contestedGeneration };
      return { ...lastWrite(before), ...recordOf(target), ...reason, ...content, written: placeOf(target) };
    }
    case 'refused':
      return refused(target, before, 'Refused', `${finding.code}: ${finding.message}`);
    case 'failed':
      if (before?.reason === 'Contested') return before;
      return refused(target, before, 'PushFailed', `${finding.code}: ${finding.message}`);
    default:
      return finding satisfies never;
  }
}

function changesOf(
  keys: readonly KeyName[],
  wanted: WantedKeys,
  { keyPath }: WantedGitTarget,
): readonly KeyChange[] {
  return keys.map((name) => {
    const value = wanted[name];
    // Status shows 64 characters of a key.
    const key = [...keyPath, name].join('.').slice(-64).toWellFormed();
    return { key, ...(value !== undefined && { value }) };
  });
}
