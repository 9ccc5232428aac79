// The HelmRelease target in tables: what is written, who owns it, and how the release ends.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { helmReleaseFields, ownedBy, readHelmRelease } from '#operator/targets/helm-release.ts';
import * as fc from '../../../support/properties.ts';

const version = '20261123-030000-0a1b2c3d';
const wanted = { version, digest: undefined };
const labels = {
  'kustomize.toolkit.fluxcd.io/name': 'fleet',
  'kustomize.toolkit.fluxcd.io/namespace': 'flux-system',
};

function release(values: unknown, managers: readonly string[] = [], more: object = {}) {
  const fieldsV1 = { 'f:spec': { 'f:values': { 'f:staticExport': { 'f:version': {} } } } };
  const managedFields = managers.map((manager) => ({ manager, operation: 'Apply', fieldsV1 }));
  return {
    metadata: { namespace: 'apps', name: 'docs', generation: 2, labels, managedFields },
    spec: { values },
    ...more,
  };
}

test('an absent key is written', () => {
  for (const values of [undefined, {}, { staticExport: {} }, { staticExport: { enabled: true } }]) {
    assert.deepEqual(readHelmRelease(release(values), wanted).plan, {
      outcome: 'edit',
      changes: [{ key: 'staticExport.version', value: version }],
    });
  }
  assert.deepEqual(helmReleaseFields(wanted), { spec: { values: { staticExport: { version } } } });
});

const ref = 'oci://registry.example.com/docs/site@sha256:aa';

test('a changed reference alone is written, with what else is wanted', () => {
  const all = { version, digest: 'd', ref };
  const held = release({ staticExport: { ...all, ref: 'oci://old' } }, ['static-export-operator']);
  assert.deepEqual(readHelmRelease(held, all).plan, {
    outcome: 'edit',
    changes: [{ key: 'staticExport.ref', value: ref }],
  });
  assert.deepEqual(helmReleaseFields(all), { spec: { values: { staticExport: all } } });
});

test('a remedy that status would cut leaves out its command', () => {
  const messageOf = (reference: string): string => {
    const all = { version, digest: 'd'.repeat(64), ref: reference };
    const plan = ownedBy(release({}), ['kustomize-controller'], all);
    return plan.outcome === 'owned' ? plan.message : '';
  };
  assert.match(messageOf(ref), /ref: "oci:.*kubectl apply --server-side .* -f -$/);
  const long = messageOf(`oci://${'r'.repeat(500)}@sha256:${'a'.repeat(64)}`);
  assert.match(
    long,
    /^kustomize-controller owns the keys; remove spec\.values\.staticExport\.version .* from git$/,
  );
});

test('values that are a list or a text are refused', () => {
  for (const values of [['a'], 'text', { staticExport: ['a'] }, { staticExport: 'on' }]) {
    const { plan } = readHelmRelease(release(values), wanted);
    assert.equal(plan.outcome === 'refused' && plan.code, 'NotAMap');
  }
});

test('an entry of valuesFrom is refused if its targetPath wins over the key, or cannot be joined with it', () => {
  const codeOf = (targetPath: string) => {
    const object = release({ staticExport: { version: 'old' } });
    const entry = { kind: 'ConfigMap', name: 'pinned', targetPath };
    const { plan } = readHelmRelease({ ...object, spec: { ...object.spec, valuesFrom: [entry] } }, wanted);
    return plan.outcome === 'refused' ? plan.message.replace(/.*pinned, /, '') : plan.outcome;
  };
  const wins = 'which wins over spec.values; remove that entry';
  const breaks = 'which Flux cannot join with spec.values; remove that entry';
  for (const [targetPath, outcome] of [
    ['staticExport', 'edit'],
    ['staticExport.enabled', 'edit'],
    ['staticExport.digest', 'edit'],
    ['staticExport..version', 'edit'],
    ['staticExport\\.version', 'edit'],
    ['other.staticExport.version', 'edit'],
    ['staticExport.versions', 'edit'],
    ['staticExport.version', wins],
    ['static\\Export.versio\\n', wins],
    ['staticExport.version.x', breaks],
    ['staticExport.version[0]', breaks],
    ['staticExport[0]', breaks],
    ['\\', 'edit'],
  ] as const) {
    assert.equal(codeOf(targetPath), outcome, targetPath);
  }
});

test('a key with the wanted value is in sync, whoever owns it', () => {
  const { plan } = readHelmRelease(release({ staticExport: { version } }, ['kustomize-controller']), wanted);
  assert.deepEqual(plan, { outcome: 'in-sync' });
});

test('a key that another manager holds is not written, and the message has the ignore to paste', () => {
  const { plan } = readHelmRelease(
    release({ staticExport: { version: 'old' } }, ['kustomize-controller']),
    wanted,
  );
  assert.equal(plan.outcome, 'owned');
  assert.match(
    plan.outcome === 'owned' ? plan.message : '',
    /Kustomization flux-system\/fleet: spec: \{ignore: \[\{paths: \[\/spec\/values\/staticExport\/version\], target: \{kind: HelmRelease, namespace: apps, name: docs\}\}\]\}/,
  );
});

test('a key that both hold is let go first', () => {
  const both = ['kustomize-controller', 'static-export-operator'];
  const { plan, isShared } = readHelmRelease(release({ staticExport: { version: 'old' } }, both), wanted);
  assert.deepEqual([plan.outcome, isShared], ['edit', true]);
});

const ready = (status: string, reason: string, observedGeneration = 2, history: readonly object[] = []) => ({
  status: { observedGeneration, history, conditions: [{ type: 'Ready', status, reason }] },
});
for (const [name, more, state] of [
  ['not observed', ready('True', 'UpgradeSucceeded', 1), 'in-progress'],
  ['upgraded', ready('True', 'UpgradeSucceeded', 2, [{ status: 'deployed' }]), 'complete'],
  ['without a history', ready('True', 'UpgradeSucceeded'), 'complete'],
  [
    'ready with a pending release',
    ready('True', 'UpgradeSucceeded', 2, [{ status: 'pending-upgrade' }]),
    'in-progress',
  ],
  ['upgrading', ready('Unknown', 'Progressing'), 'in-progress'],
  ['failed', ready('False', 'UpgradeFailed'), 'failed'],
  ['waiting for its chart', ready('False', 'SourceNotReady'), 'in-progress'],
  ['no status', {}, 'in-progress'],
] as const) {
  test(`a release that is ${name} is ${state}`, () => {
    assert.equal(readHelmRelease(release({}, [], more), wanted).rollout.state, state);
  });
}

test('a suspended release is paused', () => {
  const object = { ...release({}), spec: { suspend: true, values: {} } };
  assert.equal(readHelmRelease(object, wanted).rollout.state, 'paused');
});

test('an object of any shape never throws', () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 5 }), fc.jsonValue(), (object, values) => {
      readHelmRelease(object, wanted);
      readHelmRelease({ ...release(values), status: object }, wanted);
    }),
  );
});
