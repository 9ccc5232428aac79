// A Secret that status does not know is asked about by a write over what was read; one that it knows is not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gather } from '../../../../src/loop/gather.ts';
import { createMemory } from '../../../../src/loop/memory.ts';
import { confirmOutput } from '../../../../src/loop/publish/confirmed-output.ts';
import { parseStaticExport } from '../../../../src/staticexport/parse.ts';
import type { StaticExportObject } from '../../../../src/wire/cluster.ts';
import { publishedWorld } from '../../../simulation/published-world.ts';
import type { World } from '../../../simulation/world.ts';

const { signal } = new AbortController();

/** Its status as it was before the publication that is about to be adopted. */
function behind(world: World): StaticExportObject {
  const object = world.object();
  assert.ok(object);
  return { ...object, status: { ...world.status(), active: { version: 'earlier', jobId: 'se_0' } } };
}

async function confirm(world: World, object: StaticExportObject, meanwhile = (): void => {}) {
  const resource = parseStaticExport(object);
  assert.ok(resource.spec);
  const context = world.context(createMemory(signal));
  const gathered = await gather(object, resource, resource.spec, context, signal);
  meanwhile();
  return { gathered, confirmed: await confirmOutput(object, gathered, context, signal) };
}

test('what status knows is not asked about', async () => {
  const world = await publishedWorld();
  const object = world.object();
  assert.ok(object);
  const writes = world.cluster.writes.length;
  const { gathered, confirmed } = await confirm(world, object);
  assert.equal(confirmed, gathered);
  assert.equal(world.cluster.writes.length, writes);
});

test('what status does not know is written as it was read, and goes on as it is stored then', async () => {
  const world = await publishedWorld();
  const output = world.output();
  const { confirmed } = await confirm(world, behind(world));
  assert.deepEqual(world.cluster.writes.at(-1), {
    kind: 'Secret',
    name: 'site-bundle',
    isChange: false,
    isTakeover: false,
  });
  assert.deepEqual(world.output(), output);
  assert.equal(
    confirmed.handles.secret,
    await world.cluster.readSecret({ namespace: 'docs', name: 'site-bundle' }),
  );
});

test('a Secret that was replaced, or is gone, since it was read ends the pass as overtaken', async () => {
  const meanwhile: readonly ((world: World) => void)[] = [
    (world) => world.cluster.putSecret({ namespace: 'docs', name: 'site-bundle' }, { theirs: 'now' }),
    (world) => world.cluster.secrets.delete('docs/site-bundle'),
  ];
  for (const happens of meanwhile) {
    const world = await publishedWorld();
    const asking = confirm(world, behind(world), () => happens(world));
    await assert.rejects(asking, { code: 'Conflict' });
  }
});
