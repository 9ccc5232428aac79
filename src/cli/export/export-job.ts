// One export, from the request to the checked archive: start → poll → issue a link → download and check. Continues what
// an earlier run left. Refuses: starting a second job while an answer may be lost; a start is sent again with the same
// key. What an error means is in reconcile/failure-policy.ts, as for the operator.

import type { BundleIndex } from '#bundle/bundle-index.ts';
import { readAddressFault } from '#export-api/address-fault.ts';
import { type ExportApi, ExportApiError, type IssuedLink } from '#export-api/answers.ts';
import { type CallPolicy, callPolicies } from '#operator/reconcile/failure-policy.ts';
import { pollIntervalMs } from '#operator/reconcile/poll.ts';
import { nameVersion } from '#operator/reconcile/settle/version.ts';
import { backOffMs } from '#platform/wire/back-off.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import type { Link } from '#platform/wire/link.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { createFirstAnswer, type FirstAnswer } from '../folder/first-answer.ts';
import { counted } from '../output/amounts.ts';
import type { CurrentExport, StateFolder } from '../publish/state-folder.ts';

export interface ExportRequest {
  readonly domain: string;
  readonly baseUrl: string;
  /** An unfinished export that is older is not continued, because its content may be older too. */
  readonly continueWithinMs: number;
  /** `--timeout`, as the clock's monotonic ms: no attempt is possible later. */
  readonly endsAt: number;
  /** The user wants a new export: an unfinished one is not continued. */
  readonly isNew: boolean;
}

export interface ExportDependencies extends Pick<CliContext, 'clock' | 'random' | 'progress'> {
  readonly api: ExportApi;
  readonly state: StateFolder;
  /** Downloads and checks the whole archive, and keeps its files. @throws {PublishableError} */
  prepare(link: Link, signal: AbortSignal): Promise<BundleIndex>;
}

export interface CompleteExport {
  readonly jobId: string;
  readonly version: string;
  readonly index: BundleIndex;
  readonly issued: IssuedLink;
  /** Epoch ms: when the link was requested. */
  readonly issuedAt: number;
}

/** Requests in a row whose answer was lost. */
const mostLostAnswers = 3;
/** A lost request may still be under way. */
const lostAnswerWaitMs = 30_000;
/** Links that lead to no archive: each is a new one. */
const mostLinks = 5;
const firstWaitMs = 2_000;
const longestWaitMs = 60_000;

/**
 * @throws {ExportApiError} {PublishableError} {CliError} `JobFailed`, `JobGone`; of an address that is wrong. Once the signal
 *   ends: the last failure, or else the signal's reason. The state says then how the next run continues
 */
export async function exportSite(
  request: ExportRequest,
  given: ExportDependencies,
  signal: AbortSignal,
): Promise<CompleteExport> {
  const left = given.state.state.current;
  const isKnown = left?.jobId !== undefined && left.baseUrl === request.baseUrl;
  const firstAnswer = createFirstAnswer('--api-base-url', given.clock, () => isKnown);
  const dependencies = { ...given, api: firstAnswer.watch(given.api), firstAnswer };
  const started = await startOrContinue(request, dependencies, signal);
  for (;;) {
    const completedAt = await waitForJob(started, request, dependencies, signal);
    const complete = await downloadChecked(started, completedAt, request, dependencies, signal);
    if (complete !== undefined) return complete;
  }
}

interface ObservedDependencies extends ExportDependencies {
  /** Of `api`. */
  readonly firstAnswer: FirstAnswer;
}

type StartedExport = CurrentExport & { readonly jobId: string };

