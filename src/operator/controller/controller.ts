// Takes keys from the queue and runs a pass for each: N loops, a deadline per pass, a back-off per key after an
// error, a slower pace for a key that asks for the next pass at once over and over, one line of log per failure.
// Knows nothing of what a pass does.
// Invariants: every key ends its turn in exactly one of: a next look, a retry, or gone; no key turns without end, and
// none that the watches know is forgotten.

import type { Observed, PassOutcome } from '../../loop/edge.ts';
import type { ObjectKey } from '../../loop/ports.ts';
import { PassRefused } from '../../loop/refused-pass.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { Random } from '../../runtime/random.ts';
import { withinLimit } from '../../runtime/time-limit.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import type { WorkQueue } from '../queue/work-queue.ts';
import { nextLookMs } from '../watch/absence.ts';

export type PassResult = 'success' | 'requeue_after' | 'gone' | 'conflict' | 'error' | 'timeout';

/** A pass that did not come to its end. */
export interface FailedPass {
  /** This one included; a pass that was only overtaken by somebody's edit is no failure the first times. */
  readonly inARow: number;
  readonly code: string;
  /** What it saw all the same, where it got that far. */
  readonly observed: Observed | undefined;
}

export interface ControllerOptions {
  readonly queue: WorkQueue;
  readonly pass: (key: ObjectKey, signal: AbortSignal) => Promise<PassOutcome>;
  readonly workers: number;
  /** A pass that takes longer is aborted and tried again. */
  readonly passTimeoutMs: number;
  /** Every resource is looked at this often whatever its pass said. What a pass says is spread already. */
  readonly fullLookMs: number;
  /** Whether the watches know the resource, and of no deletion. */
  readonly isKnown: (key: string) => boolean;
  /** What the published link has left, below zero once it is dead; `undefined` where there is none. */
  readonly lifeLeftMs: (key: string) => number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Told after every pass. */
  readonly observe: (
    key: ObjectKey,
    result: PassResult,
    tookMs: number,
    outcome: PassOutcome | undefined,
    failed: FailedPass | undefined,
  ) => void;
}

const firstRetryMs = 500;
const maxRetryMs = 5 * 60_000;
/** Asked for sooner than this, the next pass is "at once": what is decided is decided on whole seconds. */
const hastyMs = 1000;
/** An export that is complete is issued, read and published in a few passes without a pause; this is far more. */
const hastyTurns = 20;
const slowestHastyMs = 60_000;

/** What is remembered of a key from pass to pass. */
interface Streaks {
  /** Failures in a row, and when the first of them was. */
  readonly failures: Map<string, { readonly count: number; readonly since: number }>;
  /** Passes in a row that asked for the next one at once. */
  readonly hasty: Map<string, number>;
  /** What a pass that called nobody met, and the log has said. */
  readonly told: Map<string, string>;
}

/**
 * Runs until the queue is closed and the passes under way have ended.
 *
 * @param work aborts the passes under way (leadership lost, or the patience of a shutdown is over)
 */
export async function runController(options: ControllerOptions, work: AbortSignal): Promise<void> {
  const streaks: Streaks = { failures: new Map(), hasty: new Map(), told: new Map() };
  const worker = async (): Promise<void> => {
    for (;;) {
      const text = await options.queue.take();
      if (text === undefined) return;
      try {
        await withinLimit(options.clock, options.passTimeoutMs, work, (deadline) =>
          turn(text, options, streaks, { work, deadline }),
        );
      } finally {
        options.queue.done(text);
      }
    }
  };
  await Promise.all(Array.from({ length: options.workers }, worker));
}

