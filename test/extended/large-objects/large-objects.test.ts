// Objects as large as a tenant may make them: 264 with 250 KiB of annotations, after 510 ordinary ones, on a real API
// server. They only make the pages of a list smaller.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { createList } from '#operator/kube/objects/resource-list.ts';
import { openConnection } from '#operator/kube/transport/connection.ts';
import { staticExports } from '#operator/kube/transport/resource-path.ts';
import { createTransport, type Transport } from '#operator/kube/transport/transport.ts';
import { createReflector } from '#operator/kube/watch/reflector.ts';
import { knownOf } from '#operator/watch/known-resource.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { startControlPlane, type TestCluster } from '../../support/cluster.ts';
import { eventually } from '../../support/eventually.ts';

const never = new AbortController().signal;
const resource = staticExports;
const note = 'x'.repeat(250 * 1024);
const ordinary = Array.from({ length: 510 }, (_, index) => `a-${String(index).padStart(3, '0')}`);
const large = Array.from({ length: 264 }, (_, index) => `b-${String(index).padStart(3, '0')}`);

let cluster: TestCluster;
let transport: Transport;

async function create(
  names: readonly string[],
  annotations: Readonly<Record<string, string>>,
  labels: Readonly<Record<string, string>> = {},
): Promise<void> {
  const left = [...names];
  const createAll = async (): Promise<void> => {
    for (let name = left.pop(); name !== undefined; name = left.pop()) {
      const body = {
        apiVersion: 'staticexport.dev/v1alpha1',
        kind: 'StaticExport',
        metadata: { name, annotations, labels },
        spec: { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } } },
      };
      const address = { resource, namespace: 'default' };
      await transport.call({ verb: 'create', method: 'POST', address, body }, never);
    }
  };
  await Promise.all(Array.from({ length: 12 }, createAll));
}

before(async () => {
  cluster = await startControlPlane();
  const crd = new URL('../../../crds/staticexports.staticexport.dev.yaml', import.meta.url);
  await cluster.api.apply([parse(await readFile(crd, 'utf8'))]);
  await cluster.awaitDefinitions();
  const connection = openConnection({
    kubeconfig: cluster.kubeconfig,
    context: undefined,
    isInCluster: false,
  });
  transport = createTransport(connection, { clock: systemClock, timeoutMs: 60_000 });
  await create(ordinary, {});
  await create(large, { note });
});

after(async () => {
  await transport?.close();
  await cluster?.stop();
});

const nameOf = ({ metadata }: StaticExportObject): string => metadata.name;

/** Lists, and how each page was asked for: how many objects, from which token. */
function startLists() {
  const asked: { readonly limit: string; readonly place: string | undefined }[] = [];
  const call: Transport['call'] = (given, signal) => {
    asked.push({ limit: given.query?.['limit'] ?? 'all', place: given.query?.['continue'] });
    return transport.call(given, signal);
  };
  const list = createList({ transport: { ...transport, call }, resource, keep: nameOf });
  return { asked, list };
}

test('objects of more than 64 MiB are all listed once, the large ones in smaller pages from the same continue token', async () => {
  const { asked, list } = startLists();
  const { objects } = await list(() => {}, never);
  assert.deepEqual(objects, [...ordinary, ...large]);
  assert.deepEqual(
    asked.slice(0, 7).map(({ limit }) => limit),
    ['500', '500', '250', '125', '62', '31', '15'],
  );
  // The first page held ordinary ones; each try for the second began at its end.
  assert.equal(new Set(asked.slice(1, 7).map(({ place }) => place)).size, 1);
  assert.notEqual(asked[1]?.place, undefined);
  asked.length = 0;
  assert.equal((await list(() => {}, never)).objects.length, 774);
  assert.equal(asked[0]?.limit, '19');
});

