// The body of a notification in each format. Pure. Invariant: text from outside is text in each of them: no mention, link or
// Markdown of a receiver comes out of a condition's message.

import type { NotifyWebhook } from '#operator/staticexport/notify-schema.ts';
import type { NoticeKind, ObjectKey } from '#platform/wire/cluster.ts';
import { formatInstant } from '#platform/wire/instant.ts';

export interface Notification {
  readonly kind: NoticeKind;
  readonly object: ObjectKey;
  readonly domain: string | undefined;
  readonly projectId: string | undefined;
  /** The reason of the event, such as `PageCountDropped`. */
  readonly reason: string;
  readonly message: string;
  /** The published version, if any. */
  readonly version: string | undefined;
  /** Epoch ms. */
  readonly at: number;
}

/** @returns the body, JSON in each format */
export function notificationBody(
  format: NonNullable<NotifyWebhook['format']>,
  notification: Notification,
): string {
  switch (format) {
    case 'Generic':
      return JSON.stringify(genericBody(notification));
    case 'Slack':
      return JSON.stringify(slackBody(textOfNotification(notification)));
    case 'Teams':
      return JSON.stringify(teamsBody(notification));
    default:
      return format satisfies never;
  }
}

/** As Standard Webhooks recommend: type, time, and the data. */
function genericBody({
  kind,
  object,
  domain,
  projectId,
  reason,
  message,
  version,
  at,
}: Notification): object {
  const { namespace, name } = object;
  return {
    type: `staticexport.${kind.toLowerCase()}`,
    timestamp: formatInstant(at),
    data: { namespace, name, domain, projectId, reason, message, version },
  };
}

function titleOf({ kind, object, reason }: Notification): string {
  return `${kind}: StaticExport ${object.namespace}/${object.name} (${reason})`;
}

function textOfNotification(notification: Notification): string {
  return `${titleOf(notification)}\n${notification.message}`;
}

/** Slack's own escapes keep `<!channel>` a text. `mrkdwn` off leaves `*` and `_` as they are. */
function slackBody(text: string): object {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  return { text: escaped, mrkdwn: false, unfurl_links: false, unfurl_media: false };
}

/** A card, because Teams takes no plain text any more. A `TextRun` knows no Markdown; a `TextBlock` would. */
function teamsBody(notification: Notification): object {
  const line = (text: string, weight: 'Bolder' | 'Default') => ({
    type: 'RichTextBlock',
    inlines: [{ type: 'TextRun', text, weight }],
  });
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.4',
          body: [line(titleOf(notification), 'Bolder'), line(notification.message, 'Default')],
        },
      },
    ],
  };
}
