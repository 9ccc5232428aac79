// Takes keys from the work queue and reconciles each: N workers, a deadline per reconcile, a back-off per key after an
// error, a slower pace for a key that requeues immediately again and again, one line of log per failure.
// Invariants: every reconcile ends in exactly one of: requeue, retry, or gone; no key requeues immediately without end,
// and no key that the watches know is forgotten.

import type { ReconcileOutcome, ReconcileReport } from '#operator/loop/context.ts';
import { ReconcileRefused } from '#operator/loop/refused-reconcile.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import type { Random } from '#platform/runtime/random.ts';
import { withinLimit } from '#platform/runtime/time-limit.ts';
import { backOffMs } from '#platform/wire/back-off.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import type { WorkQueue } from '../queue/work-queue.ts';
import { nextLookMs } from '../watch/absence.ts';

export type ReconcileResult = 'success' | 'requeue_after' | 'gone' | 'conflict' | 'error' | 'timeout';

/** A reconcile that failed. */
export interface FailedReconcile {
  /** Failures in a row, this one included. A conflict with another write is not a failure the first four times. */
  readonly inARow: number;
  readonly code: string;
  /** What it observed before it failed. */
  readonly report: ReconcileReport | undefined;
}

export interface ControllerOptions {
  readonly queue: WorkQueue;
  readonly reconcile: (key: ObjectKey, signal: AbortSignal) => Promise<ReconcileOutcome>;
  readonly workers: number;
  /** A reconcile that takes longer is aborted and retried. */
  readonly timeoutMs: number;
  /** Every resource is reconciled at least this often. @param resources that wait for their time */
  readonly resyncMs: (resources: number) => number;
  /** Whether the watches know the resource, and of no deletion. */
  readonly isKnown: (key: string) => boolean;
  /** Time until the published link expires, negative afterwards; `undefined` where no link is published. */
  readonly linkRemainingMs: (key: string) => number | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Called after every reconcile. */
  readonly observe: (
    key: ObjectKey,
    result: ReconcileResult,
    tookMs: number,
    outcome: ReconcileOutcome | undefined,
    failed: FailedReconcile | undefined,
  ) => void;
}

const firstRetryMs = 500;
const maxRetryMs = 5 * 60_000;
/** A shorter requeue time counts as immediate, because decisions are made on whole seconds. */
const immediateMs = 1000;
/** A completed export gets its link, inspection and publication in a few immediate requeues; this is far more. */
const maxImmediateRequeues = 20;
const slowestRequeueMs = 60_000;

/** What is remembered by key. */
interface RetryState {
  /** Failures in a row, and when the first one was. */
  readonly failures: Map<string, { readonly count: number; readonly since: number }>;
  /** Immediate requeues in a row. */
  readonly immediate: Map<string, number>;
  /** Failure of a reconcile that took no action, as last logged. */
  readonly blockedBy: Map<string, string>;
}

/**
 * Runs until the queue is closed and all reconciles have ended.
 *
 * @param work aborts reconciles (leadership lost, or the grace period of a shutdown is over)
 */
export async function runController(options: ControllerOptions, work: AbortSignal): Promise<void> {
  const state: RetryState = { failures: new Map(), immediate: new Map(), blockedBy: new Map() };
  const worker = async (): Promise<void> => {
    for (;;) {
      const text = await options.queue.take();
      if (text === undefined) return;
      try {
        await withinLimit(options.clock, options.timeoutMs, work, (deadline) =>
          reconcileKey(text, options, state, { work, deadline }),
        );
      } finally {
        options.queue.done(text);
      }
    }
  };
  await Promise.all(Array.from({ length: options.workers }, worker));
}

