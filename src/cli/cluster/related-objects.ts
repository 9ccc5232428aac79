// What is around one StaticExport: the key's Secret, the outputs, the targets, and the pods that use them with what each
// serves. Every part is read on its own, so that a missing permission costs that part alone. Refuses: the data of Secrets.

import { foreignResources } from '#operator/kube/foreign-objects.ts';
import { configMaps, type Resource, secrets } from '#operator/kube/transport/resource-path.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import type { Status, TargetStatus } from '#operator/staticexport/status-schema.ts';
import {
  applyDefaults,
  isObjectTarget,
  targetKindOf,
  type Wanted,
  type WantedGitTarget,
  type WantedObjectTarget,
  type WantedTarget,
} from '#operator/staticexport/wanted.ts';
import type { ObjectKey, StaticExportObject } from '#platform/wire/cluster.ts';
import type { ClusterClient } from './client.ts';
import { type FoundMetadata, readMetadata } from './object-metadata.ts';
import { attempt, createReadLimit, isReadable, type Reading, type ReadLimit } from './reading.ts';
import { judgeServing, readServerStatus, type Server, type Serving, serverOf } from './servers.ts';
import { listPods, type Pod } from './workloads.ts';

export type ObjectKind = ReturnType<typeof targetKindOf>;

const resources = { ...foreignResources, Secret: secrets, ConfigMap: configMaps };
export type MetadataReading = Reading<FoundMetadata | undefined>;

export interface TargetReading {
  readonly wanted: WantedObjectTarget;
  readonly found: MetadataReading;
  /** As the operator last wrote it. */
  readonly status: TargetStatus | undefined;
}

/** A repository is read by the operator alone, so its status is all that is known. */
export interface FoundGitTarget {
  readonly wanted: WantedGitTarget;
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
  readonly targets: readonly TargetReading[];
  readonly gitTargets: readonly FoundGitTarget[];
  /** By namespace: the own one first, then those of targets. */
  readonly pods: ReadonlyMap<string, Reading<readonly UsingPod[]>>;
}

/** Shared by the StaticExports of one run: the pods of a namespace, and how many pods are asked at once. */
export interface PodReads {
  list(namespace: string): Promise<Reading<readonly Pod[]>>;
  readonly limit: ReadLimit;
}

/** Fewer than the connections of a transport: a call that waits behind pods that hang would fail too. */
const mostPods = 8;

export function createPodReads(client: ClusterClient): PodReads {
  const read = new Map<string, Promise<Reading<readonly Pod[]>>>();
  return {
    list: (namespace) => {
      const known = read.get(namespace) ?? attempt(listPods(client, namespace));
      read.set(namespace, known);
      return known;
    },
    limit: createReadLimit(mostPods),
  };
}

/** @throws what stops the command; a refusal is part of the result */
export async function readSurroundings(
  client: ClusterClient,
  object: StaticExportObject,
  podReads: PodReads,
): Promise<Surroundings> {
  const { namespace, name } = object.metadata;
  const { spec, remains, status } = parseStaticExport(object);
  const read = spec ?? remains;
  const wanted = read && applyDefaults({ namespace, name }, read, { apiBaseUrl: undefined });
  if (wanted === undefined) {
    const none = { key: undefined, outputSecret: undefined, outputConfigMap: undefined, targets: [] };
    const noGit = { gitTargets: [] };
    return { object, status, wanted, ...none, ...noGit, pods: new Map() };
  }
  const metadataOf = (resource: Resource, key: ObjectKey) => attempt(readMetadata(client, resource, key));
  const { keySecret, outputName } = wanted;
  const targets = wanted.targets.filter(isObjectTarget);
  const statusOf = ({ targetName, object }: WantedTarget): TargetStatus | undefined =>
    status.targets?.find((one) => one.name === targetName && one.object === object);
  const output = { namespace, name: outputName };
  const used = new Set([
    idOf('Secret', output),
    idOf('ConfigMap', output),
    ...targets.map((target) => idOf(targetKindOf(target), target)),
  ]);
  const namespaces = [...new Set([namespace, ...targets.map((target) => target.namespace)])];
  const [key, outputSecret, outputConfigMap, foundTargets, pods] = await Promise.all([
    metadataOf(secrets, { namespace, name: keySecret.name }),
    metadataOf(secrets, output),
    metadataOf(configMaps, output),
    Promise.all(
      targets.map(async (target) => ({
        wanted: target,
        found: await metadataOf(resources[targetKindOf(target)], {
          namespace: target.namespace,
          name: target.name,
        }),
        status: statusOf(target),
      })),
    ),
    Promise.all(
      namespaces.map(async (one) => [one, await usingPods(client, status, used, podReads, one)] as const),
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
    gitTargets: wanted.targets.flatMap((target) =>
      isObjectTarget(target) ? [] : [{ wanted: target, status: statusOf(target) }],
    ),
    pods: new Map(pods),
  };
}

async function usingPods(
  client: ClusterClient,
  { active }: Status,
  used: ReadonlySet<string>,
  { list, limit }: PodReads,
  namespace: string,
): Promise<Reading<readonly UsingPod[]>> {
  const read = await list(namespace);
  if (!isReadable(read)) return read;
  const using = read.value
    .map((pod) => ({ pod, uses: usesOf(pod).filter((id) => used.has(id)) }))
    .filter(({ uses }) => uses.length > 0);
  return {
    value: await Promise.all(
      using.map(async ({ pod, uses }) => {
        const server = serverOf(pod);
        return { pod, uses, server, serving: await readServing(client, active, pod, server, limit) };
      }),
    ),
  };
}

async function readServing(
  client: ClusterClient,
  active: Status['active'],
  pod: Pod,
  server: Server | undefined,
  limit: ReadLimit,
): Promise<Serving> {
  if (server === undefined) return { state: 'Unknown', message: 'The pod has no bundle server.' };
  // Another container may crash beside the server, which then shows in `state` alone.
  const isRunning = pod.phase === 'Running';
  const read = isRunning ? await limit(() => attempt(readServerStatus(client, server))) : undefined;
  return judgeServing(active, pod, read, pod.stopped.get(server.container));
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