async function turn(
  text: string,
  options: ControllerOptions,
  { failures, hasty, told }: Streaks,
  { work, deadline }: { readonly work: AbortSignal; readonly deadline: AbortSignal },
): Promise<void> {
  const { queue, clock, random, logger } = options;
  const key = parseKey(text);
  const startedAt = clock.monotonic();
  try {
    const outcome = await options.pass(key, deadline);
    failures.delete(text);
    const { wakeAfterMs } = outcome;
    const turns = countHasty(text, wakeAfterMs, hasty);
    const lookMs = nextLookMs(wakeAfterMs, options.isKnown(text));
    if (lookMs !== undefined) {
      queue.addAfter(text, Math.min(Math.max(lookMs, pauseMs(turns)), options.fullLookMs));
    }
    if (turns === hastyTurns + 1) {
      const { because } = outcome;
      logger.warn(
        { object: text, because, turns },
        'passes ask for the next one at once, over and over; they are run more slowly from here on',
      );
    }
    const result = wakeAfterMs === undefined ? 'gone' : 'requeue_after';
    options.observe(key, result, clock.monotonic() - startedAt, outcome, undefined);
    logOutcome(logger, text, outcome, told);
  } catch (error) {
    if (work.aborted) return;
    const before = failures.get(text) ?? { count: 0, since: clock.monotonic() };
    const failed = before.count + 1;
    failures.set(text, { ...before, count: failed });
    const result = resultOf(error, deadline);
    const delay = {
      isConflict: result === 'conflict',
      failures: failed,
      elapsedMs: clock.monotonic() - before.since,
      lifeLeftMs: lifeLeftOf(error, clock.now()) ?? options.lifeLeftMs(text),
    };
    const retryMs = retryAfterMs(error, delay, random);
    queue.addAfter(text, retryMs);
    // Somebody wrote first: ordinary, and the next pass reads what they wrote.
    const isOrdinary = result === 'conflict' && failed < 5;
    const failure = isOrdinary ? undefined : failedPass(error, failed, result);
    options.observe(key, result, clock.monotonic() - startedAt, undefined, failure);
    if (isOrdinary) logger.debug({ object: text, error, retryMs }, 'pass overtaken');
    else logger.warn({ object: text, error, result, failures: failed, retryMs }, 'pass failed');
  }
}

function failedPass(error: unknown, inARow: number, result: PassResult): FailedPass {
  const code = result === 'timeout' ? 'PassTimeout' : publishableCode(error);
  return { inARow, code, observed: error instanceof PassRefused ? error.observed : undefined };
}

/** As the pass saw it: what status says of the link is old where status cannot be written. */
function lifeLeftOf(error: unknown, now: number): number | undefined {
  const expiresAt = error instanceof PassRefused ? error.observed.linkExpiresAt : undefined;
  return expiresAt === undefined ? undefined : expiresAt - now;
}

/** @returns how many passes in a row, this one included, asked for the next one at once */
function countHasty(text: string, wakeAfterMs: number | undefined, hasty: Streaks['hasty']): number {
  if (wakeAfterMs === undefined || wakeAfterMs >= hastyMs) {
    hasty.delete(text);
    return 0;
  }
  const turns = (hasty.get(text) ?? 0) + 1;
  hasty.set(text, turns);
  return turns;
}

/** None for a while, then from a second to a minute: an edit or an event still brings its pass at once. */
function pauseMs(turns: number): number {
  if (turns <= hastyTurns) return 0;
  return Math.min(slowestHastyMs, hastyMs * 2 ** Math.min(10, turns - hastyTurns - 1));
}

/** What a pass did, and what turned by it, it tells itself; here is what keeps it from doing anything, once. */
function logOutcome(
  logger: Logger,
  object: string,
  { because, wakeAfterMs, observed }: PassOutcome,
  told: Streaks['told'],
): void {
  const { action = 'none', failure, why } = observed ?? {};
  const fields = { object, action, because, failure, why, wakeAfterMs };
  const isNews = told.get(object) !== failure;
  // Nothing was asked of anybody: it stays as it is, and is looked at every minute.
  if (action === 'none' && failure !== undefined) told.set(object, failure);
  else told.delete(object);
  if (failure !== undefined && action === 'none' && isNews) logger.warn(fields, 'nothing can be done');
  else logger.debug(fields, 'pass');
}

function resultOf(error: unknown, deadline: AbortSignal): PassResult {
  if (deadline.aborted) return 'timeout';
  return error instanceof ClusterError && error.code === 'Conflict' ? 'conflict' : 'error';
}

interface Delay {
  readonly isConflict: boolean;
  readonly failures: number;
  /** Since the first of them. */
  readonly elapsedMs: number;
  readonly lifeLeftMs: number | undefined;
}

/** A link is refreshed by a pass: while one lives, what keeps passes from succeeding is tried again well before its end. */
function retryAfterMs(
  error: unknown,
  { isConflict, failures, elapsedMs, lifeLeftMs = 0 }: Delay,
  random: Random,
): number {
  const longestMs =
    lifeLeftMs > 0 ? Math.min(maxRetryMs, Math.max(firstRetryMs, lifeLeftMs / 4)) : maxRetryMs;
  // As long again as it has lasted: that doubles, and many quick tries before a link died make no long wait after it.
  const base = isConflict && failures < 5 ? 100 : Math.min(longestMs, firstRetryMs + elapsedMs);
  const asked = error instanceof ClusterError ? (error.retryAfterMs ?? 0) : 0;
  return Math.ceil(Math.max(asked, base * (0.8 + 0.4 * random.fraction())));
}

function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
