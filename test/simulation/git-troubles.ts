// Troubles of a git repository in a scenario run: its server, its other clients, its credentials. None may delay a link
// or a status, so none stops links.

import type { GitFailureCode } from '#operator/git/push-task.ts';
import { Dice } from './dice.ts';
import type { GitPlace, GitShape, GitTarget } from './git-target.ts';
import type { Simulation } from './simulation.ts';
import type { Trouble } from './troubles.ts';

function ofGit(begin: (git: GitTarget, simulation: Simulation) => void): Trouble {
  return ({ simulation }) => {
    const { git } = simulation.owned;
    if (git === undefined) return { stopsLinks: false };
    begin(git, simulation);
    exportAgain(simulation);
    return { end: () => git.restore(), stopsLinks: false };
  };
}

/** A new version is wanted, so that there is something to push. */
function exportAgain(simulation: Simulation): void {
  const { vendor, dice } = simulation;
  const name = `content-${dice.between(1, 9)}`;
  vendor.contents.set('docs.example.com', { name, pages: dice.between(8, 30) });
  simulation.annotate({ 'staticexport.dev/requestedAt': `git-${dice.roll()}` });
}

const failures: readonly GitFailureCode[] = [
  'Unauthorized',
  'ProtectedBranch',
  'Unreachable',
  'RepositoryTooLarge',
];

export const gitTroubles: Readonly<Record<string, Trouble>> = {
  'a git server that refuses': ofGit(({ repository }, { dice }) => {
    repository.failure = dice.pick(failures);
  }),
  'a git server that hangs': ofGit(({ repository }) => {
    repository.isHanging = true;
  }),
  'a git repository whose credentials are gone': ofGit((git) => git.putCredentials({ other: 'x' })),
  'a commit that replaces the version': ofGit((git) => git.revert()),
  'commits to other files of a git repository': ofGit(({ repository }, { dice }) => {
    repository.write(`other-${dice.between(1, 9)}.yaml`, { version: 'of others' });
  }),
  'a pull request that waits': ofGit(({ repository }) => {
    repository.isMerging = false;
  }),
  'a commit that replaces the version and is reverted': ({ simulation }) => {
    const { git } = simulation.owned;
    git?.revert();
    return { end: () => git?.correct(), stopsLinks: false };
  },
  'an edit of where and what a git target writes': ({ simulation }) => {
    const { git } = simulation.owned;
    if (git === undefined) return { stopsLinks: false };
    git.repository.isMerging = simulation.dice.isBelow(0.5);
    git.edit(simulation.dice.pick(edits));
    return { end: () => git.restore(), stopsLinks: false };
  },
};

/** Without a new version: nothing but the edit asks to write. */
const edits: readonly Partial<GitPlace>[] = [
  { keyPath: ['site', 'docs'] },
  { write: ['version', 'digest'] },
  { write: ['digest'] },
  { isReviewed: true },
  { isReviewed: false },
  { keyPath: ['site'], isReviewed: true },
];

/** A quarter of all resources has a repository. */
export const gitShapes: readonly (GitShape | undefined)[] = [
  ...Array.from({ length: 6 }, () => undefined),
  'branch',
  'pull-request',
];
/** Separate dice, so that the repository does not change the draws of the scenario run. */
const salt = 0x6174_0917;

export const gitShapeOf = (seed: number): GitShape | undefined => new Dice(seed ^ salt).pick(gitShapes);
