// A folder keeps the contract of the Kubernetes API server that the reconcile relies on: versions, conflicts, generations,
// a separate status. The simulation's cluster has the same tests; run-loop.test.ts compares what both publish in 30 days.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { openFolderCluster } from '#cli/folder/folder-cluster.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import type { AppliedObject, Cluster, StaticExportObject } from '#platform/wire/cluster.ts';
import { FakeCluster } from '../../../simulation/fake-cluster.ts';

const { signal } = new AbortController();
const key = { namespace: 'docs', name: 'docs' };
const spec = { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } } };

function pathFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'folder-cluster-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, 'objects');
}

interface Subject {
  readonly cluster: Cluster;
  readonly create: (spec: object) => Promise<StaticExportObject>;
}

const subjects: Readonly<Record<string, (t: TestContext) => Promise<Subject>>> = {
  'a folder': async (t) => {
    const cluster = await openFolderCluster(pathFor(t), systemRandom);
    const create = (next: object) => cluster.applyManifest({ key, spec: next, annotations: {}, labels: {} });
    return { cluster, create };
  },
  "the simulation's cluster": async () => {
    const cluster = new FakeCluster();
    return { cluster, create: async (next) => cluster.create(key, next) };
  },
};

const applied = (data: Readonly<Record<string, string>>, readVersion: string | undefined): AppliedObject => ({
  metadata: {
    namespace: 'docs',
    name: 'out',
    labels: { a: 'b' },
    annotations: {},
    ownerReferences: [{ apiVersion: 'v1', kind: 'X', name: 'x', uid: 'u' }],
  },
  data,
  readVersion,
});

for (const [name, open] of Object.entries(subjects)) {
  describe(name, () => {
    test('an object that does not exist reads as undefined', async (t) => {
      const { cluster } = await open(t);
      assert.equal(await cluster.readStaticExport(key, signal), undefined);
      assert.equal(await cluster.readSecret(key, signal), undefined);
      assert.equal(await cluster.readConfigMap(key, signal), undefined);
    });

    test('a new object has generation 1 and a status that is not observed', async (t) => {
      const { create } = await open(t);
      const { metadata, status } = await create(spec);
      assert.equal(metadata.generation, 1);
      assert.deepEqual(status, { observedGeneration: -1 });
    });

    test('a status is written with the version that was read, and keeps the generation', async (t) => {
      const { cluster, create } = await open(t);
      const first = await create(spec);
      const second = await cluster.writeStatus(first, { observedGeneration: 1 }, signal);
      assert.equal(second.metadata.generation, 1);
      assert.notEqual(second.metadata.resourceVersion, first.metadata.resourceVersion);
      await assert.rejects(cluster.writeStatus(first, { observedGeneration: 2 }, signal), {
        code: 'Conflict',
      });
      assert.deepEqual((await cluster.readStaticExport(key, signal))?.status, { observedGeneration: 1 });
    });

    test('an output is created only where none was read, and replaced only as it was read', async (t) => {
      const { cluster } = await open(t);
      const first = await cluster.applySecret(applied({ x: '1' }, undefined), signal);
      await assert.rejects(cluster.applySecret(applied({ x: '2' }, undefined), signal), { code: 'Conflict' });
      const second = await cluster.applySecret(applied({ y: 'ä' }, first.metadata.resourceVersion), signal);
      assert.equal(second.metadata.uid, first.metadata.uid);
      const read = await cluster.readSecret({ namespace: 'docs', name: 'out' }, signal);
      assert.deepEqual(Object.keys(read?.data ?? {}), ['y']);
      assert.equal(Buffer.from(read?.data['y'] ?? []).toString('utf8'), 'ä');
      const stale = applied({ y: 'z' }, first.metadata.resourceVersion);
      await assert.rejects(cluster.applySecret(stale, signal), { code: 'Conflict' });
    });
  });
}

