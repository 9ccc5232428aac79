// What a report for a support case holds: the checks, the StaticExports, the operators with their leases and recent logs,
// events, and pods with what they serve. Every file is made of chosen fields. Refuses: Secrets, values of environments, and
// annotations of others.

import { recordAt, textAt } from '../../kube/transport/json.ts';
import { events, pods as podResource } from '../../kube/transport/resource-path.ts';
import { isRecord } from '../../wire/json-text.ts';
import { printable } from '../../wire/printable-text.ts';
import type { ClusterClient } from '../cluster/client.ts';
import type { Operator } from '../cluster/operators.ts';
import { attempt, isReadable, knownValue, type Reading } from '../cluster/reading.ts';
import type { UsingPod } from '../cluster/surroundings.ts';
import { treeOf } from '../cluster/tree.ts';
import { listPods, type Pod } from '../cluster/workloads.ts';
import type { ClusterFacts } from './facts.ts';
import { redactArgs, redactText, redactValue } from './redaction.ts';
import type { ReportFile } from './zip-file.ts';

const ownAnnotation = /^(?:staticexport\.dev|meta\.helm\.sh|argocd\.argoproj\.io)\//;
/** Of each pod's log. */
const logLines = 2_000;
const logBytes = 1024 * 1024;
const mostEvents = 500;

type Reader = Pick<ClusterClient, 'transport' | 'signal'>;

/** @param document of the checks */
export async function collectReport(
  document: object,
  facts: ClusterFacts,
  client: Reader,
): Promise<readonly ReportFile[]> {
  const operators = knownValue(facts.operators) ?? [];
  const [found, logs] = await Promise.all([
    collectEvents(facts, operators, client),
    collectPods(operators, client),
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
      facts.leases.map(({ id, lease }) => ({ id, ...shown(lease) })),
    ),
    json('permissions.json', facts.permissions),
    json('events.json', found),
    ...logs,
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

function describeOperator({ deployment, ...operator }: Operator): object {
  const { metadata, wantedReplicas, readyReplicas, containers } = deployment;
  return {
    metadata: describeMetadata(metadata),
    wantedReplicas,
    readyReplicas,
    containers: containers.map(({ name, image, args }) => ({ name, image, args: redactArgs(args) })),
    ...operator,
  };
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

async function collectEvents(
  { exports }: ClusterFacts,
  operators: readonly Operator[],
  { transport, signal }: Reader,
): Promise<readonly object[]> {
  const namespaces = new Set([
    ...exports.map(({ object }) => object.metadata.namespace),
    ...operators.map(({ deployment }) => deployment.metadata.namespace),
  ]);
  const found = await Promise.all(
    [...namespaces].map(async (namespace) => {
      const query = { limit: String(mostEvents) };
      const call = { verb: 'list', method: 'GET', address: { resource: events, namespace }, query } as const;
      const read = await attempt(transport.call(call, signal));
      if (!isReadable(read)) return [{ namespace, unreadable: read.unreadable }];
      const items = isRecord(read.value) ? read.value['items'] : undefined;
      return (Array.isArray(items) ? items : []).filter(isRecord).map(describeEvent);
    }),
  );
  return found.flat().toSorted((one, other) => timeOf(one).localeCompare(timeOf(other)));
}

const timeOf = (event: object): string => ('time' in event ? String(event.time) : '');

function describeEvent(event: Readonly<Record<string, unknown>>): object {
  const regarding = recordAt(event, 'regarding');
  const series = recordAt(event, 'series');
  return {
    time: textAt(event, 'eventTime') ?? textAt(event, 'deprecatedLastTimestamp'),
    lastTime: textAt(series, 'lastObservedTime'),
    count: series['count'] ?? event['deprecatedCount'],
    type: textAt(event, 'type'),
    reason: textAt(event, 'reason'),
    note: printable(textAt(event, 'note') ?? ''),
    regarding: ['kind', 'namespace', 'name'].map((name) => textAt(regarding, name) ?? '').join('/'),
  };
}

/** The operators' pods, and the end of each log. */
async function collectPods(operators: readonly Operator[], client: Reader): Promise<readonly ReportFile[]> {
  const files: ReportFile[] = [];
  for (const { deployment, container } of operators) {
    const { namespace, name } = deployment.metadata;
    const read = await attempt(listPods(client, namespace, deployment.selector ?? `app=${name}`));
    const found = knownValue(read) ?? [];
    files.push(
      json(
        `operator-pods/${namespace}.${name}.json`,
        isReadable(read) ? found.map(describePod) : shown(read),
      ),
    );
    for (const pod of found) {
      const log = await attempt(readLog(client, pod, container));
      const text = isReadable(log) ? log.value : `not readable: ${log.unreadable}`;
      files.push({
        path: `logs/${namespace}.${pod.metadata.name}.log`,
        text: `${redactText(text).trimEnd()}\n`,
      });
    }
  }
  return files;
}

async function readLog({ transport, signal }: Reader, { metadata }: Pod, container: string): Promise<string> {
  const { namespace, name } = metadata;
  const chunks = await transport.stream(
    {
      verb: 'get',
      method: 'GET',
      address: { resource: podResource, namespace, name, subresource: 'log' },
      accept: 'text/plain, application/json',
      query: {
        tailLines: String(logLines),
        limitBytes: String(logBytes),
        container,
      },
    },
    signal,
  );
  const all: Uint8Array[] = [];
  for await (const chunk of chunks) all.push(chunk);
  return Buffer.concat(all).toString('utf8');
}
