// A Secret that status does not name is confirmed by a write of what was read; a named one is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gather } from '#operator/loop/gather.ts';
import { createMemory } from '#operator/loop/memory.ts';
import { confirmOutput } from '#operator/loop/publish/confirmed-output.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { publishedSimulation } from '../../../../simulation/published-simulation.ts';
import type { Simulation } from '../../../../simulation/simulation.ts';

const { signal } = new AbortController();

/** Its status as it was before the publication that is about to be adopted. */
function behind(simulation: Simulation): StaticExportObject {
  const object = simulation.object();
  assert.ok(object);
  return { ...object, status: { ...simulation.status(), active: { version: 'earlier', jobId: 'se_0' } } };
}

async function confirm(simulation: Simulation, object: StaticExportObject, meanwhile = (): void => {}) {
  const resource = parseStaticExport(object);
  assert.ok(resource.spec);
  const context = simulation.context(createMemory(signal));
  const gathered = await gather(object, resource, resource.spec, context, signal);
  meanwhile();
  return { gathered, confirmed: await confirmOutput(object, gathered, context, signal) };
}

test('a publication that status names needs no confirmation', async () => {
  const simulation = await publishedSimulation();
  const object = simulation.object();
  assert.ok(object);
  const writes = simulation.cluster.writes.length;
  const { gathered, confirmed } = await confirm(simulation, object);
  assert.equal(confirmed, gathered);
  assert.equal(simulation.cluster.writes.length, writes);
});

test('a publication that status does not name is confirmed by a write of the Secret as it was read', async () => {
  const simulation = await publishedSimulation();
  const output = simulation.output();
  const { confirmed } = await confirm(simulation, behind(simulation));
  assert.deepEqual(simulation.cluster.writes.at(-1), {
    kind: 'Secret',
    name: 'site-bundle',
    isChange: false,
    isTakeover: false,
  });
  assert.deepEqual(simulation.output(), output);
  assert.equal(
    confirmed.handles.secret,
    await simulation.cluster.readSecret({ namespace: 'docs', name: 'site-bundle' }),
  );
});

test('a Secret replaced or deleted since it was read ends the reconcile with a conflict', async () => {
  const meanwhile: readonly ((simulation: Simulation) => void)[] = [
    (simulation) =>
      simulation.cluster.putSecret({ namespace: 'docs', name: 'site-bundle' }, { theirs: 'now' }),
    (simulation) => simulation.cluster.secrets.delete('docs/site-bundle'),
  ];
  for (const happens of meanwhile) {
    const simulation = await publishedSimulation();
    const asking = confirm(simulation, behind(simulation), () => happens(simulation));
    await assert.rejects(asking, { code: 'Conflict' });
  }
});
