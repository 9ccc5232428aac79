// The Application target in tables: which source, which values, the patch, the sync that follows, and the owner.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  applicationRollout,
  findApplicationValues,
  missingSync,
  patchValuesObject,
  patchValuesText,
  requestSync,
} from '#operator/targets/application.ts';
import {
  findApplicationOwner,
  isDeclared,
  isIgnored,
  ownerRemedy,
} from '#operator/targets/application-owner.ts';
import type { ForeignObject, ObjectMeta } from '#platform/wire/cluster.ts';
import * as fc from '../../../support/properties.ts';

const version = '20261123-030000-0a1b2c3d';
const wanted = { version, digest: undefined };
const repoURL = 'https://git.example.com/site.git';
const source = (helm?: object, more: object = {}) => ({
  repoURL,
  path: 'chart',
  ...(helm && { helm }),
  ...more,
});
const one = (helm?: object, more: object = {}) => ({
  spec: { source: source(helm, more) },
  status: { sourceType: 'Helm' },
});
const folder = { spec: { source: { repoURL, path: 'manifests' } } };
const change = { outcome: 'edit', changes: [{ key: 'staticExport.version', value: version }] };

test('without values an object is made', () => {
  assert.deepEqual(findApplicationValues(one(), {}, wanted), {
    kind: 'object',
    path: ['spec', 'source'],
    plan: change,
  });
});

test('a text of values alone is edited, and an object that stands next to it hides it', () => {
  const text = findApplicationValues(one({ values: 'a: 1\n' }), {}, wanted);
  assert.deepEqual(text, { kind: 'text', path: ['spec', 'source'], text: 'a: 1\n' });
  assert.equal(findApplicationValues(one({ values: 'a: 1\n', valuesObject: {} }), {}, wanted).kind, 'object');
});

for (const [name, object, choice, code] of [
  ['both source and sources', { spec: { source: source(), sources: [source()] } }, {}, 'AmbiguousSource'],
  ['two sources that render', { spec: { sources: [source(), source()] } }, {}, 'AmbiguousSource'],
  ['no source that matches', { spec: { sources: [source()] } }, { chart: 'docs' }, 'NoSuchSource'],
  ['a plugin', one(undefined, { plugin: {} }), {}, 'NotHelm'],
  ['Kustomize', one(undefined, { kustomize: {} }), {}, 'NotHelm'],
  ['a folder of manifests', { ...folder, status: { sourceType: 'Directory' } }, {}, 'NotHelm'],
  ['a folder that Argo CD has not compared', folder, {}, 'BuilderUnknown'],
  [
    'one of several folders, of manifests',
    { spec: { sources: [folder.spec.source] }, status: { sourceTypes: ['Kustomize'] } },
    {},
    'NotHelm',
  ],
  [
    'a parameter that wins',
    one({ parameters: [{ name: 'staticExport.version', value: 'x' }] }),
    {},
    'ParameterWins',
  ],
] as const) {
  test(`an Application with ${name} is refused as ${code}`, () => {
    const found = findApplicationValues(object, choice, wanted);
    assert.equal(found.kind === 'refused' && found.code, code);
  });
}

test('a reference is one more key, and a parameter that sets it wins over it', () => {
  const all = { version, digest: 'd', ref: 'r' };
  const valuesObject = { staticExport: { version, digest: 'd', ref: 'old' } };
  const found = findApplicationValues(one({ valuesObject }), {}, all);
  const changes = [{ key: 'staticExport.ref', value: 'r' }];
  assert.deepEqual(found.kind === 'object' && found.plan, { outcome: 'edit', changes });
  const patched = patchValuesObject(one({ valuesObject }), ['spec', 'source'], all).map(({ path }) => path);
  assert.deepEqual(
    patched.slice(-3).map((path) => path.split('/').at(-1)),
    ['version', 'digest', 'ref'],
  );
  const parameters = [{ name: 'staticExport.ref', value: 'x' }];
  const refusal = findApplicationValues(one({ parameters }), {}, all);
  assert.equal(refusal.kind === 'refused' && refusal.code, 'ParameterWins');
  assert.equal(findApplicationValues(one({ parameters }), {}, wanted).kind, 'object');
});

