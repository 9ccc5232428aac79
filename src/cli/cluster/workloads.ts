// Pods and Deployments, as far as the commands read them. Tolerant: a field of another type counts as absent. Refuses:
// values of their environment, which may be secrets; only the objects that it names are kept.

import * as z from 'zod';
import { createList } from '#operator/kube/objects/resource-list.ts';
import { deployments, pods, type Resource } from '#operator/kube/transport/resource-path.ts';
import type { ObjectMeta, StaticExportObject } from '#platform/wire/cluster.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { ClusterClient } from './client.ts';

const absent = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
const texts = z.array(z.string()).catch([]).default([]);
const source = z.object({ secretName: absent(z.string()), name: absent(z.string()) });

const containerShape = z.object({
  name: z.string(),
  image: z.string().catch(''),
  command: texts,
  args: texts,
  ports: z
    .array(z.object({ name: absent(z.string()), containerPort: z.int() }))
    .catch([])
    .default([]),
  env: z
    .array(
      z.object({
        valueFrom: absent(z.object({ secretKeyRef: absent(source), configMapKeyRef: absent(source) })),
      }),
    )
    .catch([])
    .default([]),
  envFrom: z
    .array(z.object({ secretRef: absent(source), configMapRef: absent(source) }))
    .catch([])
    .default([]),
});
export type Container = z.infer<typeof containerShape>;

const containers = z.array(containerShape).catch([]).default([]);
const volumes = z
  .array(
    z.object({
      secret: absent(source),
      configMap: absent(source),
      projected: absent(
        z.object({ sources: z.array(z.object({ secret: absent(source), configMap: absent(source) })) }),
      ),
    }),
  )
  .catch([])
  .default([]);
const podSpec = z.object({ containers, initContainers: containers, volumes });
const stopped = z.object({ reason: absent(z.string()) });
const containerStatuses = z
  .array(
    z.object({
      name: z.string().catch(''),
      restartCount: z.int().catch(0),
      state: absent(z.object({ waiting: absent(stopped), terminated: absent(stopped) })),
    }),
  )
  .catch([])
  .default([]);
const podStatus = z.object({
  phase: absent(z.string()),
  reason: absent(z.string()),
  conditions: z
    .array(z.object({ type: z.string(), status: z.string() }))
    .catch([])
    .default([]),
  containerStatuses,
  initContainerStatuses: containerStatuses,
});
const selectorShape = z.object({
  matchLabels: z.record(z.string(), z.string()).default({}),
  matchExpressions: z
    .array(
      z.object({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).default([]),
      }),
    )
    .default([]),
});
const deploymentSpec = z.object({
  replicas: z.int().catch(1).default(1),
  selector: absent(selectorShape),
  template: absent(z.object({ spec: podSpec })),
});
const deploymentStatus = z.object({ readyReplicas: z.int().catch(0).default(0) });

export interface Pod {
  readonly metadata: ObjectMeta;
  /** Sidecars among the init containers included. */
  readonly containers: readonly Container[];
  /** Names of Secrets and ConfigMaps that it mounts or takes its environment from. */
  readonly secrets: ReadonlySet<string>;
  readonly configMaps: ReadonlySet<string>;
  /** `Running`, `Pending`, …; of the pod as a whole. */
  readonly phase: string;
  /** For a person: the phase, or a reason such as `CrashLoopBackOff` of a container that waits, or `Evicted`. */
  readonly state: string;
  /** By name of a container that does not run: why. */
  readonly stopped: ReadonlyMap<string, string>;
  readonly isReady: boolean;
  readonly restarts: number;
}

export interface Deployment {
  readonly metadata: ObjectMeta;
  readonly containers: readonly Container[];
  readonly wantedReplicas: number;
  readonly readyReplicas: number;
  /** Of its pods, as a label selector. */
  readonly selector: string;
}

type Reader = Pick<ClusterClient, 'transport' | 'signal'>;

/** @param namespace absent: all. @throws {ClusterError} */
export async function listPods(
  client: Reader,
  namespace: string | undefined,
  labelSelector?: string,
): Promise<readonly Pod[]> {
  return (await listAll(client, pods, namespace, labelSelector)).map(readPod);
}

/** Without those whose pods cannot be told from others. @param namespace absent: all. @throws {ClusterError} */
export async function listDeployments(
  client: Reader,
  namespace: string | undefined,
  labelSelector?: string,
): Promise<readonly Deployment[]> {
  return (await listAll(client, deployments, namespace, labelSelector)).flatMap(
    (object) => readDeployment(object) ?? [],
  );
}

