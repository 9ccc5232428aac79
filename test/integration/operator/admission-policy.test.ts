// What the operator's account may write, on a real API server with the controller that fills Secrets with tokens: its outputs,
// and objects that consent. That everything else the operator does is allowed, all tests of this folder show: they run with
// the policy.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { type ChartedCluster, startChartedCluster } from './charted-cluster.ts';
import { staticExportOf } from './resources.ts';

const namespace = 'policy';
let world: ChartedCluster;

before(async () => {
  world = await startChartedCluster({
    ...{ namespaces: [namespace], watchNamespaces: [], controllerManager: true },
    targets: { workloads: [{ namespace, deployments: ['site'] }] },
  });
  await world.apply(staticExportOf('docs', {}, namespace));
  uid = (await world.api.read('staticexport', 'docs', namespace)).metadata.uid;
  await world.apply(configMap('stranger', {}));
  strangerUid = (await world.api.read('configmap', 'stranger', namespace)).metadata.uid;
  // The API server compiles a policy a moment after it was made.
  await eventually('the policy holds', async () => {
    const refusal = await write(configMap('probe', {}));
    await world.kubectl(['delete', 'configmap', 'probe', '-n', namespace, '--ignore-not-found']);
    return refusal;
  });
});
after(() => world?.stop());

/** Its uid is the real one: the garbage collector removes what an unknown object owns. */
let uid = '';
const ownedByExport = () => [
  { apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport', name: 'docs', uid, controller: true },
];
const output = (name: string, more: object = {}, metadata: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'Opaque',
  metadata: { name, namespace, ownerReferences: ownedByExport(), ...metadata },
  stringData: { version: '1', 'bundle.json': '{}' },
  ...more,
});
const mint = (where: string) =>
  output(
    'minted',
    { type: 'kubernetes.io/service-account-token', stringData: undefined },
    {
      namespace: where,
      annotations: { 'kubernetes.io/service-account.name': 'default' },
    },
  );
const unowned = <T extends { readonly metadata: object }>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, ownerReferences: [] },
});
const configMap = (name: string, metadata: object, data: object = { version: '1' }) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace, ...metadata }, data },
});
const consent = { annotations: { 'staticexport.dev/allow-from': `${namespace}/docs` } };
const deployment = (image: string, metadata: object = {}) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'site', namespace, ...metadata } },
  spec: {
    selector: { matchLabels: { app: 'site' } },
    template: { metadata: { labels: { app: 'site' } }, spec: { containers: [{ name: 'site', image }] } },
  },
});

/** As the operator, server-side. @returns what kubectl said where it was refused */
async function write(object: object, kubeconfig = world.kubeconfig): Promise<string | undefined> {
  const apply = [
    'apply',
    '--server-side',
    '--force-conflicts',
    '--field-manager=static-export-operator',
    '-f',
    '-',
  ];
  const { code, stderr } = await world.controlPlane.kubectl(apply, {
    input: JSON.stringify(object),
    kubeconfig,
  });
  return code === 0 ? undefined : stderr;
}

test('no token of another account can be made, not even in its own namespace', async () => {
  for (const where of ['kube-system', namespace]) {
    assert.match((await write(mint(where))) ?? 'allowed', /may only write Secrets of type Opaque/);
    assert.match((await write(unowned(mint(where)))) ?? 'allowed', /may only write outputs/);
  }
});

test('without the policy, the same account mints a token', async () => {
  const name = `${world.operatorNamespace}-${world.leaseName}`;
  const binding: unknown = await world.api.read('validatingadmissionpolicybinding', name);
  await world.kubectl(['delete', 'validatingadmissionpolicybinding', name]);
  try {
    await eventually('the token', async () => {
      const refusal = await write(unowned(mint('kube-system')));
      if (refusal !== undefined) return undefined;
      const path = ['get', 'secret', 'minted', '-n', 'kube-system', '-o', 'jsonpath={.data.token}'];
      const { stdout } = await world.controlPlane.kubectl(path, { kubeconfig: world.kubeconfig });
      return stdout === '' ? undefined : true;
    });
  } finally {
    await world.kubectl(['delete', 'secret', 'minted', '-n', 'kube-system', '--ignore-not-found']);
    const { apiVersion, kind, spec } = binding as { apiVersion: string; kind: string; spec: object };
    await world.apply({ apiVersion, kind, metadata: { name }, spec });
    await eventually('the policy holds again', async () => await write(mint('kube-system')));
  }
});