async function startOrContinue(
  { domain, baseUrl, continueWithinMs, endsAt, isNew }: ExportRequest,
  { api, state, clock, random, progress, firstAnswer }: ObservedDependencies,
  signal: AbortSignal,
): Promise<StartedExport> {
  const now = clock.now();
  const left = state.state.current;
  const isOfSite = left?.domain === domain && left.baseUrl === baseUrl;
  const isContinued = isOfSite && !isNew && now - left.requestedAt <= continueWithinMs;
  if (left !== undefined && !isContinued && !isNew)
    progress.note('The unfinished export is too old or of another domain. Starting a new export');
  const current = isContinued ? left : { domain, baseUrl, idempotencyKey: random.uuid(), requestedAt: now };
  if (current.jobId !== undefined) {
    const requestedAt = formatInstant(current.requestedAt);
    progress.note(
      `Continuing export job ${printable(current.jobId)}, started at ${requestedAt}. For a new export, add --new`,
    );
    return { ...current, jobId: current.jobId };
  }
  await state.write({ ...state.state, current });
  progress.phase('Starting the export');
  const { jobId } = await repeat(
    () => api.startJob({ domain, idempotencyKey: current.idempotencyKey }, signal),
    { mostAttempts: mostLostAnswers, lostAnswerWaitMs, endsAt },
    { clock, progress, firstAnswer },
    signal,
  );
  const started = { ...current, jobId };
  await state.write({ ...state.state, current: started });
  return started;
}

/** @returns when the job was first seen complete, epoch ms */
async function waitForJob(
  { jobId, completedAt }: StartedExport,
  { endsAt }: ExportRequest,
  { api, state, clock, progress, firstAnswer }: ObservedDependencies,
  signal: AbortSignal,
): Promise<number> {
  const startedAt = clock.monotonic();
  progress.phase('Exporting');
  for (;;) {
    const report = await repeat(
      () => api.readJob(jobId, signal),
      { mostAttempts: Number.POSITIVE_INFINITY, endsAt },
      { clock, progress, firstAnswer },
      signal,
    ).catch((error: unknown) => forgetGoneJob(error, state));
    if (report.outcome === 'failed') {
      await forget(state);
      const said = report.said === undefined ? '' : `. It reports: "${report.said}"`;
      const message = `export job ${printable(jobId)} failed with status "${report.state}"${said}; run the command again for a new export`;
      throw new CliError('exportFailed', 'JobFailed', message);
    }
    if (report.outcome === 'completed') break;
    const pages = report.pageCount === undefined ? [] : [counted(report.pageCount, 'page')];
    progress.advance(report.progress, [report.state, ...pages].join(', '));
    const elapsedMs = clock.monotonic() - startedAt;
    await clock.after(Math.max(pollIntervalMs(elapsedMs), report.retryAfterMs ?? 0), signal);
  }
  const at = state.state.current?.completedAt ?? completedAt ?? clock.now();
  const { current } = state.state;
  if (current !== undefined) await state.write({ ...state.state, current: { ...current, completedAt: at } });
  return at;
}

/** @returns `undefined` where the export API says that the job is not complete after all */
async function downloadChecked(
  { jobId }: StartedExport,
  completedAt: number,
  { endsAt }: ExportRequest,
  { api, state, clock, random, progress, prepare, firstAnswer }: ObservedDependencies,
  signal: AbortSignal,
): Promise<CompleteExport | undefined> {
  let last: unknown;
  for (let links = 1; ; links += 1) {
    progress.phase('Issuing a link');
    const issuedAt = clock.now();
    const issued = await repeat(
      () => api.issueLink({ jobId, idempotencyKey: random.uuid() }, signal),
      { mostAttempts: mostLinks, endsAt },
      { clock, progress, firstAnswer },
      signal,
    ).catch(async (error: unknown) => {
      if (policyOf(error)?.isJobUnfinished !== true) return forgetGoneJob(error, state);
      await waitAfter(error, longestWaitMs, clock, signal);
      return undefined;
    });
    if (issued === undefined) return undefined;
    progress.phase('Downloading and checking');
    try {
      const link = issued.link.validUntil(issued.expiresAt);
      const index = await prepareWhenValid(link, { prepare, clock, progress }, signal);
      const version = nameVersion(completedAt, index.digest, jobId);
      return { jobId, version, index, issued, issuedAt };
    } catch (error) {
      if (signal.aborted) throw last ?? signal.reason;
      if (!(error instanceof PublishableError) || error instanceof CliError) throw error;
      if (error.kind === 'refused') await forget(state);
      if (error.kind === 'refused' || links >= mostLinks) throw error;
      progress.note(`${error.message} (${error.code}). Issuing another link`, 'warning');
      last = error;
      await waitAfter(error, error.code === 'LinkExpired' ? 0 : waitMs(links), clock, signal);
    }
  }
}

