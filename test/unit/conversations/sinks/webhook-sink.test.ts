// The webhook: signed requests of at most 500 turns, repeated where the receiver asks for it, and never redirected.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { webhookSink } from '#conversations/sinks/webhook-sink.ts';
import { readWebhookSecret } from '#platform/wire/webhook-signature.ts';
import { leapingClock } from '../../../support/conversation-model.ts';
import { startHookReceiver } from '../../../support/hook-receiver.ts';
import { openAgent } from '../../../support/open-agent.ts';
import { sampleTurn } from '../../../support/sample-turn.ts';

const secret = Buffer.from('a secret of enough bytes');

/** @param statuses of the answers in order; then 204 */
async function startReceiver(t: TestContext, statuses: readonly number[]) {
  const { origin, received, close } = await startHookReceiver(statuses);
  t.after(async () => {
    await close();
  });
  const clock = leapingClock(Date.UTC(2026, 10, 26));
  const url = `${origin}/turns`;
  const target = { url, secret, agent: openAgent, userAgent: 'test', timeoutMs: 5_000, clock };
  return { received, clock, sink: webhookSink(target, new AbortController().signal) };
}

const turns = (count: number) =>
  Array.from({ length: count }, (_, index) => sampleTurn({ query: `question ${index}` }));

test('each request has at most 500 turns, and a signature as Standard Webhooks say', async (t) => {
  const { received, sink } = await startReceiver(t, []);
  await sink.write(turns(1001));
  const counts = received.map(({ body }) => JSON.parse(body).turns.length);
  assert.deepEqual(counts, [500, 500, 1]);
  for (const { headers, body } of received) {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature } = headers;
    const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
    assert.equal(signature, `v1,${expected}`);
    assert.equal(headers['idempotency-key'], id);
  }
});

test('the same turns have the same idempotency key, and others another', async (t) => {
  const { received, sink } = await startReceiver(t, []);
  await sink.write(turns(3));
  await sink.write(turns(3));
  await sink.write(turns(4));
  const [first, second, third] = received.map(({ headers }) => headers['idempotency-key']);
  assert.equal(first, second);
  assert.notEqual(first, third);
});

test('turns with long answers are in requests of about 4 MiB', async (t) => {
  const { received, sink } = await startReceiver(t, []);
  await sink.write(Array.from({ length: 10 }, () => sampleTurn({ response: 'x'.repeat(1024 * 1024) })));
  assert.ok(received.length >= 3);
  for (const { body } of received) assert.ok(body.length < 5 * 1024 * 1024);
});

test('a receiver that is busy gets the same request again', async (t) => {
  const { received, clock, sink } = await startReceiver(t, [503, 429]);
  await sink.write(turns(1));
  assert.equal(received.length, 3);
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1);
  assert.ok(clock.monotonic() >= 3_000);
});

for (const [status, kind, code] of [
  [400, 'stall', 'WebhookRefused'],
  [401, 'stall', 'WebhookRefused'],
  [307, 'stall', 'WebhookRefused'],
  [500, 'retry', 'WebhookUnavailable'],
] as const) {
  test(`a receiver that answers ${status} ends the run with ${code}`, async (t) => {
    const { received, sink } = await startReceiver(
      t,
      Array.from({ length: 9 }, () => status),
    );
    await assert.rejects(sink.write(turns(1)), { kind, code });
    assert.equal(received.length, status === 500 ? 5 : 1);
    assert.ok(received.every(({ headers }) => headers['webhook-id'] !== undefined));
  });
}

test('a secret is text, or base64 as Standard Webhooks write it', () => {
  assert.deepEqual(readWebhookSecret('plain text secret\n'), Buffer.from('plain text secret'));
  assert.deepEqual(readWebhookSecret('whsec_c2VjcmV0'), Buffer.from('secret'));
});
