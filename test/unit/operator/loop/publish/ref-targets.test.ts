// Targets that write the reference of the copy, through the whole reconcile: each type gets it with the digest, waits for a
// copy, and follows a copy that moved.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { ForeignKind } from '#platform/wire/cluster.ts';
import { mirrorSpec } from '../../../../simulation/fake-mirror.ts';
import { Simulation } from '../../../../simulation/simulation.ts';

const minuteMs = 60_000;
const key = { namespace: 'apps', name: 'docs' };
const consent = { 'staticexport.dev/allow-from': 'docs/site' };
const chart = { repoURL: 'https://git.example.com/site.git', chart: 'site' };
const moved = { oci: { ...mirrorSpec.oci, repository: 'registry.test/docs/moved' } };
const bestEffort = { ...mirrorSpec, policy: 'BestEffort' };

interface Case {
  readonly target: object;
  readonly arrange: (simulation: Simulation) => void;
  /** The keys that the object holds. */
  readonly held: (simulation: Simulation) => unknown;
}

const ofObject = (kind: Exclude<ForeignKind, 'ApplicationSet'>, spec: object, path: readonly string[]) => ({
  arrange: ({ cluster }: Simulation) => cluster.objects.put(kind, key, { spec }, { annotations: consent }),
  held: ({ cluster }: Simulation) =>
    path.reduce<unknown>(
      (at, name) => (typeof at === 'object' && at !== null ? Reflect.get(at, name) : undefined),
      cluster.objects.read(kind, key)?.content,
    ),
});

const values = { kind: 'ConfigMap', ...key };
const text = '# ours\nstaticExport:\n  enabled: true\n';
const applied = ['spec', 'source', 'helm', 'valuesObject', 'staticExport'];
const cases: Readonly<Record<string, Case>> = {
  Values: {
    target: { type: 'Values', values },
    arrange: ({ cluster }) => cluster.putConfigMap(key, { 'values.yaml': text }, consent),
    held: ({ cluster }) => {
      const { enabled: _enabled, ...keys } = parse(
        cluster.configMaps.get('apps/docs')?.data['values.yaml'] ?? '',
      ).staticExport;
      return keys;
    },
  },
  HelmRelease: {
    target: { type: 'HelmRelease', helmRelease: key },
    ...ofObject('HelmRelease', { values: {} }, ['spec', 'values', 'staticExport']),
  },
  Application: {
    target: { type: 'Application', application: key },
    ...ofObject('Application', { source: { ...chart, helm: { valuesObject: {} } } }, applied),
  },
  Workload: {
    target: { type: 'Workload', workload: { kind: 'Deployment', ...key } },
    ...ofObject('Deployment', { template: {} }, ['spec', 'template', 'metadata', 'annotations']),
  },
};

const targetOf = ({ target }: Case) => ({ name: 'target', write: ['version', 'ref'], ...target });
const stateOf = (simulation: Simulation) => simulation.status().targets?.[0];

function published(one: Case, { type, mirror }: { readonly type: string; readonly mirror: object }) {
  const simulation = new Simulation({ spec: { mirror, targets: [targetOf(one)] } });
  one.arrange(simulation);
  const keysOf = (repository: string) => {
    const { version, digest = '' } = simulation.status().active ?? {};
    const ref = simulation.mirror.refOf(digest, `oci://${repository}`);
    const keys = { version, digest, ref };
    if (type !== 'Workload') return keys;
    return Object.fromEntries(
      Object.entries(keys).map(([name, value]) => [`staticexport.dev/${name}`, value]),
    );
  };
  return { simulation, keysOf };
}

for (const [type, one] of Object.entries(cases)) {
  test(`a ${type} target gets the reference with its digest, and a copy that moved alone`, async () => {
    const { simulation, keysOf } = published(one, { type, mirror: mirrorSpec });
    await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
    const { version } = simulation.status().active ?? {};
    assert.deepEqual(one.held(simulation), keysOf(mirrorSpec.oci.repository));
    assert.equal(stateOf(simulation)?.ref, simulation.output()?.['ref']);
    simulation.editSpec({ mirror: moved });
    await simulation.run(10 * minuteMs);
    assert.equal(simulation.status().active?.version, version);
    assert.deepEqual(one.held(simulation), keysOf(moved.oci.repository));
    assert.equal(stateOf(simulation)?.ref, simulation.output()?.['ref']);
    assert.equal(stateOf(simulation)?.revertTimes, undefined, 'the copy that moved accuses no other client');
  });

  test(`a ${type} target is not written before the version has a copy`, async () => {
    const { simulation, keysOf } = published(one, { type, mirror: bestEffort });
    simulation.mirror.failing = 'Denied';
    const before = one.held(simulation);
    await simulation.until(() => simulation.condition('Ready') === 'True/Published', 60 * minuteMs);
    await simulation.run(minuteMs);
    assert.equal(simulation.condition('TargetsSynced'), 'Unknown/AwaitingCopy');
    assert.deepEqual(one.held(simulation), before);
    simulation.mirror.failing = undefined;
    await simulation.until(() => stateOf(simulation)?.reason !== 'AwaitingCopy', 60 * minuteMs);
    assert.deepEqual(one.held(simulation), keysOf(mirrorSpec.oci.repository));
  });
}

test('a dry run shows the reference and its digest, and writes nothing', async () => {
  const one = cases['Values'] ?? assert.fail();
  const simulation = new Simulation({
    spec: { mirror: mirrorSpec, targets: [{ ...targetOf(one), mode: 'DryRun' }] },
  });
  one.arrange(simulation);
  await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
  const { version, digest, ref } = simulation.status().active ?? {};
  assert.deepEqual(stateOf(simulation)?.changes, [
    { key: 'staticExport.version', value: version },
    { key: 'staticExport.digest', value: digest },
    { key: 'staticExport.ref', value: ref },
  ]);
  assert.deepEqual(one.held(simulation), {});
});

test('a target without a mirror stalls the resource, and a mirror ends that', async () => {
  const one = cases['Values'] ?? assert.fail();
  const simulation = new Simulation({ spec: { targets: [targetOf(one)] } });
  one.arrange(simulation);
  await simulation.run(5 * minuteMs);
  assert.equal(simulation.condition('Stalled'), 'True/InvalidSpec');
  assert.equal(simulation.callsOf('start'), 0);
  simulation.editSpec({ mirror: mirrorSpec });
  await simulation.until(() => simulation.condition('TargetsSynced') === 'True/Synced', 60 * minuteMs);
  assert.equal(simulation.condition('Stalled'), '-');
});
