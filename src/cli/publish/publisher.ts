// Says when a published version is brought to its destinations: beside the reconcile, so that a long download or a full
// disk delays no refresh of the link. One attempt at a time, with a deadline; after a failure it waits, longer each time.
// Refuses: the work itself (publish.ts), and an attempt for a goal that another has replaced.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { backOffMs } from '#platform/wire/back-off.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { CliContext } from '../context.ts';

/** Where a published version is brought to. */
export interface RunDestination {
  /** Every part of it holds what was aimed at last. */
  isDone(): boolean;
  isWorking(): boolean;
  /** Of the last attempt; `undefined` after a success, and for another goal. */
  failure(): CliError | undefined;
  /** Names of the parts that hold what was aimed at last, as far as the last attempt says. */
  written(): readonly string[];
}

export interface Publisher extends RunDestination {
  /** Begins an attempt where one is due. @param bundle as published now: its link may be newer than the last */
  aim(bundle: PublishedBundle): void;
  /** Until the next attempt or comparison is due, in ms; infinite while one runs. */
  waitMs(): number;
  /** Ends the attempt that runs. */
  close(): Promise<void>;
}

const retries = [10_000, 15 * 60_000] as const;
/** What was changed in a destination is found by then. Each comparison reads it whole. */
const compareEveryMs = 3_600_000;

export interface Publishing {
  /** Of all its destinations, as the user wrote them. */
  readonly names: readonly string[];
  /** Writes what does not hold the goal; rejects where anything failed. */
  publish(bundle: PublishedBundle, signal: AbortSignal): Promise<void>;
  /** Names the goal: for a folder a new link is the same one. */
  goalOf(bundle: PublishedBundle): string;
  /** Deadline of one attempt. */
  readonly timeoutMs: number;
}

/** @param isFinal no attempt follows this failure @param onEnd is called after each attempt */
export function createPublisher(
  { names, publish, goalOf, timeoutMs }: Publishing,
  isFinal: (failure: CliError) => boolean,
  { clock, progress, signal: stop }: Pick<CliContext, 'clock' | 'progress' | 'signal'>,
  onEnd: () => void,
): Publisher {
  let goal = '';
  let failures = 0;
  let failure: CliError | undefined;
  let isDone = false;
  let nextAt = 0;
  let attempt: { readonly end: AbortController; readonly ended: Promise<void> } | undefined;

  const run = async (bundle: PublishedBundle, signal: AbortSignal): Promise<void> => {
    try {
      await publish(bundle, signal);
      if (goalOf(bundle) !== goal) return;
      [isDone, failures, failure] = [true, 0, undefined];
      nextAt = clock.monotonic() + compareEveryMs;
    } catch (error) {
      if (stop.aborted || goalOf(bundle) !== goal) return;
      isDone = false;
      failures += 1;
      const delayMs = backOffMs(retries, failures);
      failure = signal.aborted ? tooSlow(timeoutMs, error) : asCliError(error);
      nextAt = clock.monotonic() + delayMs;
      if (isFinal(failure)) return;
      progress.note(`${failure.message} (${failure.code}). Retrying in ${delayMs / 1000} s`, 'warning');
    }
  };

  return {
    aim: (bundle) => {
      if (goal !== goalOf(bundle)) {
        [goal, failures, failure, isDone, nextAt] = [goalOf(bundle), 0, undefined, false, 0];
        attempt?.end.abort();
      }
      if (attempt !== undefined || clock.monotonic() < nextAt) return;
      const end = new AbortController();
      const signal = clock.deadline(timeoutMs, AbortSignal.any([stop, end.signal]));
      const ended = run(bundle, signal).finally(() => {
        attempt = undefined;
        onEnd();
      });
      attempt = { end, ended };
    },
    isDone: () => isDone,
    isWorking: () => attempt !== undefined,
    failure: () => failure,
    written: () => (isDone ? names : (failure?.reached.written ?? [])),
    waitMs: () =>
      attempt === undefined ? Math.max(0, nextAt - clock.monotonic()) : Number.POSITIVE_INFINITY,
    close: async () => {
      attempt?.end.abort();
      await attempt?.ended;
    },
  };
}

function tooSlow(timeoutMs: number, cause: unknown): CliError {
  const message = `the archive was not downloaded and written within --inspect-timeout (${Math.round(timeoutMs / 1000)} s)`;
  return new CliError('temporary', 'PublishTimeout', message, { cause });
}

function asCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  const { outcome, code, message } = failureOf(error);
  return new CliError(outcome, code, message, { cause: error });
}
