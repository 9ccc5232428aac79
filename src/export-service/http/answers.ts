// Sends every error answer of the service, as `{error, details?}` and in the service's own words. Invariant: no thrown
// value reaches a client or ends the process; a defect of the service is a 500 without its cause.

import type { ErrorRequestHandler, RequestHandler } from 'express';
import * as z from 'zod';
import type { ErrorDocument } from '#export-api/contract.ts';
import type { Logger } from '#platform/runtime/logger.ts';
import { ApiRefusal } from '../api-refusal.ts';

/** What the framework and its body parser throw: an HTTP status, and words that may repeat the request. */
const frameworkError = z.object({
  status: z.int().min(400).max(499),
  headers: z.record(z.string(), z.string()).optional(),
});

const words: Readonly<Record<number, string>> = {
  400: 'the request cannot be read: check that the body is one JSON object and the address is well-formed',
  413: 'the body is too large',
  415: 'the body must be application/json in UTF-8, without a content encoding',
  404: 'no such thing',
  416: 'the range lies outside of the archive',
};

export function refusalBody({ message, details }: ApiRefusal): ErrorDocument {
  return {
    error: message,
    ...(details.length > 0 && { details: details.map((text) => ({ message: text })) }),
  };
}

/** The refusal that a thrown value amounts to; `undefined` for a defect of the service. */
export function apiRefusalOf(error: unknown): ApiRefusal | undefined {
  if (error instanceof ApiRefusal) return error;
  const known = frameworkError.safeParse(error);
  if (!known.success) return undefined;
  const { status, headers } = known.data;
  return new ApiRefusal(status, words[status] ?? 'the request was refused', {
    cause: error,
    ...(headers !== undefined && { headers }),
  });
}

export function answerErrors(logger: Logger): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const refusal = apiRefusalOf(error);
    const isGone = request.destroyed && !request.complete;
    if (refusal === undefined && !isGone) logger.error({ error, method: request.method }, 'a request failed');
    if (response.headersSent) {
      response.destroy(error instanceof Error ? error : new Error('the answer was cut off'));
      return;
    }
    response.status(refusal?.status ?? 500);
    for (const [name, value] of Object.entries(refusal?.headers ?? {})) response.set(name, value);
    response.json(refusal === undefined ? { error: 'internal error' } : refusalBody(refusal));
  };
}

export const answerNotFound: RequestHandler = () => {
  throw new ApiRefusal(404, 'there is no such endpoint');
};

/** For the last handler of a route: the method is not one of `allowed`. */
export function answerOnly(...allowed: readonly string[]): RequestHandler {
  return (request) => {
    throw new ApiRefusal(405, `${request.method} is not possible here`, {
      headers: { Allow: allowed.join(', ') },
    });
  };
}