async function listAll(
  { transport, signal }: Reader,
  resource: Resource,
  namespace: string | undefined,
  labelSelector: string | undefined,
): Promise<readonly StaticExportObject[]> {
  const keep = (object: StaticExportObject): StaticExportObject => object;
  const selected = labelSelector === undefined ? {} : { labelSelector };
  const list = createList({ transport, resource, namespace, keep, ...selected });
  return (await list(() => {}, signal)).objects;
}

export function readPod({ metadata, spec, status }: StaticExportObject): Pod {
  const { containers, initContainers, volumes } = podSpec.parse(spec ?? {});
  const found = podStatus.parse(status ?? {});
  const all = [...containers, ...initContainers];
  const mounted = volumes.flatMap((volume) => [volume, ...(volume.projected?.sources ?? [])]);
  const names = (values: readonly (string | undefined)[]): ReadonlySet<string> =>
    new Set(values.filter((name) => name !== undefined));
  const waiting = found.containerStatuses.find(({ state }) => state?.waiting?.reason !== undefined);
  return {
    metadata,
    containers: all,
    secrets: names([
      ...mounted.map(({ secret }) => secret?.secretName ?? secret?.name),
      ...all.flatMap(({ envFrom }) => envFrom.map(({ secretRef }) => secretRef?.name)),
      ...all.flatMap(({ env }) => env.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name)),
    ]),
    configMaps: names([
      ...mounted.map(({ configMap }) => configMap?.name),
      ...all.flatMap(({ envFrom }) => envFrom.map(({ configMapRef }) => configMapRef?.name)),
      ...all.flatMap(({ env }) => env.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.name)),
    ]),
    phase: printable(found.phase ?? 'Unknown', 64),
    state: printable(waiting?.state?.waiting?.reason ?? found.reason ?? found.phase ?? 'Unknown', 64),
    stopped: new Map(
      [...found.containerStatuses, ...found.initContainerStatuses].flatMap(({ name, state }) => {
        const reason = (state?.waiting ?? state?.terminated)?.reason;
        return reason === undefined ? [] : [[name, printable(reason, 64)] as const];
      }),
    ),
    isReady: found.conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
    restarts: found.containerStatuses.reduce((sum, { restartCount }) => sum + restartCount, 0),
  };
}

/** Pods that ended are not started again: others take their place. */
export function hasEnded({ phase }: Pick<Pod, 'phase'>): boolean {
  return phase === 'Failed' || phase === 'Succeeded';
}

/** @returns `undefined` without a readable selector, because an empty one means every pod of the namespace */
export function readDeployment({ metadata, spec, status }: StaticExportObject): Deployment | undefined {
  const { replicas, selector: stored, template } = deploymentSpec.parse(spec ?? {});
  const selector = stored === undefined ? '' : selectorText(stored);
  if (selector === '') return undefined;
  return {
    metadata,
    containers: template?.spec.containers ?? [],
    wantedReplicas: replicas,
    readyReplicas: deploymentStatus.parse(status ?? {}).readyReplicas,
    selector,
  };
}

/** As a query names it: `app=x,tier in (a,b),!old`. */
function selectorText({ matchLabels, matchExpressions }: z.infer<typeof selectorShape>): string {
  const labels = Object.entries(matchLabels).map(([name, value]) => `${name}=${value}`);
  const expressions = matchExpressions.map(({ key, operator, values }) => {
    const among = `(${values.join(',')})`;
    return {
      In: `${key} in ${among}`,
      NotIn: `${key} notin ${among}`,
      Exists: key,
      DoesNotExist: `!${key}`,
    }[operator];
  });
  return [...labels, ...expressions].join(',');
}

/**
 * Variables of the environment may come from elsewhere, so a flag that is set there counts as its default.
 *
 * @param args of a container
 * @returns the last value of a flag, from `--name=value` or `--name value`
 */
export function flagOf(args: readonly string[], name: string): string | undefined {
  const at = args.findLastIndex((arg) => arg === `--${name}` || arg.startsWith(`--${name}=`));
  const found = args[at];
  if (found === undefined) return undefined;
  return found.includes('=') ? found.slice(found.indexOf('=') + 1) : args[at + 1];
}

/** The version in an image's tag: `registry:5000/name:0.1.0@sha256:…` gives `0.1.0`. */
export function tagOf(image: string): string | undefined {
  const [name = ''] = image.split('@');
  const tag = /:([\w][\w.-]{0,127})$/.exec(name)?.[1];
  return tag !== undefined && /^v?\d+\.\d+\.\d+/.test(tag) ? tag.replace(/^v/, '') : undefined;
}
