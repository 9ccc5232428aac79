// Why an export of conversations ended early, as the command line reports it: exit code, message and steps. Pure, except for
// the sink that it wraps. Refuses: reading a message; classes, codes and the HTTP status decide.

import { CliError, failureOf } from '#cli/cli-error.ts';
import { addressSteps, wrongAddress } from '#cli/folder/wrong-address.ts';
import { counted } from '#cli/output/amounts.ts';
import { notWritten } from '#cli/output/destination.ts';
import { readAddressFault } from '#export-api/address-fault.ts';
import { ExportApiError } from '#export-api/answers.ts';
import type { BucketFaultCode } from '#mirror/s3/bucket-fault.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { PartialRead, RunCounts } from '../run.ts';
import type { Sink } from '../sink.ts';

const address = ['Check --s3-endpoint, --s3-region and --s3-path-style.'];
const credentials = ['Check --s3-credentials, or the AWS_* variables.'];
const bucketSteps = {
  InvalidAddress: address,
  NotABucket: address,
  Unreachable: address,
  InvalidCredentials: credentials,
  Denied: credentials,
  WrongRegion: ['Set --s3-region.'],
  CertificateNotTrusted: ['Name its CA certificate with --extra-ca-file.'],
  AddressNotAllowed: [],
  QuotaExceeded: [],
  Protected: [],
  Refused: [],
  BucketMissing: [],
  ClockSkewed: [],
  ContentRefused: [],
} satisfies Record<BucketFaultCode, readonly string[]>;
const stepsByCode = new Map<string, readonly string[]>(Object.entries(bucketSteps));
const goesOn = 'Run the same command again: it goes on after the last object that was written.';

/** @param now epoch milliseconds. @param counts of what was committed before. @param keyHint what may be wrong with the key */
export function failedExport(
  error: unknown,
  { project }: { readonly project: string },
  now: number,
  keyHint?: string,
  counts?: RunCounts,
): unknown {
  const known: Readonly<Record<string, unknown>> = counts === undefined ? {} : { ...counts };
  if (error instanceof CliError) return error.knowing({ ...known, ...error.known });
  if (error instanceof ExportApiError)
    return refusedRequest(error, project, keyHint, known, counts === undefined);
  if (!(error instanceof PublishableError)) return error;
  const { outcome, code, message, next } = failureOf(error);
  const { kind, retryAfterMs } = error;
  // Rounded up, so that a run at that second finds a request.
  const time =
    kind === 'wait' && retryAfterMs !== undefined
      ? { retryTime: formatInstant(now + retryAfterMs + 999) }
      : {};
  const steps = stepsByCode.get(code);
  return new CliError(outcome, code, message, {
    cause: error,
    known: { ...known, ...time },
    next: steps === undefined ? next : [...steps, goesOn],
  });
}

/** The run came to its end, and some windows did not. */
export function partialExport(
  { window, why }: PartialRead,
  counts: RunCounts,
  readUntilMs: number,
): PublishableError {
  const { windows, partialWindows, inserted, updated } = counts;
  const span = `${formatInstant(window.from)} to ${formatInstant(window.until)}`;
  const sentences = [
    `the run read ${counted(partialWindows, 'window')} of ${windows} in part, and exported ${counted(inserted + updated, 'turn')}`,
    `The first such window is ${span}`,
    `There ${why}`,
    `All turns until ${formatInstant(readUntilMs)} are exported`,
    'Report it to the provider of the export API; the next run reads these windows again',
  ];
  return new PublishableError('ListingIncomplete', sentences.join('. '), { kind: 'retry' });
}

/** @param reason of the signal */
export function stoppedExport(reason: unknown, counts: RunCounts | undefined): unknown {
  if (!(reason instanceof CliError)) return reason;
  const { outcome, code, message } = reason;
  const next = ['Run the same command again: it goes on where it stopped.'];
  return new CliError(outcome, code, message, { cause: reason, next, known: { ...counts } });
}

function refusedRequest(
  error: ExportApiError,
  project: string,
  keyHint: string | undefined,
  known: Readonly<Record<string, unknown>>,
  isFirst: boolean,
): CliError {
  const { outcome, code, message } = failureOf(error);
  const failed = (text: string, next: readonly string[]): CliError =>
    new CliError(outcome, code, text, { cause: error, next, known });
  const status = error.status === undefined ? '' : ` (status ${error.status})`;
  switch (error.code) {
    case 'NotFound':
      return failed(`the export API has no project ${printable(project)}${status}`, [
        'Check --project. The API keys page of the dashboard shows the project’s id.',
        ...addressSteps('NetworkError', '--api-base-url'),
      ]);
    case 'Forbidden':
      return failed(`the export API refused this key for the project ${printable(project)}${status}`, [
        keyHint ?? 'Check that the key may read analytics of this project, and your plan.',
      ]);
    case 'Unauthorized':
      return failed(message, keyHint === undefined ? [] : [keyHint]);
    case 'BadRequest':
      return failed(`the export API refused the query of conversations${status}`, [
        'Check --since, --until and --limit. The turns that were read before are kept.',
      ]);
    default: {
      // Nothing was read yet, so the address may be misspelt.
      if (isFirst && readAddressFault(error) !== undefined)
        return wrongAddress(error, '--api-base-url').knowing(known);
      // A page of long answers may be more than the client reads, and stays so until it has fewer turns.
      const isWhole = error.code === 'UnexpectedAnswer' && error.status === 200;
      const smaller = isWhole ? ['Where answers of the assistant are very long, lower --limit.'] : [];
      return failed(message, [...addressSteps(error.code, '--api-base-url'), ...smaller]);
    }
  }
}

/** What the file system or a bucket refuses names the destination. @param name `--to turns` */
export const sinkFault = (error: unknown, name: string): unknown =>
  error instanceof PublishableError ? error : notWritten(name, error);

/** The same sink, with errors that name the destination. */
export function reportingFaults(sink: Sink, name: string): Sink {
  const named = async <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw sinkFault(error, name);
    });
  const { keepBookmark } = sink;
  return {
    write: (turns) => named(sink.write(turns)),
    isFull: () => sink.isFull(),
    flush: () => named(sink.flush()),
    ...(keepBookmark !== undefined && { keepBookmark: (bookmark) => named(keepBookmark(bookmark)) }),
    close: () => named(sink.close()),
  };
}
