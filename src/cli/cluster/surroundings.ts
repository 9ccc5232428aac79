// What is around one StaticExport: the key's Secret, the outputs, the targets, and the pods that use them with what each
// serves. Every part is read on its own, so that a missing permission costs that part alone. Refuses: the data of Secrets.

import { configMaps, type Resource, secrets } from '../../kube/transport/resource-path.ts';
import { parseStaticExport } from '../../staticexport/parse.ts';
import type { Status, TargetStatus } from '../../staticexport/status-schema.ts';
import { applyDefaults, type Wanted, type WantedTarget } from '../../staticexport/wanted.ts';
import type { ObjectKey, StaticExportObject } from '../../wire/cluster.ts';
import type { ClusterClient } from './client.ts';
import { type FoundMetadata, readMetadata } from './object-metadata.ts';
import { attempt, isReadable, type Reading } from './reading.ts';
import { readServerStatus, type Server, serverOf } from './servers.ts';
import { judgeServing, type Serving } from './serving.ts';
import { listPods, type Pod } from './workloads.ts';

export type ObjectKind = 'Secret' | 'ConfigMap';
export type MetadataReading = Reading<FoundMetadata | undefined>;

export interface FoundTarget {
  readonly wanted: WantedTarget;
  readonly found: MetadataReading;
  /** As the operator last wrote it. */
  readonly status: TargetStatus | undefined;
}

/** A pod that uses an output or a target. */
export interface UsingPod {
  readonly pod: Pod;
  /** `Secret/<namespace>/<name>` and `ConfigMap/<namespace>/<name>`. */
  readonly uses: readonly string[];
  /** `undefined` for a pod without a bundle server: what it serves cannot be known. */
  readonly server: Server | undefined;
  readonly serving: Serving;
}

export interface Surroundings {
  readonly object: StaticExportObject;
  readonly status: Status;
  /** `undefined` where the stored spec is not readable. */
  readonly wanted: Wanted | undefined;
  readonly key: MetadataReading | undefined;
  readonly outputSecret: MetadataReading | undefined;
  readonly outputConfigMap: MetadataReading | undefined;
  readonly targets: readonly FoundTarget[];
  /** By namespace: the own one first, then those of targets. */
  readonly pods: ReadonlyMap<string, Reading<readonly UsingPod[]>>;
}

/** The pods of a namespace; shared by the StaticExports of one run. */
export type PodsOf = (namespace: string) => Promise<Reading<readonly Pod[]>>;

export function createPodsOf(client: ClusterClient): PodsOf {
  const read = new Map<string, Promise<Reading<readonly Pod[]>>>();
  return (namespace) => {
    const known = read.get(namespace) ?? attempt(listPods(client, namespace));
    read.set(namespace, known);
    return known;
  };
}

/** @throws what stops the command; a refusal is part of the result */
export async function readSurroundings(
  client: ClusterClient,
  object: StaticExportObject,
  podsOf: PodsOf,
): Promise<Surroundings> {
  const { namespace, name } = object.metadata;
  const { spec, remains, status } = parseStaticExport(object);
  const read = spec ?? remains;
  const wanted = read && applyDefaults({ namespace, name }, read, { apiBaseUrl: undefined });
  if (wanted === undefined) {
    const none = { key: undefined, outputSecret: undefined, outputConfigMap: undefined, targets: [] };
    return { object, status, wanted, ...none, pods: new Map() };
  }
  const metadataOf = (resource: Resource, key: ObjectKey) => attempt(readMetadata(client, resource, key));
  const { keySecret, outputName, targets } = wanted;
  const output = { namespace, name: outputName };
  const used = new Set([
    idOf('Secret', output),
    idOf('ConfigMap', output),
    ...targets.map((target) => idOf(target.objectKind, target)),
  ]);
  const namespaces = [...new Set([namespace, ...targets.map((target) => target.namespace)])];
  const [key, outputSecret, outputConfigMap, foundTargets, pods] = await Promise.all([
    metadataOf(secrets, { namespace, name: keySecret.name }),
    metadataOf(secrets, output),
    metadataOf(configMaps, output),
    Promise.all(
      targets.map(async (target) => ({
        wanted: target,
        found: await metadataOf(target.objectKind === 'Secret' ? secrets : configMaps, {
          namespace: target.namespace,
          name: target.name,
        }),
        status: status.targets?.find((one) => one.name === target.targetName && one.object === target.object),
      })),
    ),
    Promise.all(
      namespaces.map(async (one) => [one, await usingPods(client, status, used, await podsOf(one))] as const),
    ),
  ]);
  return {
    object,
    status,
    wanted,
    key,
    outputSecret,
    outputConfigMap,
    targets: foundTargets,
    pods: new Map(pods),
  };
}

async function usingPods(
  client: ClusterClient,
  { active }: Status,
  used: ReadonlySet<string>,
  read: Reading<readonly Pod[]>,
): Promise<Reading<readonly UsingPod[]>> {
  if (!isReadable(read)) return read;
  const using = read.value
    .map((pod) => ({ pod, uses: usesOf(pod).filter((id) => used.has(id)) }))
    .filter(({ uses }) => uses.length > 0);
  return {
    value: await Promise.all(
      using.map(async ({ pod, uses }) => {
        const server = serverOf(pod);
        return { pod, uses, server, serving: await readServing(client, active, pod, server) };
      }),
    ),
  };
}

async function readServing(
  client: ClusterClient,
  active: Status['active'],
  pod: Pod,
  server: Server | undefined,
): Promise<Serving> {
  if (server === undefined) return { state: 'Unknown', message: 'The pod has no bundle server.' };
  const isRunning = pod.state === 'Running';
  return judgeServing(active, pod, isRunning ? await attempt(readServerStatus(client, server)) : undefined);
}

function usesOf({ metadata: { namespace }, secrets, configMaps }: Pod): readonly string[] {
  return [
    ...[...secrets].map((name) => idOf('Secret', { namespace, name })),
    ...[...configMaps].map((name) => idOf('ConfigMap', { namespace, name })),
  ];
}

export function idOf(kind: ObjectKind, { namespace, name }: ObjectKey): string {
  return `${kind}/${namespace}/${name}`;
}
