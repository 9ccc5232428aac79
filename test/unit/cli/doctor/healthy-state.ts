// Facts of a healthy cluster with one StaticExport, for tests that break one of them.

import type { Lease, Operator } from '#cli/cluster/operators.ts';
import type { Unreadable } from '#cli/cluster/reading.ts';
import type { Surroundings, UsingPod } from '#cli/cluster/related-objects.ts';
import type { Pod } from '#cli/cluster/workloads.ts';
import type { Check } from '#cli/doctor/check.ts';
import type { ClusterFacts, DefinitionFacts } from '#cli/doctor/cluster-state.ts';
import { ownFields } from '#cli/doctor/definition-fields.ts';
import { checksOf } from '#cli/doctor/doctor-command.ts';
import { commandPermissions, type ReviewedPermission } from '#cli/doctor/permissions.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { applyDefaults } from '#operator/staticexport/wanted.ts';
import type { ObjectMeta, StaticExportObject } from '#platform/wire/cluster.ts';

export const now = Date.parse('2026-11-23T12:00:00Z');
export const forbidden: Unreadable = { code: 'Forbidden', unreadable: 'you have no permission' };

export const metadata = (namespace: string, name: string, more: Partial<ObjectMeta> = {}): ObjectMeta => ({
  namespace,
  name,
  uid: 'u',
  resourceVersion: '1',
  generation: 1,
  annotations: {},
  labels: {},
  ownerReferences: [],
  ...more,
});

const condition = (type: string, status: 'True' | 'False', reason: string, message = `${reason}.`) => ({
  type,
  status,
  reason,
  message,
  lastTransitionTime: '2026-11-23T11:00:00Z',
});

export const published = { version: '20261123-110000-aaaaaaaa', digest: 'a'.repeat(64), jobId: 'j' };

export const healthyStatus = {
  observedGeneration: 1,
  operatorLease: 'ops/sx',
  conditions: [condition('Ready', 'True', 'Published'), condition('LinkFresh', 'True', 'Fresh')],
  active: { ...published, linkExpirationTime: '2026-11-23T12:30:00Z' },
  nextRefreshTime: '2026-11-23T12:10:00Z',
};
/** The status with other conditions in front. */
export const withConditions = (...conditions: readonly Parameters<typeof condition>[]): object => ({
  ...healthyStatus,
  conditions: conditions.map((one) => condition(...one)),
});

/** Each with the same answer. */
export const reviewed = (value: boolean): readonly ReviewedPermission[] =>
  commandPermissions.map((one) => ({ ...one, namespace: 'docs', isAllowed: { value } }));

export const pod = (
  name: string,
  serving: UsingPod['serving'],
  change: Partial<Pick<Pod, 'phase' | 'state' | 'stopped'>> = {},
): UsingPod => {
  const found = {
    metadata: metadata('docs', name),
    containers: [],
    secrets: new Set(['docs-bundle']),
    configMaps: new Set<string>(),
    phase: 'Running',
    state: 'Running',
    stopped: new Map<string, string>(),
    isReady: true,
    restarts: 0,
    ...change,
  };
  const server = { pod: found, container: 'bundle-server', adminPort: 9090, imageVersion: '0.1.0' };
  return { pod: found, uses: ['Secret/docs/docs-bundle'], server, serving };
};

export function surroundings(
  change: Partial<Surroundings> & { readonly spec?: object; readonly storedStatus?: object } = {},
): Surroundings {
  const { spec: more, storedStatus = healthyStatus, ...rest } = change;
  const spec = { domain: 'docs.example.com', api: { keySecretRef: { name: 'export-api' } }, ...more };
  const object: StaticExportObject = { metadata: metadata('docs', 'docs'), spec, status: storedStatus };
  const parsed = parseStaticExport(object);
  const wanted =
    parsed.spec && applyDefaults({ namespace: 'docs', name: 'docs' }, parsed.spec, { apiBaseUrl: undefined });
  const present = (name: string) => ({ value: { metadata: metadata('docs', name), dataKeys: ['apiKey'] } });
  return {
    object,
    status: parsed.status,
    wanted,
    key: present('export-api'),
    outputSecret: present('docs-bundle'),
    outputConfigMap: present('docs-bundle'),
    targets: [],
    gitTargets: [],
    pods: new Map([
      ['docs', { value: [pod('site-0', { state: 'InStep', serverVersion: '0.1.0', ...published })] }],
    ]),
    ...rest,
  };
}

export const operator = (
  change: Partial<Operator> & { readonly ready?: number; readonly wanted?: number } = {},
): Operator => {
  const { ready = 2, wanted = 2, ...rest } = change;
  const lease = rest.lease ?? { namespace: 'ops', name: 'sx' };
  return {
    deployment: {
      metadata: metadata('ops', lease.name),
      containers: [],
      wantedReplicas: wanted,
      readyReplicas: ready,
      selector: 'app=sx',
    },
    lease,
    container: 'operator',
    watchNamespaces: [],
    instance: undefined,
    version: '0.1.0',
    chart: 'static-export-operator-0.1.0',
    ...rest,
  };
};

export const lease = (change: Partial<Lease> = {}): Lease => ({
  key: { namespace: 'ops', name: 'sx' },
  holder: 'sx-0_1',
  pod: 'sx-0',
  renewedAt: now - 2_000,
  durationMs: 15_000,
  transitions: 0,
  ...change,
});

export const definition = (change: Partial<DefinitionFacts> = {}): DefinitionFacts => ({
  isEstablished: true,
  served: ['v1alpha1'],
  fields: ownFields(),
  release: 'ops/sx',
  ...change,
});

export function facts(change: Partial<ClusterFacts> = {}): ClusterFacts {
  const one = surroundings();
  return {
    program: { version: '0.1.0', node: '26.12.1' },
    now,
    server: { value: 'v1.35.4' },
    user: 'jane',
    definition: { value: definition() },
    operators: { value: [operator()], isComplete: true },
    leases: [{ id: 'ops/sx', lease: { value: lease() }, readAt: now }],
    permissions: reviewed(true),
    named: undefined,
    objects: { value: [one.object] },
    exports: [one],
    ...change,
  };
}

/** What is not ok, as `code state: message`. */
export function findings(change: Partial<ClusterFacts>, isPre = false): readonly string[] {
  return checksOf(facts(change), isPre)
    .filter(({ state }) => state !== 'ok')
    .map(textOf);
}

const textOf = ({ code, state, message }: Check): string => `${code} ${state}: ${message}`;
