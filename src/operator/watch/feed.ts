// What the watches find becomes work, but only while this process leads: whoever stands by would queue for months what
// nobody takes, names long gone among it, and begin its turn with stale edits before fresh ones.
// Invariant: nothing is queued before `open`; from then on whatever is known has been queued once.

import type { Finding } from '../../kube/watch/reflector.ts';
import type { Priority } from '../queue/host-queues.ts';
import type { WorkQueue } from '../queue/work-queue.ts';

export interface Feed {
  /** Of a watch. */
  wake(key: string, found: Finding): void;
  /** Not before `delayMs`. */
  wakeAfter(key: string, delayMs: number): void;
  /** Leadership has begun. */
  open(known: readonly string[]): void;
}

/** Nobody waits for what is gone, and thousands may go at once; its pass only frees what was kept for it. */
const priorityOf: Readonly<Record<Finding, Priority>> = {
  listed: 'listed',
  changed: 'edited',
  gone: 'listed',
};

export function createFeed(queue: Pick<WorkQueue, 'add' | 'addAfter'>): Feed {
  let isOpen = false;
  return {
    wake: (key, found) => {
      if (isOpen) queue.add(key, priorityOf[found]);
    },
    wakeAfter: (key, delayMs) => {
      if (isOpen) queue.addAfter(key, delayMs);
    },
    open: (known) => {
      isOpen = true;
      for (const key of known) queue.add(key, 'listed');
    },
  };
}
