// What the API server said no to, in the words of its own Status.reason. Safe to publish: made of the code,
// the verb and the object's coordinates; never of the response's body or headers.

import { PublishableError } from './publishable-error.ts';

export type ClusterErrorCode =
  | 'Conflict' // 409: somebody wrote first; read again
  | 'AlreadyExists' // 409 on create
  | 'NotFound' // 404
  | 'Forbidden' // 403: a verb is missing from the role
  | 'Unauthorized' // 401
  | 'Invalid' // 422, 400: the object or patch was refused (a failed JSON Patch `test` too)
  | 'Gone' // 410: the resourceVersion is too old
  | 'TooManyRequests' // 429
  | 'NamespaceTerminating' // 403 with that cause
  | 'Unavailable' // 5xx, network, deadline
  | 'Aborted'; // the caller's signal

export class ClusterError extends PublishableError {
  declare readonly code: ClusterErrorCode;
  readonly retryAfterMs: number | undefined;

  constructor(
    code: ClusterErrorCode,
    message: string,
    facts: { readonly retryAfterMs?: number | undefined; readonly cause?: unknown } = {},
  ) {
    super(code, message, { cause: facts.cause });
    this.retryAfterMs = facts.retryAfterMs;
  }
}
