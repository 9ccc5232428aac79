// A controller over virtual time whose pass the test writes, with all that it tells: results, log, failed passes.

import {
  type ControllerOptions,
  type FailedReconcile,
  type ReconcileResult,
  runController,
} from '#operator/controller/controller.ts';
import type { ReconcileOutcome, ReconcileReport } from '#operator/loop/context.ts';
import { WorkQueue } from '#operator/queue/work-queue.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { steppedClock } from '../../../support/stepped-clock.ts';

interface Line {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly fields: object;
  readonly message: string;
}

export function start(pass: ControllerOptions['reconcile'], more: Partial<ControllerOptions> = {}) {
  const clock = steppedClock();
  const queue = new WorkQueue({ clock, slots: { perHost: 9, total: 9, edits: 0 }, hostOf: () => '' });
  const results: ReconcileResult[] = [];
  const failures: (FailedReconcile | undefined)[] = [];
  const lines: Line[] = [];
  const note =
    (level: Line['level']) =>
    (fields: object, message: string): void => {
      lines.push({ level, fields, message });
    };
  const logger: Logger = {
    debug: note('debug'),
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
    child: () => logger,
  };
  const work = new AbortController();
  const running = runController(
    {
      queue,
      reconcile: pass,
      workers: 2,
      timeoutMs: 60_000,
      resyncMs: () => 36_000_000,
      isKnown: () => false,
      linkRemainingMs: () => undefined,
      clock,
      random: { uuid: () => '', bytes: () => new Uint8Array(), fraction: () => 0.5 },
      logger,
      observe: (_key, result, _tookMs, _outcome, failed) => {
        results.push(result);
        failures.push(failed);
      },
      ...more,
    },
    work.signal,
  );
  return {
    clock,
    queue,
    results,
    /** The failure of each pass, or `undefined` of one that had none. */
    told: failures,
    lines,
    warnings: () => lines.filter(({ level }) => level === 'warn'),
    work,
    running,
  };
}

export const outcome = (wakeAfterMs: number | undefined): ReconcileOutcome => ({
  wakeAfterMs,
  because: 'x',
  report: undefined,
});

/** Of a resource for which nothing was to be done. */
export const observed: ReconcileReport = {
  isReady: true,
  isSuspended: false,
  action: 'none',
  linkExpiresAt: undefined,
  linkIssuedAt: undefined,
  nextRefreshAt: undefined,
  nextExportAt: undefined,
  failure: undefined,
  actionFailure: undefined,
  blockedBy: undefined,
};
