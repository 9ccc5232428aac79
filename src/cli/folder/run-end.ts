// How a run ends: which failures are final, what it reached, and what failed last before its deadline. Pure. Refuses:
// reading a message; codes and the status decide.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import type { ExportApiErrorCode } from '#export-api/answers.ts';
import { exponentialMs } from '#operator/reconcile/backoff.ts';
import type { StartDelay } from '#operator/reconcile/start-budget.ts';
import { failureMessage } from '#operator/reconcile/status/failure-words.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import type { Spec } from '#operator/staticexport/schema.ts';
import type { Failure, Status } from '#operator/staticexport/status-schema.ts';
import { projectOf } from '#operator/staticexport/wanted.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { CliError, failureOf, type Reached } from '../cli-error.ts';
import { privateLinkMessage } from '../publish/published.ts';
import type { RunDestination } from '../publish/publisher.ts';
import { needsPerson, type RunOutcome } from '../run-outcome.ts';
import { addressSteps } from './wrong-address.ts';

export interface RunRules {
  readonly once: boolean;
  /** Of the whole command with `--once`, in ms. */
  readonly timeout: number;
  readonly allowPrivateLinks: boolean;
  readonly apiBaseUrl: string | undefined;
  /** Of the manifest. */
  readonly spec: unknown;
  /** Steps that continue what was stopped. */
  resume(status: Status): readonly string[];
}

/** As the loop saw it last. */
export interface RunState {
  readonly status: Status;
  readonly published: PublishedBundle | undefined;
  readonly destinations: readonly RunDestination[];
}

/** A run goes on after any failure but a bug; with --once, only after one that may pass. */
export function isFinal(failure: CliError, { once }: Pick<RunRules, 'once'>): boolean {
  const { outcome, retryable } = failureOf(failure);
  return outcome === 'bug' || (once && !retryable);
}

/** The operator retries what a person must change first. A run that ends waits for no person. */
export function refusedCall({ failures }: Status, rules: RunRules): RunOutcome | undefined {
  const failure = failures?.poll;
  if (failure === undefined) return undefined;
  const { code, message } = lastFailureOf(failure, rules);
  if (code === ('BadRequest' satisfies ExportApiErrorCode)) return { outcome: 'exportFailed', code, message };
  if (!needsPerson(code)) return undefined;
  // A storage may refuse one link, such as a link of a moment ago, and take the next.
  if (code === 'LinkRefused' && failure.count < 2) return undefined;
  if (code !== 'PrivateLink') return { outcome: 'temporary', code, message };
  return rules.allowPrivateLinks ? undefined : { outcome: 'usage', code, message: privateLinkMessage };
}

/**
 * The export API itself allows no attempt before the deadline, so that waiting for it is of no use.
 *
 * @param endsAt epoch ms
 */
export function refusedUntil(
  endsAt: number,
  { failures = {} }: Status,
  rules: RunRules,
): CliError | undefined {
  const failure = latestOf(failures);
  if (failure === undefined) return undefined;
  const retryAt = readInstant(failure.retryTime) ?? 0;
  const failedAt = readInstant(failure.lastFailureTime) ?? 0;
  const { code, message } = lastFailureOf(failure, rules);
  const said = `${message}. The next attempt is allowed at ${failure.retryTime}`;
  // A runner should not wait up to an hour, and then no time would be left for the job.
  if (code === ('StartBudgetUsed' satisfies StartDelay['code']))
    return new CliError('temporary', code, said, { next: ['Run the same command again then.'] });
  const isAsked =
    code === ('RateLimited' satisfies ExportApiErrorCode) ||
    retryAt > failedAt + exponentialMs('export', failure.count);
  if (retryAt <= endsAt || !isAsked) return undefined;
  return new CliError('temporary', code, `${said}, which is after --timeout`, {
    next: ['Run the same command again then, or with a longer --timeout.'],
  });
}

/** What the steps after an end depend on. */
export interface StepRules extends Pick<RunRules, 'spec'> {
  /** Where the user gave the API key. */
  readonly keySource: string;
}

