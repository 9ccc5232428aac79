// A kubeconfig whose token expires while the operator runs: a new token in the same file is read without a restart,
// and without one the operator logs why it exits. A token bound to a Secret is invalid when that Secret is deleted.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startEnvironment } from './operator-environment.ts';

const apply = (name: string) => world.apply(staticExport(name));
/** Valid until the Secret is deleted, which stands for its expiry. */
const writeToken = async (secret: string): Promise<string> => {
  const where = world.operatorNamespace;
  await world.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: secret, namespace: where } });
  return world.writeKubeconfig('bound', secret);
};
const expire = (secret: string) => world.kubectl(['delete', 'secret', secret, '-n', world.operatorNamespace]);
const refusals = async (): Promise<number> => {
  const { text } = await operator.get('/metrics');
  const lines = text.matchAll(/^rest_client_requests_total\{code="401"[^}]*\} (\d+)$/gm);
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
};

const { world, reader, staticExport, start } = await startEnvironment({ namespaces: ['expired-token'] });
const kubeconfig = await writeToken('first');
const operator = await start(['--lease-duration=15s'], {}, { kubeconfig });

test('a rotated token in the same file is read after the old one is refused, without a restart', async () => {
  await apply('before');
  await reader.awaitCondition('before', 'Ready', 'True', 'Published');
  await writeToken('second');
  await expire('first');
  await eventually('a refusal', async () => ((await refusals()) > 0 ? true : undefined));
  await apply('later');
  await reader.awaitCondition('later', 'Ready', 'True', 'Published');
  assert.equal(operator.child.hasExited(), false);
  const last = await refusals();
  await reader.request('later', 'once more');
  await reader.awaitCondition('later', 'Exported', 'True', 'Unchanged');
  assert.equal(await refusals(), last, 'the new token is used from then on');
});

test('without a new token the operator logs the refusal, and exits because it cannot keep the lease', async () => {
  await expire('second');
  assert.equal(await operator.child.exited, 1);
  const said = operator.log.filter((line) => line.includes("did not accept the operator's credentials"));
  assert.ok(said.length > 0, operator.child.tail());
  assert.ok(operator.log.some((line) => line.includes('LeadershipLost')));
  assert.ok(
    operator.log.every((line) => !/eyJ[\w-]{10,}\./.test(line)),
    'no token in the log',
  );
});
