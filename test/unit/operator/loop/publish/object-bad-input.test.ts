// Objects that a target cannot write, in one table: the message with its remedy, and nothing changed, by the whole
// reconcile.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ForeignKind } from '#platform/wire/cluster.ts';
import { Simulation } from '../../../../simulation/simulation.ts';

const consent = { annotations: { 'staticexport.dev/allow-from': 'docs/site' } };
const key = { namespace: 'apps', name: 'docs' };
const flux = { name: 'flux', type: 'HelmRelease', helmRelease: key };
const argo = { name: 'argo', type: 'Application', application: key };
const pods = { name: 'pods', type: 'Workload', workload: { kind: 'Deployment', ...key } };
const chart = { repoURL: 'https://git.example.com/site.git', chart: 'site' };
const needsConsent = 'needs the annotation staticexport.dev/allow-from: docs/site';

interface Row {
  readonly target: object;
  readonly kind: ForeignKind;
  readonly content?: Record<string, unknown>;
  readonly annotations?: Record<string, string>;
  readonly reason: string;
  readonly message: string;
}

const helmRelease = (spec: Record<string, unknown>) =>
  ({ target: flux, kind: 'HelmRelease', content: { spec }, reason: 'Refused' }) as const;
const application = (spec: Record<string, unknown>) =>
  ({ target: argo, kind: 'Application', content: { spec }, reason: 'Refused' }) as const;

const rows: Readonly<Record<string, Row>> = {
  'an absent HelmRelease': {
    ...{ target: flux, kind: 'HelmRelease', reason: 'NotGranted', message: needsConsent },
  },
  'a Deployment where the target names a StatefulSet': {
    target: { ...pods, workload: { kind: 'StatefulSet', ...key } },
    ...{ kind: 'Deployment', content: { spec: {} }, reason: 'NotGranted', message: needsConsent },
  },
  'a HelmRelease of another namespace without consent': {
    ...helmRelease({ values: {} }),
    ...{ annotations: {}, reason: 'NotGranted', message: needsConsent },
  },
  'an Application that consents to another resource': {
    ...application({ source: chart }),
    annotations: { 'staticexport.dev/allow-from': 'docs/other' },
    ...{ reason: 'NotGranted', message: needsConsent },
  },
  'values of a HelmRelease that are a list': {
    ...helmRelease({ values: ['a'] }),
    message: 'NotAMap: the values are not a map; make them one',
  },
  'a staticExport of a HelmRelease that is a string': {
    ...helmRelease({ values: { staticExport: 'v1' } }),
    message: 'NotAMap: staticExport is not a map; remove its value or make it a map',
  },
  'a valuesFrom entry of a HelmRelease that wins': {
    ...helmRelease({
      values: { staticExport: { version: 'v1' } },
      valuesFrom: [
        { kind: 'ConfigMap', name: 'all' },
        { kind: 'Secret', name: 'pinned', valuesKey: 'version', targetPath: 'staticExport.version' },
      ],
    }),
    message:
      'ValuesFromWins: spec.valuesFrom sets staticExport.version from Secret pinned, which wins over spec.values; remove that entry',
  },
  'an Application with both source and sources': {
    ...application({ source: chart, sources: [chart] }),
    message: 'AmbiguousSource: it has both spec.source and spec.sources; remove one of them',
  },
  'an Application with several sources and no choice': {
    ...application({ sources: [chart, chart] }),
    message:
      'AmbiguousSource: several sources match; name one by chart, repoURL or ref in application.source',
  },
  'an Application without a source': {
    ...application({}),
    message: 'NoSuchSource: no source of the Application matches; correct application.source of the target',
  },
  'an Application that kustomize builds': {
    ...application({ source: { repoURL: chart.repoURL, path: 'app', kustomize: {} } }),
    message: 'NotHelm: the source is built by kustomize; a target needs a Helm chart',
  },
  'an Application whose parameter wins': {
    ...application({
      source: { ...chart, helm: { parameters: [{ name: 'staticExport.version', value: 'v1' }] } },
    }),
    message: 'ParameterWins: helm.parameters sets staticExport.version, which wins over values; remove it',
  },
  'values of an Application that are a list': {
    ...application({ source: { ...chart, helm: { valuesObject: ['a'] } } }),
    message: 'NotAMap: the values are not a map; make them one',
  },
  'a text of an Application with a key twice': {
    ...application({ source: { ...chart, helm: { values: 'a: 1\na: 2\n' } } }),
    message: 'InvalidYaml: the document has a key twice (DUPLICATE_KEY); correct it first',
  },
  'an annotation that another manager applies': {
    target: pods,
    kind: 'Deployment',
    content: { spec: { template: { metadata: { annotations: { 'staticexport.dev/version': 'v1' } } } } },
    reason: 'OwnedElsewhere',
    message: 'owner owns the annotation; remove it from the pod template of that manifest',
  },
};

for (const [name, { target, kind, content, annotations, reason, message }] of Object.entries(rows)) {
  test(`${name} is not changed, and the message says what to do`, async () => {
    const simulation = new Simulation({ spec: { targets: [target] } });
    const { objects } = simulation.cluster;
    const manager = kind === 'Deployment' ? 'owner' : 'kubectl-edit';
    const metadata = annotations === undefined ? consent : { annotations };
    if (content !== undefined) objects.put(kind, key, content, metadata, manager);
    const before = JSON.stringify(objects.read(kind, key));
    await simulation.until(() => simulation.condition('Exported') === 'True/Promoted');
    await simulation.run(10 * 60_000);
    const [status] = simulation.status().targets ?? [];
    assert.equal(status?.reason, reason);
    assert.equal(status?.message, message);
    assert.equal(simulation.condition('TargetsSynced'), `False/${reason}`);
    assert.equal(simulation.condition('Ready'), 'True/Published');
    assert.equal(JSON.stringify(objects.read(kind, key)), before);
    assert.equal(objects.writes.length, 0);
  });
}