for (const [name, object, words] of [
  ['a Secret without an owner', () => output('free', {}, { ownerReferences: [] }), /may only write outputs/],
  [
    'a Secret of another kind of owner',
    () =>
      output(
        'other',
        {},
        {
          ownerReferences: [
            { apiVersion: 'apps/v1', kind: 'Deployment', name: 'site', uid: '0f', controller: true },
          ],
        },
      ),
    /may only write outputs/,
  ],
  [
    'a Secret for image pulls',
    () =>
      output('pull', { type: 'kubernetes.io/dockerconfigjson', stringData: { '.dockerconfigjson': '{}' } }),
    /type Opaque/,
  ],
  [
    'a Secret that Argo CD reads as a cluster',
    () =>
      output(
        'cluster',
        { stringData: { name: 'evil', server: 'https://evil.example.com', config: '{}' } },
        { labels: { 'argocd.argoproj.io/secret-type': 'cluster' } },
      ),
    /keys of an output/,
  ],
  [
    'keys in binaryData',
    () => ({
      ...configMap('bin', { ownerReferences: ownedByExport() }),
      binaryData: { 'evil.override': 'eA==' },
    }),
    /keys of an output/,
  ],
  ['keys that no output has', () => output('keys', { stringData: { mapRoles: '[]' } }), /keys of an output/],
  [
    'a ConfigMap of the cluster',
    () =>
      configMap(
        'aws-auth',
        { namespace: 'kube-system', ownerReferences: ownedByExport() },
        { mapRoles: '[]' },
      ),
    /keys of an output/,
  ],
] as const) {
  test(`creating ${name} is refused`, async () => {
    assert.match((await write(object())) ?? 'allowed', words);
  });
}

test('labels and annotations that a webhook of the cluster adds do not hinder an output', async () => {
  const added = { labels: { team: 'docs' }, annotations: { 'policies.example.com/mutated': 'true' } };
  assert.equal(await write(output('labelled', {}, added)), undefined);
  const annotations = { 'policies.example.com/mutated': 'again' };
  assert.equal(await write(output('labelled', {}, { ...added, annotations })), undefined);
});

test('outputs are made and changed, and stay as they are otherwise', async () => {
  assert.equal(await write(output('docs-bundle')), undefined);
  assert.equal(
    await write(output('docs-bundle', { stringData: { version: '2', 'values.yaml': '{}' } })),
    undefined,
  );
  assert.match(
    (await write(output('docs-bundle', {}, { ownerReferences: [], annotations: { a: 'b' } }))) ?? 'allowed',
    /may only write outputs|must not change owner references/,
  );
  assert.match(
    (await write(output('docs-bundle', { stringData: { version: '2', token: 'x' } }))) ?? 'allowed',
    /keys of an output/,
  );
  // What other clients add to it does not hinder the operator.
  await world.apply({ ...output('docs-bundle'), stringData: { note: 'of a person' } });
  assert.equal(await write(output('docs-bundle', { stringData: { version: '3' } })), undefined);
});

const restoredLabels = {
  'app.kubernetes.io/managed-by': 'static-export-operator',
  'app.kubernetes.io/part-of': 'static-export',
};
const named = (name: string) => ({ ...restoredLabels, 'staticexport.dev/export': name });
/** Its uid is real too. */
let strangerUid = '';
const strangers = () => [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'stranger', uid: strangerUid }];
const asOther = () => ownedByExport().map((owner) => ({ ...owner, name: 'other' }));
const kinds = {
  Secret: output,
  ConfigMap: (name: string, _: object, metadata: object) => configMap(name, metadata),
};

type Owners = () => readonly { readonly uid: string }[];
/** `before`: the owners of the object as restored. */
interface Written {
  readonly before?: Owners;
  readonly ownerReferences?: Owners;
  readonly finalizers?: () => readonly string[];
}

