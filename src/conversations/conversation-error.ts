// Why an export of conversations ended early: a stable code, a message, and what the caller can do about it. Owns the kinds.
// Refuses: text of a turn, a key or an address in a message.

import { PublishableError } from '../wire/publishable-error.ts';

/**
 * `temporary`: a later run goes on. `usage`: other settings are needed. `sink`: the destination did not take the turns.
 * `refused`: the export API has no such project, or does not accept the request.
 */
export type ConversationErrorKind = 'temporary' | 'usage' | 'sink' | 'refused';

export class ConversationError extends PublishableError {
  readonly kind: ConversationErrorKind;
  /** Epoch ms from which a later run can go on. */
  readonly retryAt: number | undefined;

  constructor(
    kind: ConversationErrorKind,
    code: string,
    message: string,
    details: { readonly cause?: unknown; readonly retryAt?: number | undefined } = {},
  ) {
    super(code, message, { cause: details.cause });
    this.kind = kind;
    this.retryAt = details.retryAt;
  }
}
