// What `export` says where it wrote nothing: the gate that held it, with its flag, and how to publish all the same; and how
// an export that was stopped goes on. Pure.

import type { HoldReason } from '#operator/staticexport/reasons.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { CliError } from '../cli-error.ts';
import { counted } from '../output/amounts.ts';

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
  { jobId, version, pages }: { readonly jobId: string; readonly version: string; readonly pages: number },
  pagesBefore: number | undefined,
  flags: Readonly<Record<'minPages' | 'maxShrink', number>> & { readonly new: boolean },
): CliError {
  const { minPages, maxShrink, new: isNew } = flags;
  const details: Readonly<Record<HoldReason, string>> = {
    TooFewPages: `the export has ${counted(pages, 'page')} (--min-pages ${minPages})`,
    HomePageMissing: 'the export has no index.html at its root, so that its home page would not answer',
    PageCountDropped: `the export has ${counted(pages, 'page')}, down from ${pagesBefore ?? 0} (--max-shrink ${maxShrink})`,
    AwaitingPromotion: 'the export waits for its promotion',
  };
  const others: Readonly<Record<HoldReason, string>> = {
    TooFewPages: 'a lower --min-pages',
    HomePageMissing: '--allow-missing-home-page',
    PageCountDropped: 'a higher --max-shrink',
    AwaitingPromotion: 'other limits',
  };
  const without = isNew ? 'without --new and ' : '';
  const next = [
    `Check the site. To publish this export, run the command again ${without}with ${others[reason]}.`,
    ...(isNew
      ? []
      : [
          `To export the site again, add --new. Without it, the command continues export job ${printable(jobId)}.`,
        ]),
  ];
  const reached = { version, written: [] };
  return new CliError('held', reason, `${details[reason]}; nothing was written`, { next, ...reached });
}