test('a folder that is opened again has the same objects, and its files are for their owner alone', async (t) => {
  const path = pathFor(t);
  const first = await openFolderCluster(path, systemRandom);
  const manifest = { key, spec, annotations: { a: 'b' }, labels: {} };
  const object = await first.applyManifest(manifest);
  await first.writeStatus(object, { observedGeneration: 1, left: undefined }, signal);
  await first.applyConfigMap(applied({ version: 'v' }, undefined), signal);
  const second = await openFolderCluster(path, systemRandom);
  assert.deepEqual(await second.readStaticExport(key, signal), await first.readStaticExport(key, signal));
  assert.deepEqual(
    await second.readConfigMap({ namespace: 'docs', name: 'out' }, signal),
    await first.readConfigMap({ namespace: 'docs', name: 'out' }, signal),
  );
  for (const name of readdirSync(path)) assert.equal(statSync(join(path, name)).mode & 0o077, 0, name);
  const same = await second.applyManifest(manifest);
  assert.equal(same.metadata.generation, 1);
  const edited = await second.applyManifest({ ...manifest, spec: { ...spec, suspend: true } });
  assert.equal(edited.metadata.generation, 2);
  assert.deepEqual(edited.status, { observedGeneration: 1 });
});

test('objects with the longest names that an API server allows are stored, each in its own file', async (t) => {
  const path = pathFor(t);
  const names = ['a', 'b'].map((last) => `${'n'.repeat(252)}${last}`);
  const cluster = await openFolderCluster(path, systemRandom);
  const keys = names.map((name) => ({ namespace: 'd'.repeat(63), name }));
  for (const one of keys) await cluster.applyManifest({ key: one, spec, annotations: {}, labels: {} });
  const again = await openFolderCluster(path, systemRandom);
  for (const one of keys) assert.equal((await again.readStaticExport(one, signal))?.metadata.name, one.name);
});

test('a label or annotation that is no longer applied is removed', async (t) => {
  const cluster = await openFolderCluster(pathFor(t), systemRandom);
  const first = applied({ x: '1' }, undefined);
  const { metadata } = await cluster.applySecret(
    { ...first, metadata: { ...first.metadata, labels: { old: 'a', kept: 'b' }, annotations: { old: 'c' } } },
    signal,
  );
  const second = applied({ x: '1' }, metadata.resourceVersion);
  const after = await cluster.applySecret(
    { ...second, metadata: { ...second.metadata, labels: { kept: 'b' }, annotations: {} } },
    signal,
  );
  assert.deepEqual([after.metadata.labels, after.metadata.annotations], [{ kept: 'b' }, {}]);
});

test('what did not change is not written', async (t) => {
  const path = pathFor(t);
  const cluster = await openFolderCluster(path, systemRandom);
  const object = await cluster.applyManifest({ key, spec, annotations: {}, labels: {} });
  const stored = await cluster.writeStatus(object, { observedGeneration: 1 }, signal);
  const again = await cluster.writeStatus(stored, { observedGeneration: 1 }, signal);
  assert.equal(again.metadata.resourceVersion, stored.metadata.resourceVersion);
});

test("the user's Secret stays in memory", async (t) => {
  const path = pathFor(t);
  const cluster = await openFolderCluster(path, systemRandom);
  cluster.holdSecret({ namespace: 'docs', name: 'export-api' }, { apiKey: Buffer.from('svc_secret') });
  await cluster.applyManifest({ key, spec, annotations: {}, labels: {} });
  assert.ok((await cluster.readSecret({ namespace: 'docs', name: 'export-api' }, signal))?.data['apiKey']);
  for (const name of readdirSync(path)) assert.doesNotMatch(readFileSync(join(path, name), 'utf8'), /svc_/);
});

test('a file that is not an object is kept, and refused', async (t) => {
  const path = pathFor(t);
  await openFolderCluster(path, systemRandom);
  writeFileSync(join(path, 'Secret.docs.x.json'), '{"kind":"Secret"}');
  await assert.rejects(openFolderCluster(path, systemRandom), { code: 'StateInvalid', outcome: 'usage' });
  assert.equal(readFileSync(join(path, 'Secret.docs.x.json'), 'utf8'), '{"kind":"Secret"}');
});
