// What a server's report about a push means: another client was faster, or the host declined it. Pure. Refuses to take a
// race for a refusal: only a refusal stops the attempts.

import type { PushResult } from 'isomorphic-git';
import { declined, GitFault, quoteRemote } from './git-fault.ts';

/** `behind`: the branch moved, nothing was pushed. `declined`: the host refused it, for this reason. */
export type PushOutcome =
  | { readonly outcome: 'pushed' }
  | { readonly outcome: 'behind' }
  | { readonly outcome: 'declined'; readonly fault: GitFault };

/** What git answers where another client updated the branch between the lease and the update. */
const raceForm =
  /failed to update ref|cannot lock ref|incorrect old value|reference already exists|fetch first|stale info|is at [0-9a-f]{40} but expected/i;

/** @param lines what the host's hooks printed */
export function pushFailure(
  result: PushResult,
  branch: string,
  lines: readonly string[],
  isForced: boolean,
): PushOutcome {
  const reasons = Object.values(result.refs).flatMap((ref) => (ref.ok ? [] : [ref.error ?? '']));
  const isRace = reasons.some((reason) => raceForm.test(reason));
  if (isRace || (!isForced && reasons.some((reason) => /non-fast-forward/i.test(reason)))) {
    return { outcome: 'behind' };
  }
  if (!result.ok) {
    const fault = new GitFault(
      'Unexpected',
      `The git host could not store the commit: "${quoteRemote([result.error ?? ''])}". Check its disk and quota. Retrying.`,
      { isTemporary: true },
    );
    return { outcome: 'declined', fault };
  }
  return { outcome: 'declined', fault: declined(branch, [...lines, ...reasons]) };
}
