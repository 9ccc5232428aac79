// Each permission of the chart is removed on a real API server. The operator's message then names the verb, the resource
// and the namespace. A permission that no case here needs fails the test.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { createCluster } from '#operator/kube/cluster.ts';
import { createEventStore } from '#operator/kube/objects/event-store.ts';
import { createLeaseStore } from '#operator/kube/objects/lease-store.ts';
import { openConnection } from '#operator/kube/transport/connection.ts';
import { staticExports } from '#operator/kube/transport/resource-path.ts';
import { createTransport, type Transport } from '#operator/kube/transport/transport.ts';
import { createReflector } from '#operator/kube/watch/reflector.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { eventually } from '../../../support/eventually.ts';
import { type ChartedCluster, startChartedCluster } from '../charted-cluster.ts';
import { staticExportOf } from '../resources.ts';

const namespace = 'permissions';
const never = new AbortController().signal;
const roleShape = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string() }),
  rules: z.array(
    z.looseObject({
      apiGroups: z.array(z.string()),
      resources: z.array(z.string()),
      verbs: z.array(z.string()),
    }),
  ),
});
type Role = z.infer<typeof roleShape>;

let world: ChartedCluster;
let transport: Transport;
let roles: readonly Role[];

before(async () => {
  const only = { namespaces: [namespace], watchNamespaces: [namespace] };
  world = await startChartedCluster({ ...only, admissionPolicy: 'never' });
  const connection = openConnection({
    kubeconfig: world.kubeconfig,
    context: undefined,
    isInCluster: false,
  });
  transport = createTransport(connection, { clock: systemClock, timeoutMs: 10_000 });
  await world.apply(staticExportOf('docs', {}, namespace));
  roles = [
    await readRole(world.leaseName, namespace),
    await readRole(`${world.leaseName}-lease`, world.operatorNamespace),
  ];
});

after(async () => {
  await transport?.close();
  await world?.stop();
});

async function readRole(name: string, where: string): Promise<Role> {
  return roleShape.parse(await world.api.read('role', name, where));
}

const setRules = ({ metadata: { name, namespace: where } }: Role, rules: Role['rules']) =>
  world.api.patch('role', name, { rules }, { namespace: where });

const readDocs = async () =>
  (await createCluster(transport).readStaticExport({ namespace, name: 'docs' }, never)) ??
  assert.fail('no StaticExport');
const owned = async (name: string, readVersion?: string) => {
  const { metadata } = await readDocs();
  const owner = { apiVersion: 'staticexport.dev/v1alpha1', kind: 'StaticExport' };
  return {
    metadata: {
      namespace,
      name,
      labels: {},
      annotations: {},
      ownerReferences: [{ ...owner, name: 'docs', uid: metadata.uid }],
    },
    data: { version: 'v1' },
    readVersion,
  };
};
const lease = () =>
  createLeaseStore(transport, { namespace: world.operatorNamespace, name: world.leaseName }, 5_000);
const record = { holder: 'a', durationMs: 1_000, acquiredAt: 0, renewedAt: 0, transitions: 0 };

/** What a reflector says of its first trouble, or nothing once it watches. */
function watchOnce(): Promise<void> {
  const stop = new AbortController();
  return new Promise<void>((resolve, reject) => {
    const reflector = createReflector({
      transport,
      resource: staticExports,
      namespace,
      keep: (object) => object,
      clock: systemClock,
      random: systemRandom,
      wake: () => {},
      report: (trouble) => (trouble === undefined ? resolve() : reject(trouble)),
    });
    void reflector.run(stop.signal);
  }).finally(() => stop.abort());
}

const name = (): string => `n-${systemRandom.uuid().slice(0, 8)}`;
const key = { namespace, name: 'absent' };

/** By resource and verb: what of the operator needs it. */
const needs: Readonly<Record<string, () => Promise<unknown>>> = {
  'staticexports get': () => createCluster(transport).readStaticExport(key, never),
  'staticexports list': watchOnce,
  'staticexports watch': watchOnce,
  'staticexports/status patch': async () =>
    createCluster(transport).writeStatus(await readDocs(), { observedGeneration: 1 }, never),
  'secrets get': () => createCluster(transport).readSecret(key, never),
  'secrets create': async () => createCluster(transport).applySecret(await owned(name()), never),
  'secrets patch': async () => createCluster(transport).applySecret(await owned(name()), never),
  'configmaps get': () => createCluster(transport).readConfigMap(key, never),
  'configmaps create': async () => createCluster(transport).applyConfigMap(await owned(name()), never),
  'configmaps patch': async () => createCluster(transport).applyConfigMap(await owned(name()), never),
  'events create': async () => writeEvent(),
  'events patch': async () => {
    const written = await writeEvent();
    await createEventStore(transport, 'host').count({ namespace, name: written, count: 2, at: 0 }, never);
  },
  'leases create': () => lease().create(record, never),
  'leases get': () => lease().read(never),
  'leases update': () => lease().replace('1', record, never),
};

async function writeEvent(): Promise<string> {
  const { metadata } = await readDocs();
  const event = { type: 'Normal', reason: 'Seen', message: 'words', at: 0, suffix: name() } as const;
  return createEventStore(transport, 'host').create({ ...event, regarding: metadata }, never);
}

test("the chart's roles allow exactly what the operator needs", () => {
  const allowed = roles.flatMap(({ rules }) =>
    rules.flatMap(({ resources, verbs }) =>
      resources.flatMap((resource) => verbs.map((verb) => `${resource} ${verb}`)),
    ),
  );
  assert.deepEqual([...new Set(allowed)].sort(), Object.keys(needs).sort());
});

for (const [right, act] of Object.entries(needs)) {
  const [resource = '', verb = ''] = right.split(' ');
  test(`without "${verb}" on ${resource}: both are named`, async () => {
    const role =
      roles.find(({ rules }) => rules.some(({ resources }) => resources.includes(resource))) ??
      assert.fail('no role');
    const without = role.rules.flatMap((rule) =>
      rule.resources.map((one) => ({
        ...rule,
        resources: [one],
        verbs: one === resource ? rule.verbs.filter((allowed) => allowed !== verb) : rule.verbs,
      })),
    );
    await setRules(
      role,
      without.filter(({ verbs }) => verbs.length > 0),
    );
    try {
      const error = await eventually(`a refusal to ${verb} ${resource}`, async () => {
        const found = await act().then(
          () => undefined,
          (refusal: unknown) => refusal,
        );
        return found instanceof ClusterError && found.code === 'Forbidden' ? found : undefined;
      });
      const [plural = '', ...subresource] = resource.split('/');
      const found =
        /^the operator's role does not allow "(\S+)" on (\S+?)(?: "\S+")? in namespace (\S+); add the verb/.exec(
          error.message,
        );
      assert.ok(found, error.message);
      assert.deepEqual(
        [found[1], found[2]?.split(/[./]/)[0], found[2]?.endsWith(`/${subresource[0]}`), found[3]],
        [verb, plural, subresource.length > 0, role.metadata.namespace],
      );
    } finally {
      await setRules(role, role.rules);
    }
    await eventually(`being allowed to ${verb} ${resource} again`, async () => {
      const found = await act().then(
        () => undefined,
        (refusal: unknown) => refusal,
      );
      assert.ok(!(found instanceof ClusterError && found.code === 'Forbidden'), String(found));
      return true;
    });
  });
}
