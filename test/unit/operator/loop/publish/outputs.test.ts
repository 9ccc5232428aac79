// Tests how the output Secret and ConfigMap are written: their exact content, only on change, and whose objects they may
// be. A refusal is returned with what was published. The simulation plays other owners, other writers and the order.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reconcile } from '#operator/loop/reconcile.ts';
import { managedByLabels } from '#operator/staticexport/names.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { decode, encode } from '../../../../simulation/fake-cluster.ts';
import { mirrorSpec } from '../../../../simulation/fake-mirror.ts';
import { outputName, resource, type SimulationOptions } from '../../../../simulation/simulation.ts';
import { openRecorded, type Recorded } from '../recorded-simulation.ts';

const applySecret = `applySecret ${outputName}`;
const applyConfigMap = `applyConfigMap ${outputName}`;
const outputId = `docs/${outputName}`;
const output = { namespace: 'docs', name: outputName };

/** Its outputs are written, and no action is due. */
async function openPublished(options: SimulationOptions = {}): Promise<Recorded> {
  const recorded = openRecorded(options);
  const { simulation } = recorded;
  simulation.vendor.linkLifetimeMs = 72 * 3_600_000;
  await simulation.until(() => simulation.condition('Ready') === 'True/Published');
  await simulation.step();
  return recorded;
}

/** What one reconcile writes into the outputs. */
async function writesOf({ simulation, calls }: Recorded): Promise<readonly string[]> {
  calls.length = 0;
  await simulation.step();
  return calls.filter((call) => [applySecret, applyConfigMap].includes(call));
}

for (const [what, isCopied, link] of [
  ['a link', false, 'Always'],
  ['a link and a copy', true, 'Always'],
  ['a copy only', true, 'Never'],
] as const) {
  test(`the outputs of a version with ${what}: the Secret holds the link, and the ConfigMap the content only`, async () => {
    const spec = { output: { link }, ...(isCopied && { mirror: mirrorSpec }) };
    const { simulation } = await openPublished({ spec });
    const { 'bundle.json': bundle = '', ...texts } = simulation.output() ?? {};
    const { version, digest = '', ref } = JSON.parse(bundle);
    assert.equal(ref !== undefined, isCopied);
    const hasLink = link === 'Always';
    const bundleUrl = texts['bundleUrl'] ?? '';
    assert.equal(simulation.vendor.isValid(bundleUrl), hasLink);
    const copy = isCopied ? `  ref: "${ref}"\n  digest: "${digest}"\n` : '';
    const values = (url: string): string =>
      `staticExport:\n  enabled: true\n${url}  version: "${version}"\n${copy}`;
    const ofCopy = isCopied ? { ref } : {};
    const url = hasLink ? `  bundleUrl: "${bundleUrl}"\n` : '';
    const secretData = { version, ...ofCopy, 'values.yaml': values(url) };
    assert.deepEqual(texts, hasLink ? { bundleUrl, ...secretData } : secretData);
    const configMap = simulation.cluster.configMaps.get(outputId);
    assert.deepEqual(configMap?.data, { version, digest, ...ofCopy, 'values.yaml': values('') });
  });
}

test('a publication without a digest leaves the key out', async () => {
  const { simulation } = await openPublished({ spec: { promotion: { inspect: 'Never' } } });
  assert.equal(simulation.cluster.configMaps.get(outputId)?.data['digest'], undefined);
});