test('values that are not a map are refused', () => {
  for (const valuesObject of [['a'], { staticExport: 'on' }]) {
    const found = findApplicationValues(one({ valuesObject }), {}, wanted);
    assert.equal(found.kind === 'object' && found.plan.outcome, 'refused');
  }
});

test('of several sources the one that renders is found, and the choice finds another', () => {
  const object = {
    spec: { sources: [{ repoURL, ref: 'values' }, source(), { repoURL, chart: 'docs' }] },
    status: { sourceTypes: ['', 'Helm', 'Helm'] },
  };
  const chosen = findApplicationValues(object, { chart: 'docs' }, wanted);
  assert.deepEqual(chosen.kind === 'object' && chosen.path, ['spec', 'sources', 2]);
  const only = findApplicationValues(
    { ...object, spec: { sources: object.spec.sources.slice(0, 2) } },
    {},
    wanted,
  );
  assert.deepEqual(only.kind === 'object' && only.path, ['spec', 'sources', 1]);
});

test('the patch of an item requires that it is still the same source', () => {
  const object = { spec: { sources: [source({ valuesObject: { staticExport: { enabled: true } } })] } };
  assert.deepEqual(patchValuesObject(object, ['spec', 'sources', 0], wanted), [
    { op: 'test', path: '/spec/sources/0/repoURL', value: repoURL },
    { op: 'test', path: '/spec/sources/0/path', value: 'chart' },
    { op: 'add', path: '/spec/sources/0/helm/valuesObject/staticExport/version', value: version },
  ]);
});

test('maps that are missing are made with the key', () => {
  const last = (object: object) => patchValuesObject({ ...object }, ['spec', 'source'], wanted).at(-1);
  const staticExport = { version };
  assert.deepEqual(last(one()), {
    ...{ op: 'add', path: '/spec/source/helm', value: { valuesObject: { staticExport } } },
  });
  assert.deepEqual(last(one({})), {
    ...{ op: 'add', path: '/spec/source/helm/valuesObject', value: { staticExport } },
  });
  assert.deepEqual(last(one({ valuesObject: { a: 1 } })), {
    ...{ op: 'add', path: '/spec/source/helm/valuesObject/staticExport', value: staticExport },
  });
});

test('a text is replaced only if it is the text that was read', () => {
  assert.deepEqual(patchValuesText(one({ values: 'a' }), ['spec', 'source'], 'a', 'b').slice(-2), [
    { op: 'test', path: '/spec/source/helm/values', value: 'a' },
    { op: 'replace', path: '/spec/source/helm/values', value: 'b' },
  ]);
});

const helm = { valuesObject: { staticExport: { version } } };
const compared = (sync: string, health: string, more: object = {}, spec: object = {}) => ({
  spec: { source: source(helm), ...spec },
  status: {
    sync: { status: sync, comparedTo: { source: source(helm) } },
    health: { status: health },
    ...more,
  },
});
const automated = { syncPolicy: { automated: {} } };
const stale = { ...compared('Synced', 'Healthy'), spec: one({ valuesObject: {} }).spec };
const failedSync = { operationState: { phase: 'Failed', syncResult: { source: source(helm) } } };
for (const [name, object, state] of [
  ['compared with other values', stale, 'in-progress'],
  ['synced and healthy', compared('Synced', 'Healthy'), 'complete'],
  ['synced and progressing', compared('Synced', 'Progressing'), 'in-progress'],
  ['synced and degraded', compared('Synced', 'Degraded'), 'failed'],
  ['out of sync with automated sync', compared('OutOfSync', 'Healthy', {}, automated), 'in-progress'],
  ['out of sync without automated sync', compared('OutOfSync', 'Healthy'), 'awaiting-sync'],
  [
    'out of sync while an operation runs',
    compared('OutOfSync', 'Healthy', { operationState: { phase: 'Running' } }),
    'in-progress',
  ],
  ['failed to sync these values', compared('OutOfSync', 'Healthy', failedSync, automated), 'failed'],
] as const) {
  test(`an Application that is ${name} is ${state}`, () => {
    assert.equal(applicationRollout(object, ['spec', 'source']).state, state);
  });
}