test('a continue token with another limit continues at the same object, in the state of the first page', async () => {
  const read = async (query: Readonly<Record<string, string>>) => {
    const call = { verb: 'list', method: 'GET', address: { resource }, query } as const;
    const answer = await transport.call(call, never);
    assert.ok(isRecord(answer) && Array.isArray(answer['items']));
    const metadata = recordAt(answer, 'metadata');
    return {
      names: answer['items'].map((item: unknown) =>
        textAt(isRecord(item) ? recordAt(item, 'metadata') : {}, 'name'),
      ),
      next: textAt(metadata, 'continue') ?? '',
      resourceVersion: textAt(metadata, 'resourceVersion'),
    };
  };
  const first = await read({ limit: '5' });
  await create(['a-0015'], {});
  for (const limit of [1, 2, 5, 100]) {
    const page = await read({ limit: String(limit), continue: first.next });
    assert.deepEqual(page.names, ordinary.slice(5, 5 + limit));
    assert.equal(page.resourceVersion, first.resourceVersion);
  }
});

test('a reflector lists all large objects, and its watch reports an edit of one', async () => {
  const wakes: string[] = [];
  const stop = new AbortController();
  const reflector = createReflector({
    transport,
    resource,
    keep: knownOf,
    clock: systemClock,
    random: systemRandom,
    wake: (key) => wakes.push(key),
    report: () => {},
  });
  const running = reflector.run(stop.signal);
  try {
    await eventually('all in the cache', () => (reflector.isSynced() ? true : undefined), {
      timeoutMs: 120_000,
    });
    assert.ok(reflector.cache.size >= 774);
    assert.equal(wakes.length, reflector.cache.size);
    wakes.length = 0;
    const edit = { metadata: { annotations: { 'staticexport.dev/requestedAt': 'now' } } };
    await cluster.api.patch('sx', 'b-100', edit);
    await eventually('a wake for the edit', () => wakes[0]);
    assert.deepEqual(wakes, ['default/b-100']);
  } finally {
    stop.abort();
    await running;
  }
});

test('an object with 40,000 labels is left out of lists, watches and reads, and the others are not', async () => {
  const labels = Object.fromEntries(Array.from({ length: 40_000 }, (_, at) => [`l${at}`, '']));
  const leftOut: string[] = [];
  const connection = openConnection({
    kubeconfig: cluster.kubeconfig,
    context: undefined,
    isInCluster: false,
  });
  const careful = createTransport(connection, {
    clock: systemClock,
    timeoutMs: 60_000,
    onLeftOut: (plural) => leftOut.push(plural),
  });
  const stop = new AbortController();
  let watchedAway = 0;
  const reflector = createReflector({
    transport: careful,
    resource,
    keep: knownOf,
    clock: systemClock,
    random: systemRandom,
    wake: () => {},
    report: () => {},
    onLeftOut: () => {
      watchedAway += 1;
    },
  });
  const running = reflector.run(stop.signal);
  try {
    await eventually('all in the cache', () => (reflector.isSynced() ? true : undefined), {
      timeoutMs: 120_000,
    });
    const { size } = reflector.cache;
    // It is stored; the answer is read no more than any other.
    await assert.rejects(create(['c-labels'], {}, labels), { code: 'Unavailable' });
    await create(['c-ordinary'], {});
    await eventually('the ordinary one', () => reflector.cache.get('default/c-ordinary'));
    assert.equal(reflector.cache.size, size + 1);
    assert.equal(watchedAway, 1);
    const address = { resource, namespace: 'default', name: 'c-labels' };
    await assert.rejects(careful.call({ verb: 'get', method: 'GET', address }, never), {
      code: 'Unavailable',
      message: /^the object has more than 50000 fields and values and is not read; remove labels/,
    });
    const list = createList({ transport: careful, resource, keep: nameOf });
    const { objects } = await list(() => {}, never);
    assert.ok(objects.includes('c-ordinary'));
    assert.ok(!objects.includes('c-labels'));
    assert.deepEqual(leftOut, ['staticexports']);
  } finally {
    stop.abort();
    await running;
    await careful.close();
  }
});
