// The body of a notification in each format. What a site or an export API wrote stays text in all of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Notification, notificationBody } from '#operator/notify/notification.ts';

const notification: Notification = {
  kind: 'Held',
  object: { namespace: 'docs', name: 'site' },
  domain: 'docs.example.com',
  projectId: '665f1c2e',
  reason: 'PageCountDropped',
  message: 'The export has 3 pages & <!channel> [a](https://evil.example) *b*.',
  version: '20261121-030212-4be1c9f0',
  at: Date.UTC(2026, 10, 28, 3, 0, 0),
};

test('Generic is the form that Standard Webhooks recommend', () => {
  assert.deepEqual(JSON.parse(notificationBody('Generic', notification)), {
    type: 'staticexport.held',
    timestamp: '2026-11-28T03:00:00Z',
    data: {
      namespace: 'docs',
      name: 'site',
      domain: 'docs.example.com',
      projectId: '665f1c2e',
      reason: 'PageCountDropped',
      message: notification.message,
      version: '20261121-030212-4be1c9f0',
    },
  });
});

test('Slack gets a text in which a mention, a link and Markdown stay text', () => {
  assert.deepEqual(JSON.parse(notificationBody('Slack', notification)), {
    text: 'Held: StaticExport docs/site (PageCountDropped)\nThe export has 3 pages &amp; &lt;!channel&gt; [a](https://evil.example) *b*.',
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
  });
});

test('Teams gets a card whose texts know no Markdown', () => {
  const { type, attachments } = JSON.parse(notificationBody('Teams', notification));
  assert.equal(type, 'message');
  assert.equal(attachments[0].contentType, 'application/vnd.microsoft.card.adaptive');
  const { type: card, version, body } = attachments[0].content;
  assert.deepEqual([card, version], ['AdaptiveCard', '1.4']);
  assert.deepEqual(
    body.map((block: { readonly type: string; readonly inlines: readonly { readonly text: string }[] }) => [
      block.type,
      block.inlines.map(({ text }) => text).join(''),
    ]),
    [
      ['RichTextBlock', 'Held: StaticExport docs/site (PageCountDropped)'],
      ['RichTextBlock', notification.message],
    ],
  );
});
