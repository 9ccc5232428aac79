// install.yaml on a real API server: `kubectl apply` accepts it as a client and on the server, again without a change, and a
// StaticExport can then be made.

import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import {
  installManifest,
  installName,
  installNamespace,
} from '../../../packaging/release/install-manifest.ts';
import { type CommandResult, startControlPlane, type TestCluster } from '../../support/cluster.ts';

const chart = join(import.meta.dirname, '../../../charts/static-export-operator');
let cluster: TestCluster;
let file: string;

async function must(result: Promise<CommandResult>): Promise<string> {
  const { code, stdout, stderr } = await result;
  assert.equal(code, 0, stderr);
  return stdout;
}

before(async () => {
  cluster = await startControlPlane();
  const rendering = ['template', installName, chart, '--namespace', installNamespace, '--skip-tests'];
  file = join(cluster.folder, 'install.yaml');
  await writeFile(file, installManifest(await must(cluster.helm(rendering)), '1.2.3'));
});
after(() => cluster.stop());

test('the API server accepts install.yaml, and a second apply changes nothing', async () => {
  const first = await must(cluster.kubectl(['apply', '-f', file]));
  const lines = first.trimEnd().split('\n');
  assert.ok(lines.length >= 10, first);
  assert.deepEqual(
    lines.filter((line) => !line.endsWith(' created')),
    [],
  );
  await cluster.awaitDefinitions();
  // Not by what kubectl says: it calls an object with a "replace" in its patch configured each time.
  const seen = [
    'get',
    '-f',
    file,
    '--output=jsonpath={range .items[*]}{.kind} {.metadata.resourceVersion}{"\\n"}{end}',
  ];
  const before = await must(cluster.kubectl(seen));
  assert.match(before, /^Deployment \d+$/m);
  await must(cluster.kubectl(['apply', '-f', file]));
  assert.equal(await must(cluster.kubectl(seen)), before);
});

test('the API server accepts it on the server side, also after an apply on the client side', async () => {
  await must(cluster.kubectl(['apply', '--server-side', '-f', file]));
});

test('it brings the operator and the kind that it manages', async () => {
  await cluster.awaitDefinitions();
  const asked = ['get', `deployment/${installName}`, `--namespace=${installNamespace}`];
  const image = await must(
    cluster.kubectl([...asked, '--output=jsonpath={.spec.template.spec.containers[0].image}']),
  );
  assert.match(image, /static-export-operator:\d/);
  const resource = {
    apiVersion: 'staticexport.dev/v1alpha1',
    kind: 'StaticExport',
    metadata: { name: 'docs', namespace: installNamespace },
    spec: { domain: 'docs.example.com', api: { keySecretRef: { name: 'none' } } },
  };
  await must(cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(resource) }));
});