async function reconcileKey(
  text: string,
  options: ControllerOptions,
  { failures, immediate, blockedBy }: RetryState,
  { work, deadline }: { readonly work: AbortSignal; readonly deadline: AbortSignal },
): Promise<void> {
  const { queue, clock, random, logger } = options;
  const key = parseKey(text);
  const startedAt = clock.monotonic();
  try {
    const outcome = await options.reconcile(key, deadline);
    failures.delete(text);
    const { wakeAfterMs } = outcome;
    const requeues = countImmediate(text, wakeAfterMs, immediate);
    const lookMs = nextLookMs(wakeAfterMs, options.isKnown(text));
    if (lookMs !== undefined) {
      // After a start all were reconciled at once.
      const resyncMs = options.resyncMs(queue.figures().delayed) * (0.8 + 0.2 * random.fraction());
      queue.addAfter(text, Math.min(Math.max(lookMs, pauseMs(requeues)), resyncMs));
    }
    if (requeues === maxImmediateRequeues + 1) {
      const { because } = outcome;
      logger.warn(
        { object: text, because, requeues },
        'hot loop: reconcile requeues immediately; slowing down',
      );
    }
    const result = wakeAfterMs === undefined ? 'gone' : 'requeue_after';
    options.observe(key, result, clock.monotonic() - startedAt, outcome, undefined);
    logOutcome(logger, text, outcome, blockedBy);
  } catch (error) {
    if (work.aborted) return;
    const before = failures.get(text) ?? { count: 0, since: clock.monotonic() };
    const failed = before.count + 1;
    failures.set(text, { ...before, count: failed });
    const result = resultOf(error, deadline);
    // Another client wrote first, which is ordinary; the next reconcile reads what it wrote.
    const isOrdinary = result === 'conflict' && failed < 5;
    const report = error instanceof ReconcileRefused ? error.report : undefined;
    // As the reconcile observed it: the link in status is old where status cannot be written.
    const remainingMs = report?.linkExpiresAt && report.linkExpiresAt - clock.now();
    const longestMs = longestRetryMs(remainingMs ?? options.linkRemainingMs(text) ?? 0);
    // As long again as the failures have lasted: that doubles, and quick attempts before an expiry cause no long wait later.
    const base = isOrdinary ? 100 : Math.min(longestMs, firstRetryMs + clock.monotonic() - before.since);
    const asked = error instanceof ClusterError ? (error.retryAfterMs ?? 0) : 0;
    const retryMs = Math.ceil(Math.max(asked, base * (0.8 + 0.4 * random.fraction())));
    queue.addAfter(text, retryMs);
    const code = result === 'timeout' ? 'ReconcileTimeout' : publishableCode(error);
    const failure = isOrdinary ? undefined : { inARow: failed, code, report };
    options.observe(key, result, clock.monotonic() - startedAt, undefined, failure);
    if (isOrdinary) logger.debug({ object: text, error, retryMs }, 'conflict with another write; retrying');
    else
      logger.warn({ object: text, error, result, failures: failed, retryMs }, 'reconcile failed; retrying');
  }
}

/** @returns immediate requeues in a row, this one included */
function countImmediate(
  text: string,
  wakeAfterMs: number | undefined,
  immediate: RetryState['immediate'],
): number {
  if (wakeAfterMs === undefined || wakeAfterMs >= immediateMs) {
    immediate.delete(text);
    return 0;
  }
  const requeues = (immediate.get(text) ?? 0) + 1;
  immediate.set(text, requeues);
  return requeues;
}

/** None at first, then from a second to a minute. An edit is still reconciled at once. */
function pauseMs(requeues: number): number {
  return backOffMs([immediateMs, slowestRequeueMs], requeues - maxImmediateRequeues);
}

/** A reconcile logs its own calls and changes; this logs once what keeps it from acting. */
function logOutcome(
  logger: Logger,
  object: string,
  { because, wakeAfterMs, report }: ReconcileOutcome,
  blockedBy: RetryState['blockedBy'],
): void {
  const { action = 'none', failure, why } = report ?? {};
  const fields = { object, action, because, failure, message: why, wakeAfterMs };
  const isBlocked = action === 'none' && failure !== undefined;
  const isLogged = isBlocked && blockedBy.get(object) === failure;
  if (isBlocked) blockedBy.set(object, failure);
  else blockedBy.delete(object);
  if (isBlocked && !isLogged) logger.warn(fields, 'reconcile blocked; no action taken');
  else logger.debug(fields, 'reconciled');
}

function resultOf(error: unknown, deadline: AbortSignal): ReconcileResult {
  if (deadline.aborted) return 'timeout';
  return error instanceof ClusterError && error.code === 'Conflict' ? 'conflict' : 'error';
}

/** Only a reconcile refreshes a link: a failing one is retried well before the link expires. */
function longestRetryMs(linkRemainingMs: number): number {
  if (linkRemainingMs <= 0) return maxRetryMs;
  return Math.min(maxRetryMs, Math.max(firstRetryMs, linkRemainingMs / 4));
}

function parseKey(text: string): ObjectKey {
  const slash = text.indexOf('/');
  return { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}
