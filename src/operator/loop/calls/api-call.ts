// Calls to the export API for one resource: its connection, its errors as failures, and the pace of its polls. Refuses a
// call without an allowed host and a key, and any error that is not the client's.

import { type ExportApi, ExportApiError } from '#export-api/answers.ts';
import type { Observation } from '#operator/reconcile/observation.ts';
import type { CallFailure } from '#operator/reconcile/result.ts';
import { type Issuer, issuerOf } from '#operator/reconcile/state.ts';
import { unsentCodes } from '#platform/http/connection-fault.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { wholeSecond } from '#platform/wire/instant.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';
import type { ActionContext } from '../context.ts';
import { resourceId } from '../memory.ts';

/** Whom a call asks, and with which key. */
export interface Caller {
  readonly observation: Observation;
  readonly key: string | undefined;
}

/** @throws {TypeError} without an allowed host and a key */
export function connect(
  { observation, key }: Caller,
  context: Pick<ActionContext, 'exportApi'>,
  { baseUrl, projectId }: Issuer = issuerOf(undefined, observation.wanted),
): ExportApi {
  // Access is already closed without either. The check is for the compiler and for later changes of that rule.
  if (baseUrl === undefined || key === undefined || !observation.isHostAllowed) {
    throw new TypeError('no call without an allowed host and a key');
  }
  const basePath = observation.wanted.project?.basePath;
  const project = projectId === undefined ? undefined : { id: projectId, basePath };
  return context.exportApi.connect({ baseUrl, project }, key);
}

/** Polls are paced from here. A restarted process polls at once. */
export function notePoll(
  { metadata }: StaticExportObject,
  { memory, clock }: Pick<ActionContext, 'memory' | 'clock'>,
  jobId: string,
  retryAfterMs: number | undefined,
): void {
  memory.polls.set(resourceId(metadata), { jobId, at: wholeSecond(clock.now()), retryAfterMs });
}

/** Turns the client's errors into failures. Rethrows all other errors, and aborts by the operator. */
export async function call<T, F>(
  send: () => Promise<T>,
  failed: (failure: CallFailure) => F,
  signal: AbortSignal,
): Promise<T | F> {
  try {
    return await send();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ExportApiError)) throw error;
    const { code, retryAfterMs, requestId, said } = error;
    return failed({ code, retryAfterMs, why: whyOf(error), requestId, ...(said !== undefined && { said }) });
  }
}

/** True if the export API cannot have got the request. */
export function isUnsent({ code, why = '' }: CallFailure): boolean {
  return code === 'ExportApiNotTrusted' || (code === 'NetworkError' && unsentCodes.has(why));
}

/** A refused connection and an expired certificate need different people; so do a 500 and a 503. */
function whyOf({ code, cause, status }: ExportApiError): string | undefined {
  if (code === 'NetworkError' || code === 'ExportApiNotTrusted') return systemCodeOf(cause);
  const hasStatus = code === 'ServerError' || code === 'UnexpectedAnswer';
  return hasStatus && status !== undefined ? `HTTP ${status}` : undefined;
}

/** Returns a system code, because a class name does not help the reader. */
function systemCodeOf(cause: unknown): string | undefined {
  const code = publishableCode(cause);
  return /^[A-Z][A-Z0-9_]+$/.test(code) ? code : undefined;
}
