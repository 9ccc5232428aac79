// Two watched namespaces, and a real API server that refuses both, then one, then none. An operator is ready when it
// can watch one of them, and names verb, resource and namespace of each missing permission.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { eventually } from '../../support/eventually.ts';
import { type ChartedCluster, startChartedCluster } from './charted-cluster.ts';
import { launchOperator, type OperatorProcess } from './operator-process.ts';
import { staticExportOf } from './resources.ts';

const namespaces = ['refused-a', 'refused-b'] as const;
const bindingShape = z.object({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  roleRef: z.unknown(),
  subjects: z.unknown(),
});
let world: ChartedCluster;
let bindings: readonly z.infer<typeof bindingShape>[];
let operator: OperatorProcess;

before(async () => {
  world = await startChartedCluster({ namespaces, watchNamespaces: namespaces });
  await world.apply(...namespaces.map((one) => staticExportOf('docs', { suspend: true }, one)));
  bindings = await Promise.all(namespaces.map(takeBinding));
  operator = await launchOperator(
    world,
    ['--api-base-url=https://api.example.com', `--watch-namespaces=${namespaces.join(',')}`],
    { isFast: true },
  );
});

after(async () => {
  await operator?.child.stop();
  await world?.stop();
});

/** Withdraws the chart's permissions. */
async function takeBinding(namespace: string): Promise<z.infer<typeof bindingShape>> {
  const binding = await world.api.read('rolebinding', world.leaseName, namespace);
  await world.api.remove('rolebinding', world.leaseName, namespace);
  return bindingShape.parse(binding);
}

async function giveBack(namespace: string): Promise<void> {
  const binding = bindings.find(({ metadata }) => metadata.namespace === namespace) ?? assert.fail(namespace);
  await world.apply(binding);
}

const shows = (line: string) => async (): Promise<true | undefined> =>
  (await operator.get('/metrics')).text.split('\n').includes(line) ? true : undefined;
const outagesOf = (namespace: string): readonly string[] =>
  operator.log.filter((line) => line.includes('cannot watch StaticExports') && line.includes(namespace));

test('an operator that is refused everywhere is not ready, and names verb, resource and namespace', async () => {
  // With one namespace refused and the other not yet answered, it says that it waits for the first list.
  const text = await eventually('what is missing', async () => {
    const answer = await operator.get('/readyz');
    return answer.status === 503 && answer.text.includes('cannot be watched') ? answer.text : undefined;
  });
  assert.match(
    text,
    /^StaticExports cannot be watched: .*does not allow "list" on staticexports.* in namespace refused-[ab]; add the verb/,
  );
  assert.equal((await operator.get('/livez')).status, 200);
});

test('one namespace that can be watched makes the operator ready; the other has a log line and a metric', async () => {
  await giveBack('refused-a');
  await eventually('ready', async () => (await operator.get('/readyz')).status === 200 || undefined, {
    timeoutMs: 90_000,
  });
  await eventually('refused-b refused', shows('staticexport_watch_refused{namespace="refused-b"} 1'));
  await eventually('refused-a not', shows('staticexport_watch_refused{namespace="refused-a"} 0'));
  await eventually('its resource', shows('staticexport_resources 1'));
  assert.equal(outagesOf('refused-b').length, 1, outagesOf('refused-b').join('\n'));
});

test('the refused namespace is watched as soon as that is permitted', async () => {
  await giveBack('refused-b');
  await eventually('nothing refused', shows('staticexport_watch_refused{namespace="refused-b"} 0'), {
    timeoutMs: 60_000,
  });
  await eventually('both resources', shows('staticexport_resources 2'));
  assert.equal(outagesOf('refused-b').length, 1, outagesOf('refused-b').join('\n'));
});
