// Events and failed calls of the reconcile as lines of a run. What comes of the reconcile that ends the run is held until it
// is known whether the error says the same; then the error alone is shown. Refuses: dropping anything else.

import type { EventNote } from '#platform/wire/cluster.ts';

export interface RunEvents {
  record(event: EventNote): void;
  /** A line of the log about a call that failed, and when it is sent again. */
  recordRetry(line: string): void;
  /** The run goes on. */
  show(): void;
  /** The run has ended: no call is sent again. @param error its code and message */
  end(error: { readonly code: string; readonly message: string }): void;
}

/** @param note shows a line. @param isShown of an event */
export function createRunEvents(
  note: (line: string, level?: 'warning') => void,
  isShown: (event: EventNote) => boolean = () => true,
): RunEvents {
  let held: readonly (EventNote | string)[] = [];
  const show = (lines: readonly (EventNote | string)[]): void => {
    held = [];
    for (const one of lines) {
      if (typeof one === 'string') note(one, 'warning');
      else note(`${one.type} ${one.reason}: ${one.message}`, one.type === 'Warning' ? 'warning' : undefined);
    }
  };
  return {
    record: (event) => {
      if (isShown(event)) held = [...held, event];
    },
    recordRetry: (line) => {
      held = [...held, line];
    },
    show: () => show(held),
    end: ({ code, message }) =>
      show(held.filter((one) => typeof one !== 'string' && one.message !== message && one.reason !== code)),
  };
}
