// How many archives one operator inspects at the same time, seen from the storage: as many as its flag permits, one of
// each namespace with two slots, and all of them in the end.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { startEnvironment } from './operator-environment.ts';
import { createReader } from './resource-reader.ts';
import { staticExportOf } from './resources.ts';

const namespaces = ['inspections-a', 'inspections-b'];
const names = ['a', 'b', 'c', 'd', 'e', 'f'];
const namespaceOf = (name: string): string => namespaces[names.indexOf(name) % 2] ?? '';
const concurrency = 2;

/** Downloads that wait for their archive. */
const held: { readonly name: string; readonly send: () => void }[] = [];
const left = new Set(names);
let isOpen = false;
let mostAtOnce = 0;

const hold = (name: string): Promise<void> =>
  new Promise((send) => {
    held.push({ name, send });
    mostAtOnce = Math.max(mostAtOnce, held.length);
    if (isOpen) held.shift()?.send();
  });

const { world, vendor, start } = await startEnvironment({ namespaces });
for (const name of names) vendor.script(`${name}.example.com`, { beforeArchive: () => hold(name) });
await world.apply(...names.map((name) => staticExportOf(name, {}, namespaceOf(name))));
const operator = await start([`--inspect-concurrency=${concurrency}`]);

/** Resolves when the operator's metrics have these values. */
async function figures(active: number, waiting: number): Promise<void> {
  await eventually(`${active} archives being read and ${waiting} waiting`, async () => {
    const { text } = await operator.get('/metrics');
    const read = (name: string): string | undefined =>
      new RegExp(`^staticexport_inspections_${name} (\\d+)$`, 'm').exec(text)?.[1];
    assert.deepEqual([read('active'), read('waiting')], [String(active), String(waiting)]);
    return true;
  });
}

test('of six archives that complete together one of each namespace is inspected, and the others wait with their links', async () => {
  await figures(concurrency, names.length - concurrency);
  await eventually('two downloads', () => (held.length === concurrency ? true : undefined));
  assert.deepEqual(held.map(({ name }) => namespaceOf(name)).sort(), namespaces);
  for (const name of names) assert.equal(vendor.issues(`${name}.example.com`), 1);
});

test('an archive whose resource is deleted leaves the queue', async () => {
  const waiting = names.filter((name) => held.every((one) => one.name !== name));
  const [gone = ''] = waiting;
  left.delete(gone);
  await world.kubectl(['delete', 'sx', gone, `--namespace=${namespaceOf(gone)}`]);
  await figures(concurrency, names.length - concurrency - 1);
});

test('a free slot goes to the next archive, and all are published in the end', async () => {
  held.shift()?.send();
  await figures(concurrency, names.length - concurrency - 2);
  await eventually('the next download', () => (held.length === concurrency ? true : undefined));
  isOpen = true;
  for (const { send } of held.splice(0)) send();
  for (const name of left) {
    const reader = createReader(world, namespaceOf(name));
    await reader.awaitCondition(name, 'Ready', 'True', 'Published');
  }
  await figures(0, 0);
  assert.equal(mostAtOnce, concurrency);
});
