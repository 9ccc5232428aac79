// The git targets of a run, as one of its destinations: what is known of each file, kept as the reconcile finds it. Refuses:
// the work itself (services/git-targets.ts). Invariant: a target whose repository was not read in this run is not done, so
// that a run notices what was changed there since the last one.

import type { GitFinding, GitTargets } from '#operator/loop/ports.ts';
import type { TargetReason } from '#operator/staticexport/reasons.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import { CliError } from '../cli-error.ts';
import type { RunDestination } from '../publish/publisher.ts';

export interface GitDestination {
  /** For the reconcile. */
  readonly port: GitTargets;
  /** @param status a contest that an earlier run found is only there, and so is a target that waits for a copy */
  read(status: Pick<Status, 'targets' | 'conditions'>): RunDestination;
}

const awaitingCopy: string = 'AwaitingCopy' satisfies TargetReason;
const noCopy = 'the published version has no copy in the mirror yet';

interface Found {
  readonly name: string;
  readonly finding: GitFinding;
}

export function watchGitTargets(git: GitTargets): GitDestination {
  const found = new Map<string, Found>();
  return {
    port: {
      find: (owner, id, wish, isHurried) => {
        const finding = git.find(owner, id, wish, isHurried);
        found.set(id, { name: wish.target.targetName, finding });
        return finding;
      },
      keep: (owner, ids) => {
        for (const id of found.keys()) if (!ids.includes(id)) found.delete(id);
        git.keep(owner, ids);
      },
    },
    read: ({ targets = [], conditions = [] }) => {
      const all = [...found.values()];
      const uncopied = targets.filter(({ reason }) => reason === awaitingCopy);
      const isCopying =
        uncopied.length > 0 &&
        conditions.some(({ type, status }) => type === 'Mirrored' && status === 'Unknown');
      const isWorking = isCopying || all.some(({ finding }) => finding.kind === 'pending');
      const contested = targets.flatMap(({ name, reason, message = 'another client reverted the push' }) =>
        reason === 'Contested' ? [{ name, code: reason, message }] : [],
      );
      const others = all.flatMap(({ name, finding }) => problemOf(name, finding));
      const problems = [
        ...(isCopying ? [] : uncopied.map(({ name }) => ({ name, code: awaitingCopy, message: noCopy }))),
        ...contested,
        ...others.filter(({ name }) => contested.every((one) => one.name !== name)),
      ];
      return {
        isWorking: () => isWorking,
        isDone: () => !isWorking && problems.length === 0,
        failure: () => failureOf(problems),
        written: () =>
          all.flatMap(({ name, finding: { kind } }) =>
            kind === 'held' || kind === 'awaiting-merge' ? [`git target ${name}`] : [],
          ),
      };
    },
  };
}

interface Problem {
  readonly name: string;
  readonly code: string;
  readonly message: string;
}

function problemOf(name: string, finding: GitFinding): readonly Problem[] {
  switch (finding.kind) {
    case 'failed':
    case 'refused':
      return [{ name, code: finding.code, message: finding.message }];
    case 'reverted':
      return [{ name, code: 'Contested', message: finding.message }];
    default:
      return [];
  }
}

function failureOf(problems: readonly Problem[]): CliError | undefined {
  const [first] = problems;
  if (first === undefined) return undefined;
  const messages = problems.map(
    ({ name, message }) => `git target ${name} was not written: ${message.replace(/\.$/, '')}`,
  );
  return new CliError('notWritten', first.code, messages.join('. '), {
    next: [
      ...(first.code === 'AddressNotAllowed'
        ? ['If a private address is intended, add --allow-private-links.']
        : []),
      'Run the same command again to write what is missing.',
    ],
  });
}