test('a sync is requested only where none runs and none is automatic', () => {
  assert.deepEqual(requestSync(one(), 'me'), [
    { op: 'add', path: '/operation', value: { initiatedBy: { username: 'me' }, sync: {} } },
  ]);
  const [first] = requestSync({ ...one(), metadata: { resourceVersion: '7' } }, 'me');
  assert.deepEqual(first, { op: 'test', path: '/metadata/resourceVersion', value: '7' });
  assert.deepEqual(requestSync({ spec: automated }, 'me'), []);
  assert.deepEqual(requestSync({ ...one(), operation: {} }, 'me'), []);
  assert.deepEqual(requestSync({ ...one(), status: { operationState: { phase: 'Running' } } }, 'me'), []);
});

const operated = (phase: string, values: object = helm) =>
  compared('OutOfSync', 'Healthy', { operationState: { phase, syncResult: { source: source(values) } } });
for (const [name, object, missing] of [
  ['never synced', compared('OutOfSync', 'Healthy'), 'first'],
  ['synced with other values', operated('Succeeded', { valuesObject: {} }), 'first'],
  ['whose sync of other values failed', operated('Failed', { valuesObject: {} }), 'first'],
  ['whose sync of these values failed', operated('Error'), 'repeated'],
  [
    'whose last sync failed before it compared anything',
    compared('OutOfSync', 'Healthy', { operationState: { phase: 'Error' } }),
    'repeated',
  ],
  ['synced once and out of sync again', operated('Succeeded'), undefined],
  ['synced and degraded', compared('Synced', 'Degraded'), undefined],
  ['not compared yet', stale, undefined],
  ['in sync', compared('Synced', 'Healthy'), undefined],
] as const) {
  test(`an Application that is ${name} needs ${missing ?? 'no'} request of a sync`, () => {
    assert.equal(missingSync(object, ['spec', 'source']), missing);
  });
}

const child = { namespace: 'argocd', name: 'child' };
function meta(more: Partial<ObjectMeta>): ObjectMeta {
  const empty = { annotations: {}, labels: {}, ownerReferences: [] };
  return { ...child, uid: 'u', resourceVersion: '1', ...empty, ...more };
}
const tracked = (id: string) => meta({ annotations: { 'argocd.argoproj.io/tracking-id': id } });

test('the owner is found by tracking id, by reference, and by the label of older versions', () => {
  const parent = { kind: 'Application', key: { namespace: 'argocd', name: 'parent' } };
  const id = 'argoproj.io/Application:argocd/child';
  assert.deepEqual(findApplicationOwner(tracked(`parent:${id}`)), parent);
  assert.deepEqual(findApplicationOwner(tracked(`team_parent:${id}`)), {
    kind: 'Application',
    key: { namespace: 'team', name: 'parent' },
  });
  assert.equal(findApplicationOwner(tracked('parent:argoproj.io/Application:argocd/other')), undefined);
  const reference = { apiVersion: 'argoproj.io/v1alpha1', kind: 'ApplicationSet', name: 'all', uid: 'x' };
  assert.equal(findApplicationOwner(meta({ ownerReferences: [reference] }))?.kind, 'ApplicationSet');
  const labels = { 'app.kubernetes.io/instance': 'parent' };
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  assert.deepEqual(findApplicationOwner(meta({ labels, annotations })), parent);
  assert.equal(findApplicationOwner(meta({ labels })), undefined);
});

const found = (content: Record<string, unknown>): ForeignObject => ({ metadata: meta({}), content });
const applied = (object: object) =>
  found({
    metadata: {
      annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(object) },
    },
  });
const parent = { kind: 'Application', key: { namespace: 'argocd', name: 'parent' } } as const;
const group = [['helm', 'valuesObject', 'staticExport', 'version']];

test('a key counts as declared if the manifest of the owner has it', () => {
  const path = ['spec', 'source'] as const;
  assert.equal(isDeclared(applied(one(helm)), parent, path, group), true);
  assert.equal(isDeclared(applied(one({ valuesObject: { a: 1 } })), parent, path, group), false);
  assert.equal(isDeclared(applied(one(helm)), undefined, path, group), false);
  const others = { valuesObject: { staticExport: { existingSecret: 'docs-bundle' } } };
  assert.equal(isDeclared(applied(one(others)), parent, path, group), false);
  const set = { kind: 'ApplicationSet', key: child } as const;
  assert.equal(isDeclared(found({}), set, path, group), true);
});

