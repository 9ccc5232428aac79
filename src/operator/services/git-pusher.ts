// The starter's side of the process that reads and pushes git repositories. Owns its limits. Invariants: one task at a
// time, so that one repository is in memory; namespaces take turns; a task beyond its limits
// ends that process alone.

import {
  defaultGitLimits,
  type GitFailureCode,
  type GitHeads,
  type GitPushResult,
  type SentGitTask,
} from '#operator/git/push-task.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { taskErrorCode } from '#platform/runtime/task.ts';
import { startTaskProcess } from '#platform/runtime/task-process.ts';
import { TaskQueue } from '#platform/runtime/task-queue.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { GitPusher, GitSettings } from './git-targets.ts';

/** The largest repositories that the task's `maxBytes` lets in take two thirds of it (docs/sizing.md of the chart). */
const limits = { maxHeapMb: 128, maxMemoryMb: 256 };
/** The process's own deadline ends first, and its message says what it waited for. */
const timeoutMs = defaultGitLimits.deadlineMs + 2000;
/** What one repository took is not there for the next: V8 and its libraries give memory back late. */
const idleMs = 0;
/** A bound of memory: the caller lets few tasks of a namespace wait here. */
const maxWaitingPerOwner = 64;

export function gitSettings(allowPrivateAddresses: boolean, extraCaPem: string | undefined): GitSettings {
  const common = { allowPrivateAddresses, userAgent, limits: defaultGitLimits };
  return extraCaPem === undefined ? common : { ...common, extraCaPem };
}

export interface GitPusherProcess extends GitPusher {
  close(): Promise<void>;
}

/** @param program of the process (`src/bin/git-worker.ts`, or where the build put it) */
export function createGitPusher(program: URL, clock: Clock): GitPusherProcess {
  const start = () => startTaskProcess(program, limits, clock);
  const options = { start, timeoutMs, idleMs, maxWaitingPerOwner, clock };
  const queue = new TaskQueue<SentGitTask, GitPushResult & GitHeads>(options);
  const run = (task: SentGitTask, owner: string, signal: AbortSignal) =>
    queue.run(task, owner, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      throw endOfProcess(error);
    });
  return {
    push: (task, owner, signal) => run({ type: 'push', task }, owner, signal),
    readHeads: (task, owner, signal) => run({ type: 'heads', task }, owner, signal),
    close: () => queue.close(),
  };
}

/** What the end of the process means. @returns the error of the task itself, or a stop, as it is */
function endOfProcess(error: unknown): unknown {
  switch (taskErrorCode(error)) {
    case 'TaskOutOfMemory':
      return failure(
        'RepositoryTooLarge',
        `Reading the repository took more than ${limits.maxMemoryMb} MB of memory. Keep the file in a smaller repository.`,
      );
    case 'TaskTimeout':
      return failure(
        'Timeout',
        `The repository took longer than ${timeoutMs / 1000} s. Check the git server.`,
      );
    case 'TaskQueueFull':
      return failure('Unreachable', 'Too many repositories of this namespace wait.');
    case 'TaskFailed':
      return failure('Unexpected', 'The process that reads repositories failed.');
    default:
      return error;
  }
}

const failure = (code: GitFailureCode, message: string): PublishableError<GitFailureCode> =>
  new PublishableError(code, message, { kind: 'retry' });
