// The state of a `git` target, from what is known of its file. Never waits: the repository is read and pushed to between
// reconciles, because a git server may hang. Invariants: after another client reverts the push, the file is only read until
// it is corrected, or the version or the spec changes; and no push of the operator counts as such a revert.

import { isDeepStrictEqual } from 'node:util';
import type { TargetStatus, WrittenPlace } from '#operator/staticexport/status-schema.ts';
import type { WantedGitTarget } from '#operator/staticexport/wanted.ts';
import type { KeyChange, KeyName, WantedKeys } from '#operator/targets/target-plan.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { GitFinding, GitTargets } from '../ports.ts';
import { wantedKeys } from './found-target.ts';
import { planId } from './target-edit.ts';
import { longestTargetMessage, recordOf, type TargetNeed, type TargetRecord } from './target-record.ts';

/** What a message starts with while the commit of the push is known. */
const commitForm = /^commit [0-9a-f]{12}/;

export function findGitTarget(
  target: WantedGitTarget,
  before: TargetStatus | undefined,
  input: TargetNeed & { readonly owner: ObjectKey; readonly isHurried: boolean },
  git: GitTargets,
): TargetStatus {
  const { owner, published, isHurried } = input;
  const { namespace, name } = owner;
  const stored = recordOf(target, before, input);
  // What was written elsewhere says nothing about this place. A contest ends with a new version or spec.
  const isKnown =
    isDeepStrictEqual(before?.written, placeOf(target)) &&
    (before?.reason !== 'Contested' || stored.isContested);
  const record = isKnown ? stored : stored.forgotten();
  const wish = { target, wanted: wantedKeys(target, published), isWritten: record.isOfPublished };
  const finding = git.find({ namespace, name }, planId(target), wish, isHurried);
  // A push of other values may reach the file before its status does. So the last write is not known to be there.
  const unconfirmed = recordOf(target, before && { ...before, written: undefined }, input);
  const isPlanKept = finding.kind === 'pending' && target.isDryRun && before?.reason === 'DryRun';
  if (isPlanKept) return before;
  const state = stateOf(finding, wish.wanted, target, { record, unconfirmed }, input.now);
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

/** @param record of the same place. @param unconfirmed the last write, without where it went */
function stateOf(
  finding: GitFinding,
  wanted: WantedKeys,
  target: WantedGitTarget,
  { record, unconfirmed }: { readonly record: TargetRecord; readonly unconfirmed: TargetRecord },
  now: number,
): TargetStatus {
  const { before, isOfPublished } = record;
  const notPushed = isOfPublished ? record : unconfirmed;
  const written = placeOf(target);
  switch (finding.kind) {
    case 'pending':
      if (!isOfPublished) return unconfirmed.asLacking('Pending');
      return before?.reason === 'Contested' ? before : record.asWaiting();
    case 'planned':
      return record.asDryRun(changesOf(finding.keys, wanted, target));
    case 'held':
    case 'awaiting-merge': {
      if (target.isDryRun) return record.asDryRun([]);
      const { commit } = finding;
      const seenAt = commit === undefined ? undefined : formatInstant(now);
      const writeTime = (isOfPublished ? before?.writeTime : undefined) ?? seenAt;
      if (finding.kind === 'awaiting-merge') {
        const message = `the branch ${target.pullRequestBranch} waits for its merge into ${target.branch}`;
        return record.asHeld({ state: 'awaiting-merge', message }, { writeTime, written });
      }
      const known = record.holdsWish ? commitForm.exec(before?.message ?? '') : undefined;
      const message = commit === undefined ? known?.[0] : `commit ${commit.slice(0, 12)}`;
      return record.asHeld(
        { state: 'complete' },
        { writeTime, written, ...(message !== undefined && { message }) },
      );
    }
    case 'reverted':
      return record.asContested({ message: finding.message, written });
    case 'refused':
      return notPushed.asRefused('Refused', `${finding.code}: ${finding.message}`);
    case 'failed':
      if (before?.reason === 'Contested') return before;
      return notPushed.asRefused('PushFailed', `${finding.code}: ${finding.message}`);
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
