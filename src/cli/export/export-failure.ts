// Why an export ended without its result, with the steps that help: held by a gate, stopped, or refused by the export API.
// Pure. Refuses: reading a message; classes, codes and the HTTP status decide.

import { ExportApiError } from '#export-api/answers.ts';
import type { HoldReason } from '#operator/staticexport/reasons.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { CliError, failureOf } from '../cli-error.ts';
import type { LastFailure } from '../folder/run-end.ts';
import { faultSteps } from '../folder/wrong-address.ts';
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
export function heldExport(
  reason: HoldReason,
  { jobId, version, index: { pages } }: CompleteExport,
  pagesBefore: number | undefined,
  { minPages, maxShrink }: Readonly<Record<'minPages' | 'maxShrink', number>>,
): CliError {
  const details: Readonly<Record<HoldReason, string>> = {
    TooFewPages: `the export has ${counted(pages, 'page')} (--min-pages ${minPages})`,
    HomePageMissing: 'the export has no index.html at its root, so that its home page would not answer',
    PageCountDropped: `the export has ${counted(pages, 'page')}, down from ${pagesBefore ?? 0} (--max-shrink ${maxShrink})`,
    AwaitingPromotion: 'the export waits for its promotion',
  };
  const flags =
    reason === 'HomePageMissing' ? '--allow-missing-home-page' : 'another --min-pages or --max-shrink';
  const next = [
    `Check the site. To publish this export, run the command again with ${flags}.`,
    `To export the site again, add --new. Without it, the command continues export job ${printable(jobId)}.`,
  ];
  const reached = { version, written: [] };
  return new CliError('held', reason, `${details[reason]}; nothing was written`, { next, ...reached });
}

/** @param error what ended the export: where an attempt failed before, that failure */
export function lastAttempt(error: unknown, keyHint: string | undefined): LastFailure | undefined {
  if (!(error instanceof PublishableError) || error instanceof CliError) return undefined;
  const { code, message } = failureOf(error);
  return { code, message, next: stepsFor(error, keyHint) };
}

/** The same error, with the steps that help where there are any. */
export function withSteps(error: unknown, keyHint: string | undefined): unknown {
  if (!(error instanceof ExportApiError)) return error;
  const { outcome, code, message } = failureOf(error);
  const next = stepsFor(error, keyHint);
  return next.length === 0 ? error : new CliError(outcome, code, message, { cause: error, next });
}

function stepsFor(error: PublishableError, keyHint: string | undefined): readonly string[] {
  if (!(error instanceof ExportApiError)) return [];
  const isRefused = error.code === 'Unauthorized' || error.code === 'Forbidden';
  if (isRefused && keyHint !== undefined) return [keyHint];
  return faultSteps(error, '--api-base-url');
}