// What a backup tool brings back, and what the operator then writes.
for (const [what, name, restored, written, words] of [
  ['both labels and its name', 'named', { labels: named('docs') }, {}, undefined],
  ['both labels and the default name', 'docs-bundle', { labels: restoredLabels }, {}, undefined],
  [
    'both labels and labels of a backup tool',
    'velero',
    { labels: { ...named('docs'), 'velero.io/backup-name': 'b1' } },
    {},
    undefined,
  ],
  ['no labels', 'unlabelled', { labels: {} }, {}, /may only write outputs/],
  [
    'one label of two',
    'half',
    { labels: { ...named('docs'), 'app.kubernetes.io/part-of': 'other' } },
    {},
    /may only write outputs/,
  ],
  ['another owner', 'taken', { labels: named('docs') }, { before: strangers }, /may only write outputs/],
  ['the name of another resource', 'foreign', { labels: named('other') }, {}, /may only write outputs/],
  ['another default name', 'api-bundle', { labels: restoredLabels }, {}, /may only write outputs/],
  [
    'the name of this resource, for another one',
    'stolen',
    { labels: named('docs') },
    { ownerReferences: asOther },
    /may only write outputs/,
  ],
  [
    'both labels, with a second owner',
    'shared',
    { labels: named('docs') },
    { ownerReferences: () => [...ownedByExport(), ...strangers()] },
    /may only write outputs/,
  ],
  [
    'both labels, with a finalizer',
    'held',
    { labels: named('docs') },
    { finalizers: () => ['example.com/hold'] },
    /must not change owner references and finalizers/,
  ],
] as const) {
  for (const [kind, of] of Object.entries(kinds)) {
    test(`a restored ${kind} with ${what} is ${words === undefined ? 'adopted' : 'not adopted'}`, async () => {
      await world.kubectl(['delete', kind, name, '-n', namespace, '--ignore-not-found']);
      const { before: owners = () => [], ...fields }: Written = written;
      await world.apply(of(name, {}, { ownerReferences: owners(), ...restored }));
      const more = Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, value()]));
      const refusal = await write(of(name, {}, { ownerReferences: ownedByExport(), ...more }));
      if (words === undefined) assert.equal(refusal, undefined);
      else assert.match(refusal ?? 'allowed', words);
      // An unadopted object has no owner, or the one that it had.
      const { ownerReferences = [] } = (await world.api.read(kind.toLowerCase(), name, namespace)).metadata;
      assert.deepEqual(
        ownerReferences.map((owner: { readonly uid: string }) => owner.uid),
        words === undefined ? [uid] : owners().map((owner) => owner.uid),
      );
    });
  }
}

test('a restored Deployment is not adopted', async () => {
  await world.apply(deployment('nginx', { labels: named('docs') }));
  const adopted = { ownerReferences: ownedByExport() };
  assert.match((await write(deployment('nginx', adopted))) ?? 'allowed', /may only write outputs/);
});

test('an object of others is changed where it consents, in its data alone', async () => {
  const foreign = configMap('values', {}, { 'values.yaml': 'a: 1' });
  await world.apply(foreign, deployment('nginx'));
  assert.match(
    (await write(configMap('values', {}, { 'values.yaml': 'a: 2' }))) ?? 'allowed',
    /may only write outputs/,
  );
  assert.match(
    (await write(configMap('values', consent, { 'values.yaml': 'a: 2' }))) ?? 'allowed',
    /may only write outputs/,
  );
  assert.match(
    (await write(configMap('values', { ownerReferences: ownedByExport() }))) ?? 'allowed',
    /may only write outputs/,
  );
  assert.match((await write(deployment('evil'))) ?? 'allowed', /may only write outputs/);
  assert.match(
    (await write(deployment('evil', { ownerReferences: ownedByExport() }))) ?? 'allowed',
    /may only write outputs/,
  );
  await world.apply(
    { ...foreign, metadata: { ...foreign.metadata, ...consent } },
    deployment('nginx', consent),
  );
  assert.equal(await write(configMap('values', {}, { 'values.yaml': 'a: 2' })), undefined);
  assert.equal(await write(deployment('nginx:2')), undefined);
  const owned = configMap('values', { ownerReferences: ownedByExport() }, { 'values.yaml': 'a: 3' });
  assert.match((await write(owned)) ?? 'allowed', /must not change owner references/);
});

test('an administrator is not concerned', async () => {
  await world.apply(output('free', {}, { ownerReferences: [], labels: { any: 'label' } }));
});
