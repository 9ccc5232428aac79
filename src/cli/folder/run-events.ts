// Events of the reconcile as lines of `run`. The event of a condition that ends the run is held until it is known whether
// the error says the same; then the error alone is shown. Refuses: dropping any other event.

import type { EventNote } from '#platform/wire/cluster.ts';

export interface RunEvents {
  record(event: EventNote): void;
  /** The run goes on. */
  show(): void;
  /** The run has ended. @param error the message of its error */
  end(error: string): void;
}

/** @param note shows a line */
export function createRunEvents(note: (line: string, level?: 'warning') => void): RunEvents {
  let held: readonly EventNote[] = [];
  const show = (events: readonly EventNote[]): void => {
    held = [];
    for (const { type, reason, message } of events)
      note(`${type} ${reason}: ${message}`, type === 'Warning' ? 'warning' : undefined);
  };
  return {
    record: (event) => {
      held = [...held, event];
    },
    show: () => show(held),
    end: (error) => show(held.filter(({ message }) => message !== error)),
  };
}
