// One task in the process of git: fetch, edit, commit, push, and again where other clients pushed meanwhile. Owns the attempts and
// the waits between them. Refuses nothing of its own. Invariant: a commit is pushed only on top of what was fetched, and
// only if it changes a file.

import type { ProxySettings } from '#platform/http/proxy-settings.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Random } from '#platform/runtime/random.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { branchNotFound } from './attempt.ts';
import { tryOnBranch } from './branch-push.ts';
import { isBranchName } from './edit-path.ts';
import { type GitFault, timedOut, unexpected } from './git-fault.ts';
import { openGitHttp, readRepositoryUrl } from './git-http.ts';
import { tryOnPullRequest } from './pull-request-push.ts';
import type { GitHeads, GitHeadsTask, GitPushResult, GitPushTask, GitRemote } from './push-task.ts';
import { GitRepository } from './repository.ts';
import { readSigningKey, type SigningKey, SigningKeyRefused } from './ssh-signature.ts';

export interface GitContext {
  readonly clock: Clock;
  readonly random: Pick<Random, 'fraction'>;
  readonly proxy: ProxySettings;
}

const mostAttempts = 8;
const firstWaitMs = 20;
const longestWaitMs = 300;
const mostEdits = 500;

/** @throws {GitFault} */
export async function runPush(task: GitPushTask, context: GitContext): Promise<GitPushResult> {
  return await withRepository(task, context, async (repository, signal) => {
    refuseTask(task);
    const key = signingKeyOf(task);
    const { clock, random } = context;
    const { pullRequestBranch } = task;
    const attempt = { task, repository, key, now: clock.now };
    for (let attempts = 1; attempts <= mostAttempts; attempts += 1) {
      const result = await (pullRequestBranch === undefined
        ? tryOnBranch(attempt)
        : tryOnPullRequest(attempt, pullRequestBranch));
      if (result !== 'behind') return result;
      // Another client that pushes at a fixed pace would otherwise meet each attempt.
      const wait = Math.min(longestWaitMs, firstWaitMs * 2 ** attempts) * random.fraction();
      await clock.after(wait, signal);
    }
    throw new PublishableError(
      'Contended',
      `Other clients pushed to the branch before each of ${mostAttempts} attempts.`,
      { kind: 'retry' },
    );
  });
}

/** Asks for the heads of the branches, without a fetch. @throws {GitFault} */
export async function readHeads(task: GitHeadsTask, context: GitContext): Promise<GitHeads> {
  return await withRepository(task, context, async (repository) => findHeads(task, repository));
}

/** @throws {GitFault} `BranchNotFound` or `EmptyRepository` */
export async function findHeads(remote: GitRemote, repository: GitRepository): Promise<GitHeads> {
  const { branch, pullRequestBranch } = remote;
  const [head, pullRequestHead] = await Promise.all([
    repository.readHead(branch),
    pullRequestBranch === undefined ? undefined : repository.readHead(pullRequestBranch),
  ]);
  if (head === undefined) throw await branchNotFound(branch, repository);
  return { branch: head, ...(pullRequestHead === undefined ? {} : { pullRequestBranch: pullRequestHead }) };
}

async function withRepository<Result>(
  remote: GitRemote,
  { clock, proxy }: GitContext,
  work: (repository: GitRepository, signal: AbortSignal) => Promise<Result>,
) {
  const { deadlineMs, maxBytes } = remote.limits;
  const signal = clock.deadline(deadlineMs);
  try {
    const url = readRepositoryUrl(remote);
    refuseBranches(remote);
    const http = openGitHttp(remote, { proxy, signal });
    try {
      return await work(await GitRepository.open(url.href, http, maxBytes), signal);
    } finally {
      await http.close();
    }
  } catch (error) {
    if (error instanceof PublishableError) throw error;
    throw signal.aborted ? timedOut(deadlineMs, error) : unexpected(error);
  }
}

function refuseBranches({ branch, pullRequestBranch }: GitRemote): void {
  const invalid = (why: string): GitFault => new PublishableError('InvalidTask', why);
  if (!isBranchName(branch) || (pullRequestBranch !== undefined && !isBranchName(pullRequestBranch))) {
    throw invalid('The name of a branch is not valid in git. Correct it.');
  }
  if (branch === pullRequestBranch) {
    throw invalid('The pull-request branch is the branch itself. Use another name for it.');
  }
}

function refuseTask({ edits, author }: GitPushTask): void {
  const ids = new Set(edits.map(({ id }) => id));
  if (edits.length === 0 || edits.length > mostEdits || ids.size !== edits.length) {
    throw new PublishableError(
      'InvalidTask',
      `A push needs 1 to ${mostEdits} edits, each with an id of its own.`,
    );
  }
  const isOdd = (text: string): boolean => text.trim() === '' || /[<>\p{Cc}]/u.test(text);
  if (isOdd(author.name) || isOdd(author.email)) {
    throw new PublishableError(
      'InvalidTask',
      'The author needs a name and an email address without `<` and `>`.',
    );
  }
}

function signingKeyOf({ access }: GitPushTask): SigningKey | undefined {
  if (access.signingKeyPem === undefined) return undefined;
  try {
    return readSigningKey(access.signingKeyPem);
  } catch (error) {
    if (!(error instanceof SigningKeyRefused)) throw error;
    throw new PublishableError(
      'BadSigningKey',
      `The signing key cannot be used: ${error.message}. Replace it.`,
      {
        cause: error,
      },
    );
  }
}
