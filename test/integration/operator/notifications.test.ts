// Notifications of the real operator on a real API server: a receiver gets what was published, held, failed and recovered, with
// a signature. A host that no flag allows gets nothing, and an event says so. No address appears anywhere else.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { declareSecret } from '../../support/secret-watch.ts';
import { startEnvironment } from './operator-environment.ts';

const path = declareSecret('the path of the webhook', '/hooks/path-of-the-webhook-7Qm2');
const key = Buffer.from('shared-secret-of-24-bytes');
const shared = declareSecret('the shared secret', `whsec_${key.toString('base64')}`);
const received: { readonly name: string; readonly type: string; readonly reason: string }[] = [];
const receiver = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces).toString('utf8');
    const { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': signature } = request.headers;
    const expected = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64');
    const isSigned = request.url === path && signature === `v1,${expected}`;
    if (isSigned) {
      const { type, data } = JSON.parse(body);
      received.push({ name: data.name, type, reason: data.reason });
    }
    response.writeHead(isSigned ? 204 : 401).end();
  });
});

const typesOf = (name: string): readonly string[] =>
  received.filter((one) => one.name === name).map(({ type, reason }) => `${type} ${reason}`);

receiver.listen(0, '127.0.0.1');
await once(receiver, 'listening');
const host = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
const { world, vendor, reader, secret, staticExport, start } = await startEnvironment({
  namespaces: ['notified'],
});
const notify = [{ name: 'chat', secretRef: { name: 'hook' } }];
await world.apply(
  secret('hook', { url: `${host}${path}`, secret: shared }),
  secret('elsewhere', { url: `https://elsewhere.example.com${path}`, secret: shared }),
  staticExport('docs', { notify }),
  staticExport('held', { notify, promotion: { mode: 'Manual' } }),
  staticExport('refused', { notify: [{ name: 'chat', secretRef: { name: 'elsewhere' } }] }),
);
const operator = await start([`--allowed-notify-hosts=${host}`]);

after(() => receiver.close());

test('a version, a failed job, and the version that ends the failure are one notification each', async () => {
  await eventually('the first version', () => typesOf('docs').length === 1 || undefined);
  vendor.script('docs.example.com', { status: () => 'failed' });
  await reader.request('docs', 'fails');
  await reader.awaitCondition('docs', 'Exported', 'False', 'JobFailed');
  vendor.script('docs.example.com', { status: () => 'completed' });
  await reader.request('docs', 'again');
  await reader.awaitCondition('docs', 'Exported', 'True', 'Unchanged');
  await eventually('the recovery', () => typesOf('docs').length === 3 || undefined);
  assert.deepEqual(typesOf('docs'), [
    'staticexport.published Promoted',
    'staticexport.failed JobFailed',
    'staticexport.recovered Unchanged',
  ]);
});

test('an export that waits for a person is held, and one notification says so', async () => {
  await eventually('the held export', () => typesOf('held').length === 1 || undefined);
  assert.deepEqual(typesOf('held'), ['staticexport.held AwaitingPromotion']);
});

test('a host that no flag allows gets nothing: an event and a metric say so, without the address', async () => {
  const message = await eventually('the event', async () => {
    const events = await reader.eventsOf('refused');
    return events.find(({ reason }) => reason === 'NotificationFailed')?.note;
  });
  assert.equal(
    message,
    'Webhook chat did not get the notification Promoted: --allowed-notify-hosts of the operator does not allow elsewhere.example.com. Add it there.',
  );
  const { text } = await operator.get('/metrics');
  assert.match(text, /^staticexport_notifications_total\{outcome="failed"\} 1$/m);
});
