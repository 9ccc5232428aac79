// Whether the export API has answered a command yet, or gave the job that the command continues. Until then a failure may
// be a typing error in the address, which no retry corrects: some end the command at once, a host that cannot be reached
// after two minutes. After the first answer, also a refusal, each failure may pass. Refuses: retrying; the caller asks
// after each failure.

import { readAddressFault } from '#export-api/address-fault.ts';
import { type ExportApi, ExportApiError } from '#export-api/answers.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { CliError } from '../cli-error.ts';
import { wrongAddress } from './wrong-address.ts';

/** A service that is being started has an address by then. */
const unreachedMs = 120_000;

export interface FirstAnswer {
  /** The same calls, observed. */
  watch(api: ExportApi): ExportApi;
  /** True from the first failure to reach the host until its first answer. */
  isUnreached(): boolean;
  /** What ends the command now. */
  fault(): CliError | undefined;
  /** Until `fault` may change by time alone; infinite where it does not. */
  waitMs(): number;
}

/**
 * @param setting where the user wrote the address: `--api-base-url`
 * @param isKnown true while a job is known that this address started
 */
export function createFirstAnswer(
  setting: string,
  clock: Pick<Clock, 'monotonic'>,
  isKnown: () => boolean,
): FirstAnswer {
  let wasAnswered = false;
  const hasAnswered = (): boolean => wasAnswered || isKnown();
  let last: ExportApiError | undefined;
  let unreachedSince: number | undefined;
  const observe = async <T>(call: Promise<T>, ofJob = true): Promise<T> => {
    try {
      const answer = await call;
      wasAnswered = true;
      return answer;
    } catch (error) {
      // 404 for a job means that the job is gone.
      if (error instanceof ExportApiError && !(ofJob && error.code === 'NotFound')) note(error);
      throw error;
    }
  };
  const note = (error: ExportApiError): void => {
    const fault = readAddressFault(error);
    // A refusal as an export API gives it is an answer too: 429, or 503 while it is restarted.
    if (fault === undefined && error.status !== undefined) wasAnswered = true;
    last = fault === undefined ? undefined : error;
    unreachedSince = fault === 'unreached' ? (unreachedSince ?? clock.monotonic()) : undefined;
  };
  const remainingMs = (): number =>
    hasAnswered() || unreachedSince === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(0, unreachedSince + unreachedMs - clock.monotonic());
  return {
    watch: (api) => ({
      startJob: (request, signal) => observe(api.startJob(request, signal), false),
      readJob: (jobId, signal) => observe(api.readJob(jobId, signal)),
      issueLink: (request, signal) => observe(api.issueLink(request, signal)),
    }),
    isUnreached: () => !hasAnswered() && unreachedSince !== undefined,
    fault: () => {
      const isEarly = unreachedSince !== undefined && remainingMs() > 0;
      return hasAnswered() || last === undefined || isEarly ? undefined : wrongAddress(last, setting);
    },
    waitMs: remainingMs,
  };
}
