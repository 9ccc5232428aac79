// The headers of a signed webhook that this project sends, as the Standard Webhooks specification writes them: id, time
// and HMAC-SHA256. Pure. Refuses: verifying (webhook/verification.ts).

import { createHmac } from 'node:crypto';

/** `whsec_` with base64 as Standard Webhooks write it, or the text itself. */
export function readWebhookSecret(text: string): Uint8Array {
  const [, encoded] = /^whsec_([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? [];
  return encoded === undefined ? Buffer.from(text.trim()) : Buffer.from(encoded, 'base64');
}

/**
 * @param id equal for each attempt to deliver the same message
 * @param now of this attempt, epoch ms
 */
export function webhookHeaders(
  id: string,
  now: number,
  body: string,
  secret: Uint8Array,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(now / 1000));
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${signature}`,
  };
}
