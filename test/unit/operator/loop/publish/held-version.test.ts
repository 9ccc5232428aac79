// The version that status shows for a target: what the object holds at its last read, and nothing that only the spec
// or the output names.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Simulation } from '../../../../simulation/simulation.ts';

const key = { namespace: 'apps', name: 'docs-values' };
const consent = { 'staticexport.dev/allow-from': 'docs/site' };

async function published(text: string, target: object): Promise<Simulation> {
  const values = { kind: 'ConfigMap', ...key };
  const simulation = new Simulation({
    spec: { targets: [{ name: 'argo', type: 'Values', values, ...target }] },
  });
  simulation.cluster.putConfigMap(key, { 'values.yaml': text }, consent);
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
  return simulation;
}

const heldIn = (simulation: Simulation) => simulation.status().targets?.[0]?.heldVersion;

test('a dry run of a values document shows the version that it holds, a write the one that it gets', async () => {
  const simulation = await published('staticExport:\n  version: "old"\n', { mode: 'DryRun' });
  assert.equal(heldIn(simulation), 'old');
  simulation.editSpec({ targets: [{ name: 'argo', type: 'Values', values: { kind: 'ConfigMap', ...key } }] });
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced');
  assert.equal(heldIn(simulation), simulation.output()?.['version']);
});

test('a values document without a version, and one that only gets the digest, show none', async () => {
  assert.equal(heldIn(await published('replicas: 2\n', { mode: 'DryRun' })), undefined);
  const simulation = await published('replicas: 2\n', { write: ['digest'] });
  assert.equal(simulation.condition('TargetsSynced'), 'True/Synced');
  assert.equal(heldIn(simulation), undefined);
});

test('a contested values document shows the version that the other client writes', async () => {
  const theirs = { 'values.yaml': 'staticExport:\n  version: "theirs"\n' };
  const simulation = await published(theirs['values.yaml'], {});
  for (let reverts = 0; reverts < 5; reverts += 1) {
    simulation.cluster.putConfigMap(key, theirs, consent);
    simulation.prompt();
    await simulation.run(10_000);
  }
  assert.equal(simulation.condition('TargetsSynced'), 'False/Contested');
  assert.equal(heldIn(simulation), 'theirs');
});
