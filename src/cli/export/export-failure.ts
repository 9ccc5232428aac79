// Why an export ended without its result, with the steps that help: held by a gate, stopped, or refused by the export API.
// Pure. Refuses: reading a message; classes, codes and the HTTP status decide.

import { BundleError } from '../../bundle/bundle-error.ts';
import { ExportApiError } from '../../export-api/answers.ts';
import type { HoldReason } from '../../reconcile/settle/promotion.ts';
import { printable } from '../../wire/printable-text.ts';
import { CliError, failureOf } from '../cli-error.ts';
import { counted } from '../output/amounts.ts';
import type { CompleteExport } from './export-job.ts';

/** With `--new` the same command would not continue. */
export const resuming = ({ new: isNew }: { readonly new: boolean }, jobId: string | undefined): string => {
  const job = jobId === undefined ? '' : ` export job ${printable(jobId)}`;
  return isNew
    ? `Run the command again without --new to continue${job}.`
    : `Run the same command again to continue${job}. For a new export, add --new.`;
};

/** @param pagesBefore of what the export is compared with */
export function held(
  reason: HoldReason,
  { jobId, version, index: { pages } }: CompleteExport,
  pagesBefore: number | undefined,
  { minPages, maxShrink }: { readonly minPages: number; readonly maxShrink: number },
): CliError {
  const details: Readonly<Record<HoldReason, string>> = {
    TooFewPages: `the export has ${counted(pages, 'page')} (--min-pages ${minPages})`,
    PageCountDropped: `the export has ${counted(pages, 'page')}, down from ${pagesBefore ?? 0} (--max-shrink ${maxShrink})`,
    AwaitingPromotion: 'the export waits for its promotion',
  };
  const next = [
    'Check the site. To publish this export, run the command again with another --min-pages or --max-shrink.',
    `To export the site again, add --new. Without it, the command continues export job ${printable(jobId)}.`,
  ];
  const reached = { version, written: [] };
  return new CliError('held', reason, `${details[reason]}; nothing was written`, { next, ...reached });
}

/**
 * After a signal or the deadline: what was reached, and how to continue.
 *
 * @param error what ended the export: where an attempt failed before, that failure
 * @param stop why the command was stopped; `undefined` at the deadline
 */
export function stopped(
  error: unknown,
  stop: CliError | undefined,
  timeoutMs: number,
  keyHint: string | undefined,
  resume: readonly string[],
): CliError {
  if (stop !== undefined) {
    return new CliError(stop.outcome, stop.code, stop.message, { cause: error, next: resume });
  }
  const passed = `--timeout has passed (${Math.round(timeoutMs / 1000)} s)`;
  if (!(error instanceof ExportApiError || error instanceof BundleError)) {
    return new CliError('deadline', 'DeadlineExceeded', passed, { cause: error, next: resume });
  }
  const { code, message } = failureOf(error);
  const next = [...stepsFor(error, keyHint), ...resume];
  const text = `${passed}; the last attempt failed: ${message} (${code})`;
  const lastFailure = { code, message };
  return new CliError('deadline', 'DeadlineExceeded', text, { cause: error, next, lastFailure });
}

/** The same error, with the steps that help where there are any. */
export function withSteps(error: unknown, keyHint: string | undefined): unknown {
  if (!(error instanceof ExportApiError)) return error;
  const { outcome, code, message } = failureOf(error);
  const next = stepsFor(error, keyHint);
  return next.length === 0 ? error : new CliError(outcome, code, message, { cause: error, next });
}

/** What a server of another kind, or none, answers where an export API is expected. */
const strangeCodes: ReadonlySet<string> = new Set(['NetworkError', 'UnexpectedAnswer', 'NotFound']);

function stepsFor(error: ExportApiError | BundleError, keyHint: string | undefined): readonly string[] {
  if (error instanceof BundleError) return [];
  const isRefused = error.code === 'Unauthorized' || error.code === 'Forbidden';
  if (isRefused && keyHint !== undefined) return [keyHint];
  const isStrange = strangeCodes.has(error.code) || error.status === 501;
  return isStrange ? ['Check that --api-base-url is the address of the export API.'] : [];
}
