// Signatures as senders compute them, written from the descriptions of the schemes and without code of the receiver.

import { createHmac } from 'node:crypto';

export function hmacHex(secret: string, body: Uint8Array): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}

/** The headers of Standard Webhooks. */
export function signStandard(
  secret: string,
  body: Uint8Array,
  { now, id = 'msg_1' }: { readonly now: number; readonly id?: string },
): {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
} {
  const timestamp = String(Math.floor(now / 1000));
  const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(signed).digest('base64');
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
}
