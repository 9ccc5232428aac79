// One call of a webhook: its address and secret out of the Secret, the request, and what the answer means. Refuses: hosts that
// the operator does not allow, redirects, and an address with user and password. Invariant: no problem repeats an address,
// only its host.

import { type NotifyWebhook, notifySecretKeys } from '#operator/staticexport/notify-schema.ts';
import type { HttpAgent } from '#platform/http/agent.ts';
import { readConnectionFault } from '#platform/http/connection-fault.ts';
import { isPassing, isSuccess, readWhole, retryAfterOf } from '#platform/http/exchange.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { readHttpOrigin, readOriginEntry, shortOriginEntry } from '#platform/wire/http-origin.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { readWebhookSecret, webhookHeaders } from '#platform/wire/webhook-signature.ts';

/** Where a notification goes. */
export interface NotifyAddress {
  readonly url: URL;
  /** As an entry of the flag names it. */
  readonly host: string;
  /** Of HMAC-SHA256; `undefined` for chat services, whose address is the secret. */
  readonly secret: Uint8Array | undefined;
}

/**
 * @param data decoded bytes by key; `undefined` where the Secret does not exist
 * @param allowedHosts entries of `--allowed-notify-hosts`
 * @returns a text for what is wrong, with the remedy
 */
export function readNotifyAddress(
  { format = 'Generic', secretRef: { name } }: NotifyWebhook,
  data: Readonly<Record<string, Uint8Array>> | undefined,
  allowedHosts: readonly string[],
): NotifyAddress | string {
  if (data === undefined) return `Secret ${name} does not exist. Create it with key ${notifySecretKeys.url}`;
  const address = textAt(data, notifySecretKeys.url);
  if (address === '') return `Secret ${name} has no key ${notifySecretKeys.url}. Write the address into it`;
  const origin = readHttpOrigin(address);
  if (origin === undefined) {
    return `key ${notifySecretKeys.url} of Secret ${name} is not an http(s) URL, or has a user or password. Correct it`;
  }
  const host = printable(shortOriginEntry(origin), 300);
  if (!allowedHosts.some((entry) => readOriginEntry(entry) === origin)) {
    return `--allowed-notify-hosts of the operator does not allow ${host}. Add it there`;
  }
  const secret = textAt(data, notifySecretKeys.secret);
  if (format === 'Generic' && secret === '') {
    return `Secret ${name} has no key ${notifySecretKeys.secret}. Write the shared secret of the receiver into it`;
  }
  return {
    url: new URL(address),
    host,
    secret: format === 'Generic' ? readWebhookSecret(secret) : undefined,
  };
}

/** Files end with a line feed, and no address or secret does. */
function textAt(data: Readonly<Record<string, Uint8Array>>, key: string): string {
  const bytes = Object.hasOwn(data, key) ? data[key] : undefined;
  return bytes === undefined ? '' : new TextDecoder().decode(bytes).trim();
}

export type NotifyAnswer =
  | { readonly kind: 'taken' }
  /** Another attempt would get the same answer. */
  | { readonly kind: 'refused'; readonly problem: string }
  | { readonly kind: 'unavailable'; readonly problem: string; readonly retryAfterMs: number | undefined };

export interface NotifyCallOptions {
  readonly agent: HttpAgent;
  readonly userAgent: string;
  readonly timeoutMs: number;
  readonly clock: Pick<Clock, 'now' | 'deadline'>;
}

/** A receiver has nothing to say. */
const longestAnswer = 64 * 1024;

/** @throws the signal's reason, and nothing else */
export async function callWebhook(
  { url, host, secret }: NotifyAddress,
  { id, body }: { readonly id: string; readonly body: string },
  { agent, userAgent, timeoutMs, clock }: NotifyCallOptions,
  signal: AbortSignal,
): Promise<NotifyAnswer> {
  const now = clock.now();
  const deadline = clock.deadline(timeoutMs, signal);
  try {
    const headers = {
      'content-type': 'application/json',
      'user-agent': userAgent,
      ...(secret === undefined ? {} : webhookHeaders(id, now, body, secret)),
    };
    const answer = await agent.send({ method: 'POST', url, headers, body }, deadline);
    // The status is the answer. A body that breaks off changes nothing.
    await readWhole(answer, longestAnswer).catch(() => {});
    if (isSuccess(answer)) return { kind: 'taken' };
    const { statusCode } = answer;
    if (!isPassing(answer)) {
      return { kind: 'refused', problem: `${host} returned ${statusCode}. ${remedyOf(statusCode)}` };
    }
    return {
      kind: 'unavailable',
      problem: `${host} returned ${statusCode}. Check the receiver`,
      retryAfterMs: retryAfterOf(answer, now),
    };
  } catch (error) {
    signal.throwIfAborted();
    return { kind: 'unavailable', problem: `${host} ${problemOf(error, deadline)}`, retryAfterMs: undefined };
  }
}

function problemOf(error: unknown, deadline: AbortSignal): string {
  if (deadline.aborted) return 'did not answer in time. Check the receiver';
  const { what, remedy } = readConnectionFault(error);
  return `${what}. ${remedy}`;
}

function remedyOf(status: number): string {
  if (status >= 300 && status < 400)
    return 'Redirects are not followed. Write the final address into the Secret';
  return status === 401 || status === 403
    ? 'Check the address and the shared secret in the Secret'
    : 'Check the address in the Secret';
}
