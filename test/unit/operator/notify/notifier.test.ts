// Notifications over real sockets: signed, repeated where it may help, in order, bounded, and never sent to a host that is not
// allowed. What is not delivered is an event without the address.

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import type { Notice } from '#operator/loop/notices.ts';
import { createNotifier } from '#operator/notify/notifier.ts';
import type { NotifyWebhook } from '#operator/staticexport/notify-schema.ts';
import { readClaims } from '#operator/webhook/signature-headers.ts';
import { readHookSecret, verify } from '#operator/webhook/verification.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import type { EventNote, StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { leapingClock } from '../../../support/conversation-model.ts';
import { eventually } from '../../../support/eventually.ts';
import { startHookReceiver } from '../../../support/hook-receiver.ts';
import { openAgent } from '../../../support/open-agent.ts';
import { declareSecret } from '../../../support/secret-watch.ts';

const sharedSecret = declareSecret('the shared secret', 'whsec_bm90aWZ5LXNlY3JldC1vZi0yNC1ieXRlcw==');
const path = declareSecret('the path of the webhook', '/services/T0/B0/path-of-the-webhook');
const held: Notice = { kinds: ['Held'], reason: 'PageCountDropped', message: 'The export lost pages.' };

interface Setup {
  /** Status of each answer in order; then 204. 0: no answer at all. */
  readonly statuses?: readonly number[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly allowedHosts?: (host: string) => readonly string[];
  /** Instead of url and secret. */
  readonly data?: (url: string) => Readonly<Record<string, string>> | ClusterError | undefined;
}

async function open(t: TestContext, { statuses = [], headers = {}, allowedHosts, data }: Setup = {}) {
  const receiver = await startHookReceiver(statuses, headers);
  const { origin: host, received } = receiver;
  const stop = new AbortController();
  t.after(async () => {
    stop.abort();
    await receiver.close();
  });
  const url = `${host}${path}`;
  const clock = leapingClock(Date.UTC(2026, 10, 28));
  const events: EventNote[] = [];
  const outcomes: string[] = [];
  const notifier = createNotifier({
    ...{ clock, agent: openAgent, random: systemRandom, logger: silentLogger, userAgent: 'test' },
    readSecret: async ({ namespace, name }) => {
      const found = data === undefined ? { url, secret: `${sharedSecret}\n` } : data(url);
      if (found instanceof ClusterError) throw found;
      return found && { metadata: metaOf(namespace, name), data: mapBytes(found) };
    },
    allowedHosts: allowedHosts?.(host) ?? [host],
    signal: stop.signal,
    record: (_object, note) => events.push(note),
    observe: (outcome) => outcomes.push(outcome),
  });
  const settled = (count: number) =>
    eventually('outcomes', async () => outcomes.length >= count || undefined);
  return { notifier, received, events, outcomes, clock, settled, host };
}

const mapBytes = (texts: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text)]));

const metaOf = (namespace: string, name: string): StaticExportObject['metadata'] => ({
  ...{ namespace, name, uid: 'u-1', generation: 1, resourceVersion: '1' },
  ...{ annotations: {}, labels: {}, ownerReferences: [] },
});

const objectWith = (...notify: readonly Partial<NotifyWebhook>[]): StaticExportObject => ({
  metadata: metaOf('docs', 'site'),
  spec: {
    domain: 'docs.example.com',
    api: { keySecretRef: { name: 'export-api' } },
    notify: notify.map((webhook, at) => ({ name: `hook-${at}`, secretRef: { name: 'hook' }, ...webhook })),
  },
  status: {},
});

test('a Generic webhook gets the signature that the Standard Webhooks scheme verifies', async (t) => {
  const { notifier, received, outcomes, clock, settled } = await open(t);
  notifier.send(objectWith({}), [held]);
  await settled(1);
  assert.deepEqual(outcomes, ['delivered']);
  const [{ headers, body } = assert.fail('nothing came')] = received;
  const claims = readClaims(headers);
  const secret = readHookSecret(Buffer.from(sharedSecret));
  assert.ok(secret !== undefined);
  const decoy = { text: 'decoy', standardKey: Buffer.from('decoy') };
  assert.equal(verify(claims, Buffer.from(body), secret, decoy, clock.now()), 'standard-webhooks');
  assert.equal(JSON.parse(body).type, 'staticexport.held');
});

test('an attempt that may succeed later is repeated with one id and a new time, in order, and then given up', async (t) => {
  const { notifier, received, events, outcomes, settled, host } = await open(t, {
    statuses: [503, 429, 204, 500, 500, 500, 500],
  });
  notifier.send(objectWith({}), [held, { ...held, reason: 'TooFewPages' }]);
  await settled(2);
  assert.deepEqual(outcomes, ['delivered', 'failed']);
  const reasons = received.map(({ body }) => JSON.parse(body).data.reason);
  assert.deepEqual(reasons, [...Array(3).fill('PageCountDropped'), ...Array(4).fill('TooFewPages')]);
  const ids = new Set(received.map(({ headers }) => headers['webhook-id']));
  const times = received.map(({ headers }) => Number(headers['webhook-timestamp']));
  assert.equal(ids.size, 2);
  assert.deepEqual(
    times.map((time) => time - (times[0] ?? 0)),
    [0, 1, 6, 6, 7, 12, 37],
  );
  assert.deepEqual(events, [
    {
      type: 'Warning',
      reason: 'NotificationFailed',
      message: `Webhook hook-0 did not get the notification TooFewPages: ${host} returned 500. Check the receiver.`,
    },
  ]);
});

