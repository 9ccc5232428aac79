// The loop's planner of target edits, in a thread with limits of time and memory. This file has both sides of that
// thread. A link crosses as text, because an opaque link does not survive the copy; nothing of it is logged. Invariant:
// a document costs the main thread only its copy to the thread.

import type { TargetPlanner } from '../loop/ports.ts';
import type { Clock } from '../runtime/clock.ts';
import { TaskError, TaskQueue } from '../runtime/task.ts';
import { planValuesEdit, type ValuesPlan } from '../targets/values.ts';
import { Link } from '../wire/link.ts';

/** The costliest document within the bounds of `planValuesEdit` takes about a second of an idle core. */
const timeoutMs = 10_000;
const maxHeapMb = 96;
/** The runtime's own choice grows to 48 MB, which an idle thread keeps. */
const limits = { maxOldGenerationSizeMb: maxHeapMb, maxYoungGenerationSizeMb: 12 };
const idleMs = 30_000;
/** Documents of one namespace, of up to 256 KiB each. */
const maxWaitingPerOwner = 4;

interface ValuesTask {
  readonly text: string;
  readonly version: string | undefined;
  readonly bundleUrl: string | undefined;
}

export interface ValuesPlanner extends TargetPlanner {
  close(): Promise<void>;
}

/** @param program of the thread (`src/bin/values-worker.ts`, or where the build put it) */
export function createValuesPlanner(program: URL, clock: Clock): ValuesPlanner {
  const options = { program, limits, timeoutMs, idleMs, maxWaitingPerOwner, clock };
  const queue = new TaskQueue<ValuesTask, ValuesPlan>(options);
  return {
    planValues: async (namespace, text, { version, bundleUrl }, signal) => {
      const task = { text, version, bundleUrl: bundleUrl?.reveal() };
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
export function planValuesTask({ text, version, bundleUrl }: ValuesTask): ValuesPlan {
  const link = Link.parse(bundleUrl);
  return planValuesEdit(text, {
    enabled: true,
    ...(version && { version }),
    ...(link && { bundleUrl: link }),
  });
}

/**
 * @returns `undefined` where the thread broke or has no room: the document is read again after a pause
 * @throws the error when the program is stopping
 */
function planOfFailure(error: unknown): ValuesPlan | undefined {
  const code = error instanceof TaskError ? error.code : undefined;
  if (code === 'TaskStopped') throw error;
  if (code !== 'TaskTimeout' && code !== 'TaskOutOfMemory') return undefined;
  const limit = code === 'TaskTimeout' ? `${timeoutMs / 1000} s` : `${maxHeapMb} MB of memory`;
  const message = `reading the document took more than ${limit}; make it smaller or simpler`;
  return { outcome: 'refused', code: 'TooSlow', message };
}