/** What a user does after an end of this code, in addition to what its message says. */
export function stepsAfter(
  code: string,
  { failures }: Status,
  { keySource, spec }: StepRules,
): readonly string[] {
  switch (code) {
    case 'StartRefused':
      return addressSteps(failures?.export?.reason ?? '', addressSetting({ spec }));
    case 'KeyEmpty':
    case 'KeyInvalid':
    case 'KeyRefused':
      return [`Write a valid key into ${keySource}, and run the command again.`];
    case 'AwaitingPromotion':
      return ['Set the annotation in the manifest, and run the command again.'];
    default:
      return [];
  }
}

/** The published version, and the destinations that hold it. */
export function reachedBy(
  published: PublishedBundle | undefined,
  destinations: readonly RunDestination[],
): Pick<Reached, 'version' | 'written'> {
  if (published === undefined) return {};
  return { version: published.version, written: destinations.flatMap((one) => one.written()) };
}

/** What failed last before a deadline. */
export interface LastFailure {
  readonly code: string;
  /** A clause without the code. */
  readonly message: string;
  /** What helps. */
  readonly next: readonly string[];
}

export interface Stop {
  /** Why the command was stopped; `undefined` at the deadline. */
  readonly reason: CliError | undefined;
  readonly timeoutMs: number;
  readonly lastFailure: LastFailure | undefined;
  /** How to continue. */
  readonly resume: readonly string[];
  readonly reached?: Pick<Reached, 'version' | 'written'>;
}

/** After a signal or the deadline: what was reached, what failed last, and how to continue. @param cause what was thrown */
export function stopped(
  cause: unknown,
  { reason, timeoutMs, lastFailure: last, resume, reached }: Stop,
): CliError {
  if (reason !== undefined) {
    const { outcome, code, message } = reason;
    return new CliError(outcome, code, message, { cause, next: resume, ...reached });
  }
  const passed = `--timeout has passed (${Math.round(timeoutMs / 1000)} s)`;
  if (last === undefined) {
    return new CliError('deadline', 'DeadlineExceeded', passed, { cause, next: resume, ...reached });
  }
  const { code, message } = last;
  // The code of the command's own failure follows the message, so this one comes before.
  const text = `${passed}. The last attempt failed with ${code}: ${message}`;
  const next = [...new Set([...last.next, ...resume])];
  return new CliError('deadline', 'DeadlineExceeded', text, {
    cause,
    next,
    lastFailure: { code, message },
    ...reached,
  });
}

/** @param stop of the user. @returns what to throw once the run's signal has ended */
export function stopOf(
  error: unknown,
  { status, published, destinations }: RunState,
  rules: RunRules,
  stop: AbortSignal,
): unknown {
  const reason = stop.aborted && stop.reason instanceof CliError ? stop.reason : undefined;
  if (reason === undefined && !rules.once) return error;
  return stopped(error, {
    reason,
    timeoutMs: rules.timeout,
    lastFailure: failureOfDestination(destinations) ?? failureOfExport(status, rules),
    resume: rules.resume(status),
    reached: reachedBy(published, destinations),
  });
}

function failureOfDestination(destinations: readonly RunDestination[]): LastFailure | undefined {
  return destinations.map((one) => one.failure()).find((one) => one !== undefined);
}

function failureOfExport({ failures = {} }: Status, rules: RunRules): LastFailure | undefined {
  const latest = latestOf(failures);
  return latest && lastFailureOf(latest, rules);
}

/** Of the operation that failed latest: the export, its job or its link. */
function latestOf(failures: NonNullable<Status['failures']>): Failure | undefined {
  return [failures.export, failures.start, failures.poll, failures.link]
    .filter((one) => one !== undefined)
    .toSorted((one, other) => other.lastFailureTime.localeCompare(one.lastFailureTime))[0];
}

/** Where the user wrote the address of the export API. */
export function addressSetting({ spec }: Pick<RunRules, 'spec'>): string {
  return readSpec(spec)?.api.baseUrl === undefined ? '--api-base-url' : 'spec.api.baseUrl';
}

const readSpec = (spec: unknown): Spec | undefined => parseStaticExport({ spec, status: {} }).spec;

function lastFailureOf(latest: Failure, rules: RunRules): LastFailure {
  const { domain, api } = readSpec(rules.spec) ?? {};
  const wanted = { domain, project: projectOf(api), baseUrl: api?.baseUrl ?? rules.apiBaseUrl };
  return {
    code: latest.reason,
    message: failureMessage(latest, { wanted }) ?? 'the call failed',
    next: addressSteps(latest.reason, addressSetting(rules)),
  };
}