/** Another link would not be valid earlier than one that is not valid yet. */
async function prepareWhenValid(
  link: Link,
  { prepare, clock, progress }: Pick<ExportDependencies, 'prepare' | 'clock' | 'progress'>,
  signal: AbortSignal,
): Promise<BundleIndex> {
  for (;;) {
    try {
      return await prepare(link, signal);
    } catch (error) {
      if (!(error instanceof PublishableError) || error.code !== 'LinkNotYetValid' || signal.aborted)
        throw error;
      const { retryAfterMs = firstWaitMs } = error;
      progress.note(
        `${error.message} (${error.code}). Retrying in ${Math.ceil(retryAfterMs / 1000)} s`,
        'warning',
      );
      await waitAfter(error, retryAfterMs, clock, signal);
    }
  }
}

interface RepeatRule {
  readonly mostAttempts: number;
  /** The least wait after an answer that was lost. */
  readonly lostAnswerWaitMs?: number;
  /** As in `ExportRequest`. */
  readonly endsAt: number;
}

/** Sends again what may succeed later. @throws what the last whole attempt threw; without one, the signal's reason */
async function repeat<T>(
  send: () => Promise<T>,
  { mostAttempts, lostAnswerWaitMs: leastMs = 0, endsAt }: RepeatRule,
  { clock, progress, firstAnswer }: Pick<ObservedDependencies, 'clock' | 'progress' | 'firstAnswer'>,
  signal: AbortSignal,
): Promise<T> {
  let last: unknown;
  let unsent = 0;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await send();
    } catch (error) {
      if (signal.aborted) throw last ?? signal.reason;
      const fault = firstAnswer.fault();
      if (fault !== undefined) throw fault;
      // A request that was not sent has no answer that may be lost.
      const isUnsent = error instanceof ExportApiError && readAddressFault(error) === 'unreached';
      if (isUnsent) unsent += 1;
      const policy = policyOf(error);
      // 501: this address has no such call.
      const isTemporary =
        (policy?.isUnsure === true || policy?.limitsKey === true) && !isNotImplemented(error);
      if (!(error instanceof ExportApiError) || !isTemporary || attempts - unsent >= mostAttempts)
        throw error;
      const { retryAfterMs = 0 } = error;
      if (clock.monotonic() + retryAfterMs > endsAt) throw askedToWait(error, retryAfterMs);
      const least = policy.isUnsure === true && !isUnsent ? leastMs : 0;
      const delayMs = Math.min(Math.max(waitMs(attempts), least, retryAfterMs), firstAnswer.waitMs());
      progress.note(
        `${error.message} (${error.code}). Retrying in ${Math.ceil(delayMs / 1000)} s`,
        'warning',
      );
      last = error;
      await waitAfter(error, delayMs, clock, signal);
    }
  }
}

/** The export API says itself that no attempt before `--timeout` can succeed. */
function askedToWait(error: ExportApiError, retryAfterMs: number): CliError {
  const seconds = Math.ceil(retryAfterMs / 1000);
  const message = `${error.message}; it allows the next attempt in ${seconds} s, which is after --timeout`;
  const next = [`Run the same command again in ${seconds} s, or with a longer --timeout.`];
  return new CliError('temporary', error.code, message, { cause: error, next });
}

const isNotImplemented = (error: unknown): boolean => error instanceof ExportApiError && error.status === 501;

/** @throws where the signal ends the wait: the failure, because it says why the time was not enough */
async function waitAfter(
  failure: unknown,
  delayMs: number,
  clock: ExportDependencies['clock'],
  signal: AbortSignal,
): Promise<void> {
  await clock.after(delayMs, signal).catch((reason: unknown) => {
    throw signal.aborted ? failure : reason;
  });
}

function policyOf(error: unknown): CallPolicy | undefined {
  return error instanceof ExportApiError ? callPolicies[error.code] : undefined;
}

const waitMs = (attempts: number): number => backOffMs([firstWaitMs, longestWaitMs], attempts);

async function forget(state: StateFolder): Promise<void> {
  await state.write({ ...state.state, current: undefined });
}

/** A job that the export API does not have is not asked for again. */
async function forgetGoneJob(error: unknown, state: StateFolder): Promise<never> {
  if (policyOf(error)?.isJobGone !== true) throw error;
  await forget(state);
  const message = 'the export API no longer has the export job; run the command again for a new export';
  throw new CliError('exportFailed', 'JobGone', message, { cause: error });
}
