// What the command line recognises of the charts' workloads: an operator with its lease, a bundle server with its admin
// port and its Secret. Rendered by helm, so that a renamed flag or label is found here.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partOfSelector, readOperator } from '#cli/cluster/operators.ts';
import { serverOf } from '#cli/cluster/servers.ts';
import { readDeployment, readPod } from '#cli/cluster/workloads.ts';
import { version } from '#platform/runtime/version.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import * as operator from './operator-chart.ts';
import type { RenderedObject } from './rendered-chart.ts';
import * as site from './site-chart.ts';

function stored(object: RenderedObject, path = ''): StaticExportObject {
  const texts = (field: string) => Object.fromEntries(Object.entries(Object(object.at(`metadata.${field}`))));
  return {
    metadata: {
      namespace: String(object.at('metadata.namespace')),
      name: String(object.at('metadata.name')),
      uid: 'u',
      resourceVersion: '1',
      annotations: {},
      labels: Object.fromEntries(
        Object.entries(texts('labels')).map(([name, value]) => [name, String(value)]),
      ),
      ownerReferences: [],
    },
    spec: object.at(`${path}spec`),
    status: undefined,
  };
}

const [partOf = '', partOfName = ''] = partOfSelector.split('=');

for (const name of operator.fixtureNames) {
  test(`the Deployment of the operator's chart is recognised with the values ${name}`, async () => {
    const objects = await operator.render(name);
    const deployments = objects.filter((one) => one.at('kind') === 'Deployment').map((one) => stored(one));
    const found = deployments.flatMap((one) => readDeployment(one) ?? []).flatMap(readOperator);
    assert.equal(found.length, 1);
    const [one] = found;
    assert.ok(one !== undefined);
    const { metadata, selector } = one.deployment;
    assert.equal(metadata.labels[partOf], partOfName);
    assert.deepEqual(one.lease, { namespace: metadata.namespace, name: metadata.name });
    assert.match(selector, /app\.kubernetes\.io\/instance=ops/);
    assert.ok(one.version !== undefined);
    assert.equal(one.chart?.startsWith('static-export-operator-'), true);
  });
}

for (const name of site.fixtureNames) {
  test(`the pods of the site's chart are recognised with the values ${name}`, async () => {
    const objects = await site.render(name);
    const workload = objects.find((one) => one.at('spec.template') !== undefined);
    if (workload === undefined) return;
    const pod = readPod(stored(workload, 'spec.template.'));
    assert.equal(serverOf(pod)?.adminPort, 9090);
    assert.equal(pod.secrets.size > 0, true);
  });
}

test("the site's chart names the Secret that its pods mount, and the program's version", async () => {
  const pod = readPod(stored(site.workload(await site.render('existing-secret')), 'spec.template.'));
  assert.equal(serverOf(pod)?.imageVersion, version);
});