test('an owner that declares the list of sources declares all of it', () => {
  const object = applied({ spec: { sources: [source()] } });
  assert.equal(isDeclared(object, parent, ['spec', 'sources', 0], group), true);
});

test('of the managers of a field only controllers apply it again', () => {
  const fieldsV1 = { 'f:spec': { 'f:source': { 'f:helm': { 'f:values': {} } } } };
  const owned = (manager: string) =>
    found({ metadata: { managedFields: [{ manager, operation: 'Apply', fieldsV1 }] } });
  const isOwned = (manager: string) =>
    isDeclared(owned(manager), undefined, ['spec', 'source'], [['helm', 'values']]);
  assert.deepEqual(['kustomize-controller', 'kubectl', 'static-export-operator'].map(isOwned), [
    true,
    false,
    false,
  ]);
});

const pointer = '/spec/source/helm/valuesObject/staticExport/version';
const ignoring = (entry: object, options: readonly string[] = ['RespectIgnoreDifferences=true']) =>
  found({
    spec: {
      ignoreDifferences: [{ group: 'argoproj.io', kind: 'Application', ...entry }],
      syncPolicy: { syncOptions: options },
    },
  });
for (const [name, object, isLeft] of [
  ['a JSON pointer to the keys', ignoring({ jsonPointers: [pointer] }), true],
  ['a JSON pointer above the keys', ignoring({ jsonPointers: ['/spec/source/helm'] }), true],
  ['a jq path', ignoring({ jqPathExpressions: ['.spec.source.helm.valuesObject.staticExport'] }), true],
  [
    'a jq path with a filter',
    ignoring({
      jqPathExpressions: ['.spec.sources[] | select(.chart == "site") | .helm.valuesObject.staticExport'],
    }),
    true,
  ],
  [
    'a jq path of the key alone',
    ignoring({ jqPathExpressions: ['.spec.source.helm.valuesObject.staticExport.version'] }),
    true,
  ],
  [
    'a jq path of another key',
    ignoring({ jqPathExpressions: ['.spec.source.helm.valuesObject.staticExport.existingSecret'] }),
    false,
  ],
  ['a pointer elsewhere', ignoring({ jsonPointers: ['/spec/project'] }), false],
  ['an entry of another Application', ignoring({ name: 'other', jsonPointers: [pointer] }), false],
  ['an ignored difference that a sync does not respect', ignoring({ jsonPointers: [pointer] }, []), false],
  ['no entry', found({}), false],
] as const) {
  test(`${name} ${isLeft ? 'leaves' : 'does not leave'} the keys to the operator`, () => {
    assert.equal(isIgnored(parent, object, child, [pointer]), isLeft);
  });
}

test('the remedy of an ApplicationSet and of several sources names what to paste, and is accepted as such', () => {
  const several = ['/spec/sources/1/helm/valuesObject/staticExport/version'];
  const set = { kind: 'ApplicationSet', key: { namespace: 'argocd', name: 'all' } } as const;
  const text = ownerRemedy(set, child, several);
  assert.match(
    text,
    /ignoreApplicationDifferences: \[\{jqPathExpressions: \['\.spec\.sources\[1\]\.helm\.valuesObject\.staticExport\.version'\]\}\]/,
  );
  const jqPathExpressions = ['.spec.sources[1].helm.valuesObject.staticExport.version'];
  const object = found({ spec: { ignoreApplicationDifferences: [{ jqPathExpressions }] } });
  assert.equal(isIgnored(set, object, child, several), true);
});

test('an object of any shape never throws', () => {
  fc.assert(
    fc.property(fc.object({ maxDepth: 6 }), fc.jsonValue(), (object, valuesObject) => {
      findApplicationValues(object, {}, wanted);
      findApplicationValues(one({ valuesObject }), {}, wanted);
      applicationRollout(object, ['spec', 'source']);
      isIgnored(parent, found(object), child, [pointer]);
      isDeclared(found(object), parent, ['spec', 'source'], group);
    }),
  );
});
