// Whether the StaticExport that is stored can be read and written under the CRD of the moment. What is unchanged, the API
// server does not check again; so spec and status are also given to an object that has neither of these.

import assert from 'node:assert/strict';
import { z } from 'zod';
import type { TestNodes } from '../../support/node/node.ts';
import { applyObjects, kubectl } from '../../support/node/pods.ts';
import { full, siteSpace } from '../two-charts.ts';

const storedShape = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), generation: z.number() }),
  spec: z.looseObject({}),
  status: z.looseObject({
    observedGeneration: z.number(),
    conditions: z.array(z.looseObject({ type: z.string(), status: z.string(), reason: z.string() })),
  }),
});

const inSite = `--namespace=${siteSpace}`;
const dryRun = ['--dry-run=server', '--validate=strict', '--filename=-'];
const spare = 'spare';

/** Creates the object that nothing manages, so that it never gets a status. */
export async function createSpareResource(nodes: TestNodes): Promise<void> {
  await applyObjects(nodes, [
    {
      apiVersion: 'staticexport.dev/v1alpha1',
      kind: 'StaticExport',
      metadata: {
        name: spare,
        namespace: siteSpace,
        labels: { 'staticexport.dev/instance': 'of-no-operator' },
      },
      spec: { domain: 'spare.example.com', api: { keySecretRef: { name: 'export-api' } } },
    },
  ]);
}

/**
 * @returns the conditions, as words
 * @throws Error with what the API server or this test refuses
 */
export async function assertStoredResource(nodes: TestNodes): Promise<string> {
  const text = await kubectl(nodes, ['get', 'sx', full, inSite, '--output=json']);
  const stored = storedShape.parse(JSON.parse(text));
  const { apiVersion, kind, metadata, spec, status } = stored;
  const { managedFields: _ofServer, ...kept } = metadata;
  const back = JSON.stringify({ ...stored, metadata: kept });
  const asReader = ['--server-side', '--force-conflicts', '--field-manager=reader'];
  await kubectl(nodes, ['apply', ...asReader, ...dryRun], back);
  const copy = { apiVersion, kind, metadata: { name: 'copy', namespace: siteSpace }, spec };
  await kubectl(nodes, ['create', ...dryRun], JSON.stringify(copy));
  const withStatus = { ...copy, metadata: { ...copy.metadata, name: spare }, status };
  await kubectl(nodes, ['replace', '--subresource=status', ...dryRun], JSON.stringify(withStatus));

  assert.equal(status.observedGeneration, metadata.generation, 'the operator has read the last change');
  const faults = status.conditions.filter((one) => one.status !== 'True');
  assert.deepEqual(faults, [], 'conditions that are not True');
  const types = status.conditions.map(({ type }) => type);
  assert.deepEqual(
    types.filter((type) => type === 'Stalled' || type === 'Reconciling'),
    [],
  );
  return status.conditions.map(({ type, reason }) => `${type}=${reason}`).join(' ');
}
