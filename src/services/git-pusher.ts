// The starter's side of the process that reads and pushes git repositories. Owns its limits. Invariants: one task at a
// time, so that one repository is in memory; namespaces take turns; a task beyond its limits is a failure, not an error,
// and ends that process alone.

import {
  defaultGitLimits,
  type GitFailure,
  type GitHeadsResult,
  type GitPushResult,
  type SentGitTask,
} from '../git/push-task.ts';
import type { Clock } from '../runtime/clock.ts';
import { TaskError } from '../runtime/task.ts';
import { startTaskProcess } from '../runtime/task-process.ts';
import { TaskQueue } from '../runtime/task-queue.ts';
import { userAgent } from '../runtime/version.ts';
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
  const queue = new TaskQueue<SentGitTask, GitPushResult | GitHeadsResult>(options);
  const run = async (task: SentGitTask, owner: string, signal: AbortSignal) => {
    try {
      return await queue.run(task, owner, signal);
    } catch (error) {
      signal.throwIfAborted();
      return failureOf(error);
    }
  };
  return {
    push: async (task, owner, signal) => {
      const result = await run({ type: 'push', task }, owner, signal);
      return result.outcome === 'heads' ? otherAnswer() : result;
    },
    readHeads: async (task, owner, signal) => {
      const result = await run({ type: 'heads', task }, owner, signal);
      return result.outcome === 'done' ? otherAnswer() : result;
    },
    close: () => queue.close(),
  };
}

/** @throws the error when the program is stopping */
function failureOf(error: unknown): GitFailure {
  const code = error instanceof TaskError ? error.code : undefined;
  switch (code) {
    case 'TaskStopped':
      throw error;
    case 'TaskOutOfMemory':
      return failure(
        'RepositoryTooLarge',
        `reading the repository took more than ${limits.maxMemoryMb} MB of memory; keep the file in a smaller repository`,
      );
    case 'TaskTimeout':
      return failure(
        'Timeout',
        `the repository took longer than ${timeoutMs / 1000} s; check the git server`,
      );
    case 'TaskQueueFull':
      return failure('Unreachable', 'too many repositories of this namespace wait; retrying');
    default:
      return failure('Unexpected', 'the process that reads repositories failed; retrying');
  }
}

const otherAnswer = (): GitFailure => failure('Unexpected', 'the process answered another task; retrying');

function failure(code: GitFailure['code'], message: string): GitFailure {
  return { outcome: 'failed', code, message, isTemporary: true };
}
