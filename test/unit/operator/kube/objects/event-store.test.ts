// Events as they are sent: within the limits of the API server, for any object and message.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createEventStore } from '#operator/kube/objects/event-store.ts';
import type { Transport } from '#operator/kube/transport/transport.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { printable } from '#platform/wire/printable-text.ts';
import * as fc from '../../../../support/properties.ts';

interface SentEvent {
  readonly metadata: { readonly name: string };
  readonly note: string;
  readonly eventTime?: unknown;
}

async function send(name: string, message: string, at = 0): Promise<SentEvent> {
  let sent: unknown;
  const transport: Transport = {
    call: async ({ body }) => {
      sent = body;
      return body;
    },
    stream: () => Promise.reject(new ClusterError('Invalid', 'no stream')),
    close: async () => {},
  };
  const store = createEventStore(transport, 'host_1');
  const regarding = {
    namespace: 'ns',
    name,
    uid: 'u',
    resourceVersion: '1',
    annotations: {},
    labels: {},
    ownerReferences: [],
  };
  const event = { regarding, type: 'Warning', reason: 'JobFailed', message, at, suffix: 'ab12' } as const;
  assert.equal(
    await store.create(event, new AbortController().signal),
    isSent(sent) ? sent.metadata.name : '',
  );
  assert.ok(isSent(sent));
  return sent;
}

const isSent = (body: unknown): body is SentEvent =>
  typeof body === 'object' && body !== null && 'metadata' in body && 'note' in body;

for (const name of ['docs', `${'a'.repeat(199)}-b`, `${'a'.repeat(198)}.-b`, 'a'.repeat(253)]) {
  test(`the event of a resource with a name of ${name.length} characters ending in ${name.slice(-3)} has a name`, async () => {
    const { metadata } = await send(name, 'words');
    assert.match(metadata.name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
    assert.ok(metadata.name.length <= 253 && metadata.name.endsWith('.ab12'));
  });
}

test('an event has its time on the whole second, as the status that it reports', async () => {
  const at = Date.parse('2026-11-21T10:00:00.789Z');
  assert.equal((await send('docs', 'words', at)).eventTime, '2026-11-21T10:00:00.000000Z');
});

test('property: notes are printable, and cut to 1024 bytes without a partial character', async () => {
  await fc.assertAsync(
    fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 1500, size: 'max' }), async (message) => {
      const { note } = await send('docs', message);
      const bytes = Buffer.byteLength(note);
      const shown = printable(message);
      assert.ok(shown.startsWith(note));
      assert.ok(bytes <= 1024 && (note === shown || bytes > 1020), `${bytes} bytes`);
    }),
    // To shrink a thousand characters takes longer than any test may.
    { endOnFailure: true },
  );
});
