// Adds to the work queue what the watches find, but only while this process leads. A standby would queue for months: its
// queue would hold names long gone, and old edits before new ones when it begins to lead.
// Invariant: nothing is queued before `open`; from then on every known key has been queued once.

import type { AuditFinding } from '#operator/kube/watch/reflector.ts';
import type { Priority } from '../queue/host-queues.ts';
import type { WorkQueue } from '../queue/work-queue.ts';

export interface Feed {
  /** A watch or a list found a change. */
  wake(key: string, found: AuditFinding): void;
  /** Another operator wrote the status. */
  recheckOverlap(key: string): void;
  /** Leadership has begun. */
  open(known: readonly string[]): void;
}

/** No user waits for what is gone, and thousands may go at once; its reconcile only frees what was kept for it. */
const priorityOf: Readonly<Record<AuditFinding, Priority>> = {
  listed: 'listed',
  changed: 'edited',
  gone: 'listed',
};

/**
 * Soon enough to repair the status after the other operator was stopped, and late enough that two operators which
 * overwrite each other keep no worker busy.
 */
const overlapDelayMs = 15_000;

export function createFeed(queue: Pick<WorkQueue, 'add' | 'addAfter'>): Feed {
  let isOpen = false;
  return {
    wake: (key, found) => {
      if (isOpen) queue.add(key, priorityOf[found]);
    },
    recheckOverlap: (key) => {
      if (isOpen) queue.addAfter(key, overlapDelayMs);
    },
    open: (known) => {
      isOpen = true;
      for (const key of known) queue.add(key, 'listed');
    },
  };
}
