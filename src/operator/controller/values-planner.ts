// The loop's planner of target edits, in a thread of its own with limits of time and memory.
// Invariant: a document costs the main thread its copy to the thread and nothing else.

import type { TargetPlanner } from '../../loop/ports.ts';
import type { Clock } from '../../runtime/clock.ts';
import { TaskError, TaskThread } from '../../runtime/task-thread.ts';
import type { ValuesPlan } from '../../targets/values.ts';
import { readPlan, taskOf } from '../../targets/values-task.ts';

/** The costliest document within the bounds of `planValuesEdit` takes about a second of an idle core. */
const timeoutMs = 10_000;
const maxHeapMb = 96;
const idleMs = 30_000;
/** Documents of one namespace, of up to 256 KiB each. */
const maxWaitingPerOwner = 4;

export interface ValuesPlanner extends TargetPlanner {
  close(): Promise<void>;
}

/** @param program of the thread (`src/bin/values-worker.ts`, or where the build put it) */
export function createValuesPlanner(program: URL, clock: Clock): ValuesPlanner {
  const thread = new TaskThread({ program, timeoutMs, maxHeapMb, idleMs, maxWaitingPerOwner, clock });
  return {
    planValues: async (namespace, text, wanted, signal) => {
      try {
        return readPlan(await thread.run(taskOf(text, wanted), namespace, signal));
      } catch (error) {
        if (error instanceof TaskError) return planOfFailure(error, signal);
        throw error;
      }
    },
    close: () => thread.close(),
  };
}

/** @throws the signal's reason, or the error, where it says nothing of the document */
function planOfFailure(error: TaskError, signal: AbortSignal): ValuesPlan | undefined {
  switch (error.code) {
    case 'TaskTimeout':
    case 'TaskOutOfMemory': {
      const limit = error.code === 'TaskTimeout' ? `${timeoutMs / 1000} s` : `${maxHeapMb} MB of memory`;
      const message = `reading the document took more than ${limit}; make it smaller or simpler`;
      return { outcome: 'refused', code: 'TooSlow', message };
    }
    // The thread broke for a reason of its own: asked again after a pause, like what found no room.
    case 'TaskQueueFull':
    case 'TaskFailed':
      return undefined;
    default:
      signal.throwIfAborted();
      throw error;
  }
}
