// Refusals by the Kubernetes API server, with its own Status.reason as the code. Safe to publish: made of the code,
// the verb and the object's kind and name; never of the response's body or headers.

import { PublishableError } from './publishable-error.ts';

export type ClusterErrorCode =
  | 'Conflict' // 409: another client wrote first; read again
  | 'FieldConflict' // 409 of an apply: another manager owns a field
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

/** A field that an apply would have taken from its manager. */
export interface OwnedField {
  /** Printable. */
  readonly manager: string;
  /** As the API server names it, such as `.spec.values.staticExport.version`. */
  readonly field: string;
}

const temporary: ReadonlySet<ClusterErrorCode> = new Set(['Unavailable', 'TooManyRequests', 'Conflict']);

/** A class of its own, because its codes are also those of export APIs, and a caller asks which of the two refused. */
export class ClusterError extends PublishableError<ClusterErrorCode> {
  /** Of a `FieldConflict`. */
  readonly ownedFields: readonly OwnedField[];

  constructor(
    code: ClusterErrorCode,
    message: string,
    details: {
      readonly retryAfterMs?: number | undefined;
      readonly ownedFields?: readonly OwnedField[];
      readonly cause?: unknown;
    } = {},
  ) {
    super(code, message, { kind: temporary.has(code) ? 'retry' : 'stall', ...details });
    this.ownedFields = details.ownedFields ?? [];
  }
}
