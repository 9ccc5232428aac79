// What a report for a support case holds: the checks, the StaticExports, the operators with their leases and recent logs,
// events, and pods with what they serve. Every file is made of chosen fields. Refuses: Secrets, values of environments, and
// annotations of others.

import type { ClusterClient } from '../cluster/client.ts';
import type { Lease, Operator } from '../cluster/operators.ts';
import { attempt, isReadable, knownValue, type Reading } from '../cluster/reading.ts';
import type { UsingPod } from '../cluster/related-objects.ts';
import { treeOf } from '../cluster/tree.ts';
import { listPods, type Pod } from '../cluster/workloads.ts';
import type { ClusterFacts } from './cluster-state.ts';
import { redactArgs, redactValue } from './redaction.ts';
import { collectEvents } from './report-events.ts';
import { readLogEnd } from './report-logs.ts';

export interface ReportFile {
  /** Path within the archive. */
  readonly path: string;
  readonly text: string;
}

const ownAnnotation = /^(?:staticexport\.dev|meta\.helm\.sh|argocd\.argoproj\.io)\//;

type Reader = Pick<ClusterClient, 'transport' | 'signal'>;

/** @param document of the checks */
export async function collectReport(
  document: object,
  facts: ClusterFacts,
  client: Reader,
): Promise<readonly ReportFile[]> {
  const operators = knownValue(facts.operators) ?? [];
  const podsOfEach = await Promise.all(operators.map((one) => listOperatorPods(one, client)));
  const operatorPods = podsOfEach.flatMap(({ pods }) => knownValue(pods) ?? []);
  const [found, ...logs] = await Promise.all([
    collectEvents(facts, operators, operatorPods, client),
    ...podsOfEach.map((one) => describePods(one, client)),
  ]);
  return [
    json('doctor.json', document),
    json('versions.json', { program: facts.program, server: knownValue(facts.server) ?? null }),
    json(
      'staticexports.json',
      facts.exports.map(({ object }) => describeExport(object)),
    ),
    json(
      'trees.json',
      facts.exports.map((around) => ({ ...namesOf(around.object.metadata), ...treeOf(around) })),
    ),
    json(
      'servers.json',
      facts.exports.flatMap(({ pods }) => [...pods.values()].flatMap(describeServers)),
    ),
    json('operators.json', operators.map(describeOperator)),
    json(
      'leases.json',
      facts.leases.map(({ id, lease }) => ({
        id,
        ...(isReadable(lease) ? describeLease(lease.value) : lease),
      })),
    ),
    json('permissions.json', facts.permissions),
    json('events.json', found),
    ...logs.flat(),
  ];
}

const json = (path: string, value: unknown): ReportFile => ({
  path,
  text: `${JSON.stringify(redactValue(value), undefined, 2)}\n`,
});

function shown<T>(reading: Reading<T>): object {
  return isReadable(reading) ? { value: reading.value ?? null } : { unreadable: reading.unreadable };
}

type Metadata = ClusterFacts['exports'][number]['object']['metadata'];

const namesOf = ({ namespace, name }: Metadata) => ({ namespace, name });

function describeMetadata(metadata: Metadata): object {
  const { generation, resourceVersion, uid, creationTimestamp, deletionTimestamp, labels } = metadata;
  const annotations = Object.entries(metadata.annotations).filter(([name]) => ownAnnotation.test(name));
  return {
    ...namesOf(metadata),
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    deletionTimestamp,
    labels,
    annotations: Object.fromEntries(annotations),
  };
}

function describeExport({ metadata, spec, status }: ClusterFacts['exports'][number]['object']): object {
  return { metadata: describeMetadata(metadata), spec, status };
}

/** Arguments are those of its own container: a sidecar's may hold anything. */
function describeOperator({ deployment, ...operator }: Operator): object {
  const { metadata, wantedReplicas, readyReplicas, containers } = deployment;
  return {
    metadata: describeMetadata(metadata),
    wantedReplicas,
    readyReplicas,
    containers: containers.map(({ name, image, args }) => ({
      name,
      image,
      ...(name === operator.container && { args: redactArgs(args) }),
    })),
    ...operator,
  };
}

/** Its key is the id, and would look like a secret. */
function describeLease(lease: Lease | undefined): object {
  if (lease === undefined) return { value: null };
  const { key: _, ...value } = lease;
  return { value };
}

function describeServers(read: Reading<readonly UsingPod[]>): readonly object[] {
  if (!isReadable(read)) return [{ unreadable: read.unreadable }];
  return read.value.map(({ pod, uses, serving, server }) => ({
    ...describePod(pod),
    uses,
    adminPort: server?.adminPort,
    imageVersion: server?.imageVersion,
    serving,
  }));
}

function describePod({ metadata, state, isReady, restarts, containers }: Pod): object {
  const images = containers.map(({ name, image }) => ({ name, image }));
  return { metadata: describeMetadata(metadata), state, isReady, restarts, containers: images };
}

interface OperatorPods {
  readonly operator: Operator;
  readonly pods: Reading<readonly Pod[]>;
}

async function listOperatorPods(operator: Operator, client: Reader): Promise<OperatorPods> {
  const { metadata, selector } = operator.deployment;
  const list = listPods(client, metadata.namespace, selector ?? `app=${metadata.name}`);
  return { operator, pods: await attempt(list) };
}

/** An operator's pods, and the end of each log. */
async function describePods(
  { operator, pods }: OperatorPods,
  client: Reader,
): Promise<readonly ReportFile[]> {
  const { namespace, name } = operator.deployment.metadata;
  const found = knownValue(pods) ?? [];
  const files = [
    json(`operator-pods/${namespace}.${name}.json`, isReadable(pods) ? found.map(describePod) : shown(pods)),
  ];
  for (const pod of found) {
    const log = await attempt(readLogEnd(client, pod, operator.container));
    const text = isReadable(log) ? log.value : `not readable: ${log.unreadable}`;
    files.push({ path: `logs/${namespace}.${pod.metadata.name}.log`, text: `${text.trimEnd()}\n` });
  }
  return files;
}
