// The loop's planner of target edits, in a thread with limits of time and memory. This file has both sides of that
// thread. A link crosses as text, because an opaque link does not survive the copy; nothing of it is logged. Invariant:
// a document costs the main thread only its copy to the thread.

import type { TargetPlanner } from '#operator/loop/ports.ts';
import { givenKeys, planTarget, type TargetPlan, type TargetTask } from '#operator/targets/target-plan.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { startTaskThread, taskErrorCode } from '#platform/runtime/task.ts';
import { TaskQueue } from '#platform/runtime/task-queue.ts';
import { Link } from '#platform/wire/link.ts';

/** The costliest document within the bounds of `planValuesEdit` takes about a second. */
const maxCpuMs = 10_000;
/** A thread that got no CPU for so long says nothing about its document. */
const timeoutMs = 120_000;
const maxHeapMb = 96;
/** The runtime's own choice grows to 48 MB, which an idle thread keeps. */
const limits = { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 12 };
const idleMs = 30_000;
/** Documents of one namespace, of up to 256 KiB each. */
const maxWaitingPerOwner = 4;

/** A task as it crosses to the thread. */
interface SentTask {
  readonly type: TargetTask['type'];
  readonly text: string;
  readonly enabled: true | undefined;
  readonly version: string | undefined;
  readonly digest: string | undefined;
  readonly ref: string | undefined;
  readonly bundleUrl: string | undefined;
}

export interface TargetPlannerThread extends TargetPlanner {
  close(): Promise<void>;
}

/** @param program of the thread (`src/bin/values-worker.ts`, or where the build put it) */
export function createTargetPlanner(program: URL, clock: Clock): TargetPlannerThread {
  const start = () => startTaskThread(program, limits);
  const options = { start, timeoutMs, maxCpuMs, idleMs, maxWaitingPerOwner, clock };
  const queue = new TaskQueue<SentTask, TargetPlan>(options);
  return {
    plan: async (namespace, { type, text, wanted }, signal) => {
      const { enabled, version, digest, ref } = wanted;
      const task = { type, text, enabled, version, digest, ref, bundleUrl: wanted.bundleUrl?.reveal() };
      try {
        return await queue.run(task, namespace, signal);
      } catch (error) {
        signal.throwIfAborted();
        return planOfFailure(error);
      }
    },
    close: () => queue.close(),
  };
}

/** The thread's side. */
export function planSentTask({ type, text, enabled, bundleUrl, ...keys }: SentTask): TargetPlan {
  const link = Link.parse(bundleUrl);
  const wanted = {
    ...(enabled && { enabled }),
    ...givenKeys(keys),
    ...(link && { bundleUrl: link }),
  };
  return planTarget({ type, text, wanted });
}

/**
 * @returns `undefined` where the thread broke or has no room: the document is read again after a pause
 * @throws the error when the program is stopping
 */
function planOfFailure(error: unknown): TargetPlan | undefined {
  const code = taskErrorCode(error);
  if (code === 'TaskStopped') throw error;
  if (code !== 'TaskTooCostly' && code !== 'TaskOutOfMemory') return undefined;
  const limit = code === 'TaskTooCostly' ? `${maxCpuMs / 1000} s of CPU time` : `${maxHeapMb} MB of memory`;
  const message = `reading the document took more than ${limit}; make it smaller or simpler`;
  return { outcome: 'refused', code: 'TooSlow', message };
}