test('both outputs are owned by the resource, and only the ConfigMap wakes Flux', async () => {
  const { simulation } = await openPublished();
  const { secrets, configMaps } = simulation.cluster;
  const uid = simulation.object()?.metadata.uid;
  const owner = { apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport', name: resource.name, uid };
  for (const [objects, watch] of [
    [secrets, undefined],
    [configMaps, 'Enabled'],
  ] as const) {
    const { ownerReferences, labels } = objects.get(outputId)?.metadata ?? assert.fail();
    assert.deepEqual(ownerReferences, [{ ...owner, controller: true }]);
    assert.equal(labels['app.kubernetes.io/managed-by'], 'static-export-operator');
    assert.equal(labels['reconcile.fluxcd.io/watch'], watch);
  }
});

/** What another client changed in both outputs. */
for (const [what, data, labels] of [
  ['a changed value', { version: '1' }, undefined],
  ['missing labels', {}, {}],
] as const) {
  test(`${what} is restored by one write of that output, and a second reconcile writes nothing`, async () => {
    const recorded = await openPublished();
    const { secrets, configMaps } = recorded.simulation.cluster;
    const [secret, map] = [secrets.get(outputId), configMaps.get(outputId)];
    assert.ok(secret && map);
    const metadataOf = ({ metadata }: typeof map | typeof secret) => ({
      ...metadata,
      ...(labels && { labels }),
    });
    secrets.set(outputId, { metadata: metadataOf(secret), data: { ...secret.data, ...encode(data) } });
    assert.deepEqual(await writesOf(recorded), [applySecret]);
    assert.deepEqual(decode(secrets.get(outputId)?.data ?? {}), decode(secret.data));
    configMaps.set(outputId, { metadata: metadataOf(map), data: { ...map.data, ...data } });
    assert.deepEqual(await writesOf(recorded), [applyConfigMap]);
    assert.deepEqual(configMaps.get(outputId)?.data, map.data);
    assert.deepEqual(await writesOf(recorded), []);
  });
}

test('a key that another client added to an output stays and causes no write', async () => {
  const recorded = await openPublished();
  const { cluster } = recorded.simulation;
  cluster.putSecret(output, { ...recorded.simulation.output(), other: '1' });
  assert.deepEqual(await writesOf(recorded), []);
  assert.equal(recorded.simulation.output()?.['other'], '1');
});

test('a published link leaves the outputs when the spec wants none any more, and stays without a copy', async () => {
  for (const isCopied of [true, false]) {
    const recorded = await openPublished(isCopied ? { spec: { mirror: mirrorSpec } } : {});
    recorded.simulation.editSpec({ output: { link: 'Never' } });
    assert.deepEqual(await writesOf(recorded), isCopied ? [applySecret] : []);
    assert.equal(recorded.simulation.output()?.['bundleUrl'] === undefined, isCopied);
  }
});

for (const code of ['Forbidden', 'Invalid', 'Unavailable', 'NamespaceTerminating'] as const) {
  test(`a Secret that is refused with ${code} leaves the ConfigMap as it was, and the reverse`, async () => {
    const recorded = await openPublished();
    const { simulation } = recorded;
    const { version } = simulation.status().active ?? assert.fail();
    recorded.refuse(applySecret, code);
    simulation.cluster.configMaps.delete(outputId);
    simulation.cluster.putSecret(output, { ...simulation.output(), version: '1' });
    assert.deepEqual(await writesOf(recorded), [applySecret]);
    assert.equal(simulation.condition('Exported'), 'False/OutputWriteFailed');
    recorded.refuse(applyConfigMap, code);
    assert.deepEqual(await writesOf(recorded), [applySecret, applyConfigMap]);
    assert.equal(simulation.output()?.['version'], version);
  });
}

for (const call of [applySecret, applyConfigMap]) {
  test(`"${call}" that fails otherwise ends the reconcile: with a conflict, an abort or a defect`, async () => {
    const failures = [
      new ClusterError('Conflict', 'scripted'),
      new TypeError('defect'),
      new Error('stopped'),
    ];
    for (const error of failures) {
      const recorded = await openPublished();
      const { simulation, signal, stop } = recorded;
      simulation.cluster.putSecret(output, { ...simulation.output(), version: '1' });
      simulation.cluster.configMaps.delete(outputId);
      recorded.before = (made) => {
        if (made !== call) return;
        if (error.message === 'stopped') stop(error);
        throw error.message === 'stopped' ? new ClusterError('Unavailable', 'scripted') : error;
      };
      await assert.rejects(reconcile(resource, recorded.context, signal), error);
      assert.equal(recorded.calls.at(-1), call);
    }
  });
}

const stranger = { apiVersion: 'v1', kind: 'Other', name: 'other', uid: 'uid-9' };
const earlier = { apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport', name: 'site', uid: 'uid-0' };
const ofName = (name: string) => ({ ...managedByLabels, 'staticexport.dev/export': name });
for (const [what, labels, owners, isAdopted] of [
  ['our labels and the default name', managedByLabels, [], true],
  ['our labels and this name', ofName('site'), [], true],
  ['our labels and another name', ofName('api'), [], false],
  ['no labels', {}, [], false],
  ['one label of two', { 'app.kubernetes.io/managed-by': 'static-export-operator' }, [], false],
  ['our labels and another owner', managedByLabels, [stranger], false],
  ['our labels and the uid of an earlier resource', managedByLabels, [earlier], false],
] as const) {
  test(`a Secret with ${what} is ${isAdopted ? 'adopted, and gets its owner' : 'not adopted'}`, async () => {
    const recorded = await openPublished();
    const { cluster } = recorded.simulation;
    const stored = cluster.secrets.get(outputId) ?? assert.fail();
    const metadata = { ...stored.metadata, labels, ownerReferences: owners };
    cluster.secrets.set(outputId, { ...stored, metadata });
    assert.deepEqual(await writesOf(recorded), isAdopted ? [applySecret] : []);
    const expected = isAdopted ? stored.metadata.ownerReferences : owners;
    assert.deepEqual(cluster.secrets.get(outputId)?.metadata.ownerReferences, expected);
  });
}

test("a ConfigMap that is another owner's is reported in a reconcile that writes the Secret, too", async () => {
  const recorded = await openPublished();
  const { simulation } = recorded;
  simulation.cluster.putConfigMap(output, {});
  await simulation.step();
  const condition = simulation.condition('Stalled');
  assert.notEqual(condition, '-');
  simulation.cluster.putSecret(output, { ...simulation.output(), version: '1' });
  assert.deepEqual(await writesOf(recorded), [applySecret]);
  assert.equal(simulation.condition('Stalled'), condition);
});
