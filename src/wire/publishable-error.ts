// The one base class of every error that may leave the process: in status, events, logs, metrics, pages. Owns: a
// stable code, a message that is safe to publish, and the cause for debuggers only. Refuses: a message made from a
// body, a header or a URL. Code that throws it writes the message; names from outside in it are made printable.

import { printable } from './printable-text.ts';

/** An error whose `message` and `code` hold no key, no link and no body, and are safe for all readers. */
export class PublishableError extends Error {
  /** Stable, PascalCase, documented; never changes for a given failure. */
  readonly code: string;

  constructor(code: string, message: string, options?: { readonly cause?: unknown }) {
    super(printable(message), options);
    this.name = new.target.name;
    this.code = code;
  }
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