test('Retry-After is kept up to a minute, and a longer one ends the attempts', async (t) => {
  const { notifier, received, outcomes, settled } = await open(t, {
    statuses: [429, 204],
    headers: { 'retry-after': '40' },
  });
  notifier.send(objectWith({}), [held]);
  await settled(1);
  assert.deepEqual(outcomes, ['delivered']);
  const [first, second] = received.map(({ headers }) => Number(headers['webhook-timestamp']));
  assert.equal((second ?? 0) - (first ?? 0), 40);
  const late = await open(t, { statuses: [429], headers: { 'retry-after': '600' } });
  late.notifier.send(objectWith({}), [held]);
  await late.settled(1);
  assert.deepEqual([late.outcomes, late.received.length], [['failed'], 1]);
});

const unreachable = new ClusterError('Unavailable', 'the Kubernetes API server does not answer');
const refusals: Readonly<Record<string, readonly [Setup, number, RegExp]>> = {
  'a redirect is not followed': [{ statuses: [307] }, 1, /returned 307. Redirects are not followed/],
  'a wrong secret is not tried again': [
    { statuses: [401] },
    1,
    /returned 401. Check the address and the shared secret/,
  ],
  'an address that is gone is not tried again': [{ statuses: [404] }, 1, /returned 404. Check the address/],
  'a host that no flag allows gets nothing': [
    { allowedHosts: () => ['127.0.0.1', 'hooks.example.com'] },
    0,
    /--allowed-notify-hosts of the operator does not allow http:\/\/127.0.0.1:\d+. Add it there/,
  ],
  'a Secret that does not exist': [
    { data: () => undefined },
    0,
    /Secret hook does not exist. Create it with key url/,
  ],
  'a Secret without an address': [{ data: () => ({ secret: 's' }) }, 0, /Secret hook has no key url/],
  'an address with a password': [
    { data: (url) => ({ url: url.replace('//', '//user:pw@'), secret: 's' }) },
    0,
    /key url of Secret hook is not an http\(s\) URL, or has a user or password/,
  ],
  'an address that is not a URL': [
    { data: () => ({ url: 'ftp://x', secret: 's' }) },
    0,
    /not an http\(s\) URL/,
  ],
  'no shared secret': [
    { data: (url) => ({ url }) },
    0,
    /Secret hook has no key secret. Write the shared secret/,
  ],
  'a receiver that speaks no TLS': [
    {
      data: (url) => ({ url: url.replace('http:', 'https:'), secret: 's' }),
      allowedHosts: (host) => [host.replace('http:', 'https:')],
    },
    0,
    /^[^(]+ 127\.0\.0\.1:\d+ does not speak TLS on this port \(ERR_SSL_WRONG_VERSION_NUMBER\)\. Check the port/,
  ],
  'a Secret that cannot be read': [{ data: () => unreachable }, 0, /Secret hook could not be read/],
};
for (const [name, [setup, requests, message]] of Object.entries(refusals)) {
  test(`${name}: an event names the cause and the remedy`, async (t) => {
    const { notifier, received, events, outcomes, settled } = await open(t, setup);
    notifier.send(objectWith({}), [held]);
    await settled(1);
    assert.deepEqual([outcomes, received.length], [['failed'], requests]);
    assert.match(events[0]?.message ?? '', message);
    assert.doesNotMatch(JSON.stringify(events), /path-of-the-webhook|user:pw|whsec_/);
  });
}

test('a webhook gets the kinds that it wants, once each, and a chat service gets no signature', async (t) => {
  const { notifier, received, outcomes, settled } = await open(t, { data: (url) => ({ url }) });
  const both: Notice = {
    kinds: ['Published', 'Recovered'],
    reason: 'Promoted',
    message: 'Version v2 is published.',
  };
  const failed: Notice = { kinds: ['Failed'], reason: 'JobFailed', message: 'The job failed.' };
  notifier.send(
    objectWith(
      { format: 'Slack', events: ['Failed', 'Recovered'], secretRef: { name: 'pager' } },
      { format: 'Teams', events: ['Published'], secretRef: { name: 'chat' } },
    ),
    [both, failed, held],
  );
  await settled(3);
  await setTimeout(20);
  assert.deepEqual(outcomes, ['delivered', 'delivered', 'delivered']);
  const texts = received
    .map(({ body }) => JSON.parse(body))
    .map(({ text, type }) => (text ?? type).split('\n')[0]);
  assert.deepEqual(texts.sort(), [
    'Failed: StaticExport docs/site (JobFailed)',
    'Recovered: StaticExport docs/site (Promoted)',
    'message',
  ]);
  assert.deepEqual(
    received.flatMap(({ headers }) => Object.keys(headers).filter((header) => header.startsWith('webhook-'))),
    [],
  );
});

test('a webhook that never answers holds up its own notifications only, and they are bounded', async (t) => {
  const { notifier, received, events, outcomes, settled } = await open(t, { statuses: [0] });
  const stuck = objectWith({ secretRef: { name: 'hangs' } });
  for (let at = 0; at < 25; at += 1) notifier.send(stuck, [{ ...held, reason: `Reason${at}` }]);
  await eventually('the request that hangs', async () => received.length === 1 || undefined);
  assert.deepEqual(outcomes, Array(17).fill('dropped'));
  assert.match(events[0]?.message ?? '', /too many notifications wait already/);
  notifier.send(objectWith({ secretRef: { name: 'answers' } }), [held]);
  await settled(18);
  assert.equal(outcomes.at(-1), 'delivered');
});
