// The schema of one entry of `spec.notify`: a webhook that receives notifications. Refuses: an address in the spec, because
// the addresses of chat services are secrets.

import * as z from 'zod';
import { noticeKinds } from '#platform/wire/cluster.ts';
import { formed, objectName } from './schema-texts.ts';

/** Keys of the Secret that an entry names. */
export const notifySecretKeys = { url: 'url', secret: 'secret' } as const;

export const notifyWebhook = z
  .object({
    name: formed(
      63,
      '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      'must be a name for the webhook: lower-case letters, digits and "-", beginning and ending with a letter or digit',
    ).describe('Name of the webhook, unique within spec.notify. Events use it.'),
    format: z
      .enum(['Generic', 'Slack', 'Teams'])
      .describe(
        'Generic sends JSON, signed as Standard Webhooks say. Slack and Teams send a text. Default: Generic.',
      )
      .optional(),
    secretRef: z
      .object({ name: objectName.describe('Name of a Secret in the same namespace.') })
      .describe(
        'Secret with the address in key url, and for Generic the shared secret in key secret. --allowed-notify-hosts of the operator must allow the host.',
      ),
    events: z
      .array(z.enum(noticeKinds).describe('Published, Held, Failed or Recovered.'))
      .min(1)
      .max(noticeKinds.length)
      .describe('What is sent: Published, Held, Failed, Recovered. Default: all.')
      .meta({ 'x-kubernetes-list-type': 'set' })
      .optional(),
  })
  .describe('One webhook that receives notifications.');

/** One entry of `spec.notify`, as written. */
export type NotifyWebhook = z.infer<typeof notifyWebhook>;
