// Reads pass always, writes while the lease is held and not a moment longer.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configMaps } from '../../../src/kube/resource-path.ts';
import type { Call, Transport } from '../../../src/kube/transport.ts';
import { fenceWrites } from '../../../src/operator/write-fence.ts';

const sent: string[] = [];
const transport: Transport = {
  call: async ({ method }) => sent.push(method),
  stream: async () => assert.fail('not asked for'),
  close: async () => {},
};
const call = (method: Call['method']): Call => ({ verb: 'get', method, address: { resource: configMaps } });
const never = new AbortController().signal;

test('what only reads goes out with or without the lease; what writes only with it', async () => {
  let isHeld = true;
  const fenced = fenceWrites(transport, () => isHeld);
  for (const method of ['GET', 'POST', 'PUT', 'PATCH'] as const) await fenced.call(call(method), never);
  isHeld = false;
  await fenced.call(call('GET'), never);
  for (const method of ['POST', 'PUT', 'PATCH'] as const) {
    await assert.rejects(fenced.call(call(method), never), { code: 'Aborted' });
  }
  assert.deepEqual(sent, ['GET', 'POST', 'PUT', 'PATCH', 'GET']);
});
