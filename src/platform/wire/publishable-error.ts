// The one class of every error that may leave the process: in status, events, logs, metrics, pages. Owns: a stable code,
// what may end the failure, a message that is safe to publish, and its form between threads. Refuses: a message made from a
// body, a header or a URL. Invariant: a message says what failed and what to do, never what the caller does next.

import { printable } from './printable-text.ts';

/**
 * `retry`: the same call may succeed soon.
 * `wait`: it can succeed at a time or after an event that the caller knows.
 * `stall`: a person must change something.
 * `refused`: the input itself is refused, such as an archive.
 */
export type FailureKind = 'retry' | 'wait' | 'stall' | 'refused';

export interface FailureDetails {
  /** Default: `stall`. */
  readonly kind?: FailureKind;
  /** The caller must not call again before; from `Retry-After`, or the time at which a link is valid. */
  readonly retryAfterMs?: number | undefined;
  /** Of a full disk: what must be free before the same call can succeed. */
  readonly neededBytes?: number | undefined;
  /** What to do, as sentences of their own, for a caller that shows steps apart. The message does not repeat them. */
  readonly remedy?: string | undefined;
  readonly cause?: unknown;
}

/** An error whose `message` and `code` hold no key, no link and no body, and are safe for all readers. */
export class PublishableError<Code extends string = string> extends Error {
  /** Stable, PascalCase, documented; never changes for a given failure. */
  readonly code: Code;
  readonly kind: FailureKind;
  readonly retryAfterMs: number | undefined;
  readonly neededBytes: number | undefined;
  readonly remedy: string | undefined;

  constructor(
    code: Code,
    message: string,
    { kind = 'stall', retryAfterMs, neededBytes, remedy, cause }: FailureDetails = {},
  ) {
    super(printable(message), { cause });
    this.name = new.target.name;
    this.code = code;
    this.kind = kind;
    this.retryAfterMs = retryAfterMs;
    this.neededBytes = neededBytes;
    this.remedy = remedy;
  }

  /** The same call may succeed later, without a change by a person. */
  get isTemporary(): boolean {
    return this.kind === 'retry' || this.kind === 'wait';
  }

  /** The same failure in other words, such as with the flag that would change it. */
  saying(message: string): PublishableError<Code> {
    const { code, kind, retryAfterMs, neededBytes, remedy } = this;
    return new PublishableError(code, message, { kind, retryAfterMs, neededBytes, remedy, cause: this });
  }
}

/** A failure as data: in results of a reconcile, and through them in status. */
export type PublishableFailure = Pick<PublishableError, 'code' | 'message' | 'retryAfterMs'>;

export function publishableFailure(error: unknown): PublishableFailure {
  const { retryAfterMs } = error instanceof PublishableError ? error : {};
  return { code: publishableCode(error), message: publishableMessage(error), retryAfterMs };
}

/** An error as it crosses between threads and processes, where classes and getters do not. */
export interface SentError extends Omit<FailureDetails, 'cause'> {
  readonly isPublishable: boolean;
  readonly code: string;
  readonly message: string;
  readonly cause: SentError | undefined;
}

/** Of another library's error only its code crosses. */
export function encodeError(error: unknown): SentError {
  const cause = error instanceof Error && error.cause !== undefined ? encodeError(error.cause) : undefined;
  const [code, message] = [publishableCode(error), publishableMessage(error)];
  if (!(error instanceof PublishableError)) return { isPublishable: false, code, message, cause };
  const { kind, retryAfterMs, neededBytes, remedy } = error;
  return { isPublishable: true, code, message, kind, retryAfterMs, neededBytes, remedy, cause };
}

/** @returns a {@link PublishableError} where it was one, or of a class derived from it */
export function decodeError({ isPublishable, code, message, cause: inner, ...details }: SentError): Error {
  const cause = inner && decodeError(inner);
  return isPublishable
    ? new PublishableError(code, message, { ...details, cause })
    : Object.assign(new Error(message, { cause }), { name: code, code });
}

/** Node's system errors carry one of these, also `ERR_SSL_SSL/TLS_ALERT_…`. Any other text there comes from outside and is not printed. */
const systemCode =
  /^(E[A-Z0-9_]+|UND_ERR_[A-Z_]+|ERR_[A-Z0-9_]+(\/TLS_[A-Z0-9_]+)?|CERT_[A-Z_]+|DEPTH_[A-Z_]+|SELF_SIGNED_[A-Z_]+|UNABLE_TO_[A-Z_]+|HPE_[A-Z_]+|(HOSTNAME|INVALID|PATH_LENGTH|EE|CA)_(MISMATCH|CA|PURPOSE|EXCEEDED|KEY_TOO_SMALL|MD_TOO_WEAK))$/;

/** undici has no code for a proxy that refuses the tunnel, and the proxy's HTTP status is what the reader needs. */
const proxyRefusal = /^Proxy response \((\d{3})\) !== 200 when HTTP Tunneling$/;

/**
 * The code of any thrown value, safe to publish: its own code for this project's errors, the system's
 * (`ECONNREFUSED`), a proxy's refusal (`PROXY_ANSWERED_407`), the nearest code among its causes, or the class name.
 */
export function publishableCode(error: unknown): string {
  for (let at: unknown = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth += 1) {
    if (at instanceof PublishableError) return at.code;
    const proxyStatus = proxyRefusal.exec(at.message)?.[1];
    if (proxyStatus !== undefined) return `PROXY_ANSWERED_${proxyStatus}`;
    // undici has no code for an answer that is not HTTP.
    if (at.name === 'HTTPParserError') return at.name;
    if ('code' in at && typeof at.code === 'string' && systemCode.test(at.code)) return at.code;
  }
  return error instanceof Error ? error.name : 'UnknownError';
}

/**
 * One line about any thrown value, safe to publish. Repeats only the code of other libraries' errors, not their
 * message.
 */
export function publishableMessage(error: unknown): string {
  if (error instanceof PublishableError) return error.message;
  return `unexpected ${publishableCode(error)}`;
}
