// The page about webhooks, as its reader follows it: every YAML is applied to a real API server, the chart is rendered with
// the page's values, and the page's curl line reaches a receiver with that chart's permissions.

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { findClusterTools } from '../../../support/cluster-tools.ts';
import { runCommand } from '../../../support/command.ts';
import { words } from '../../../support/words.ts';
import { type ChartedCluster, startChartedCluster } from '../charted-cluster.ts';
import { type ReceiverProcess, receiverKubeconfig, startReceiver } from './receiver-process.ts';

const folder = join(import.meta.dirname, '../../../../charts/static-export-operator');
const page = await readFile(join(folder, 'docs/webhook.md'), 'utf8');
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].flatMap(([, of, text = '']) =>
    of === language ? [text] : [],
  );
const [values = '', resources = '', flux = '', ...more] = blocks('yaml');
const [login = '', send = '', look = ''] = blocks('sh');

let world: ChartedCluster;
let receiver: ReceiverProcess;

/** Definitions of Flux's kinds, whose controller cannot be built here, without their schema. */
const definition = (kind: string) => {
  const plural = `${kind.toLowerCase()}s`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.notification.toolkit.fluxcd.io` },
    spec: {
      group: 'notification.toolkit.fluxcd.io',
      names: { kind, plural },
      scope: 'Namespaced',
      versions: [{ name: 'v1beta3', served: true, storage: true, schema }],
    },
  };
};

before(async () => {
  world = await startChartedCluster({
    namespaces: ['docs', 'flux-system'],
    watchNamespaces: ['docs'],
    webhook: parse(values).webhook,
  });
  await world.apply(definition('Provider'), definition('Alert'));
  await world.controlPlane.awaitDefinitions();
});

after(async () => {
  await receiver?.child.stop();
  await world?.stop();
});

test('every YAML of the page is known to this test, and accepted by the API server', async () => {
  assert.deepEqual(more, []);
  assert.ok(blocks('sh').length === 3 && [login, send, look].every((text) => text !== ''));
  for (const input of [resources, flux]) {
    assert.ok(parseAllDocuments(input).length > 1);
    await world.kubectl(['apply', '--server-side', '--dry-run=server', '-f', '-'], { input });
    await world.kubectl(['apply', '--server-side', '-f', '-'], { input });
  }
});

test("the page's commands read the secret, send a signed request, and show the hook", async () => {
  receiver = await startReceiver(await receiverKubeconfig(world), ['--trusted-proxies=10.0.0.0/8']);
  const run = async (script: string) => {
    const path = join(world.folder, 'page.sh');
    await writeFile(path, script);
    const { kubectl } = await findClusterTools();
    const PATH = `${dirname(kubectl)}:${process.env['PATH'] ?? ''}`;
    return runCommand(['sh', '-eu', path], { env: { PATH, KUBECONFIG: world.controlPlane.kubeconfig } });
  };
  const addressed = login.replace('https://hooks.example.com', receiver.url);
  assert.notEqual(addressed, login);
  const sent = await run(`${addressed}\n${send}`);
  assert.match(sent.stdout, /^HTTP\/1\.1 202 /, sent.stderr);
  assert.match(sent.stdout, /\{"status":"accepted"\}$/);
  const wrong = await run(`${addressed}\nSECRET=wrong\n${send}`);
  assert.match(wrong.stdout, /^HTTP\/1\.1 401 /);
  assert.equal((await run(look)).code, 0);
  const stored = await world.kubectl(['get', 'sx', 'docs', '-n', 'docs', '-o', 'json']);
  assert.match(stored.stdout, /"staticexport\.dev\/hookRequestedAt": "\d{4}-/);
});

test('each header that the page names is one that the receiver reads', async () => {
  const source = await readFile(
    join(import.meta.dirname, '../../../../src/operator/webhook/signature-headers.ts'),
    'utf8',
  );
  for (const header of words(`
    X-Hub-Signature-256 X-Gitlab-Token X-Signature webhook-id webhook-timestamp webhook-signature
  `)) {
    assert.ok(page.includes(`\`${header}\``), header);
    assert.ok(source.includes(`'${header.toLowerCase()}'`), header);
  }
});
