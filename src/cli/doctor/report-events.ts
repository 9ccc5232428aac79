// The events of a report: those that regard a StaticExport, its pods, or an operator with its pods and lease. Each object's
// are asked for on their own, because a namespace may have thousands of others. Refuses: events of other objects.

import { leases } from '#operator/kube/transport/resource-path.ts';
import { recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { ClusterClient } from '../cluster/client.ts';
import { listRegarding, type Regarding } from '../cluster/events.ts';
import type { Operator } from '../cluster/operators.ts';
import { attempt, isReadable, knownValue } from '../cluster/reading.ts';
import type { Pod } from '../cluster/workloads.ts';
import type { ClusterFacts } from './cluster-state.ts';

interface Question {
  readonly namespace: string;
  readonly regarding: Regarding;
  /** Of the answer, by the name of the object. */
  readonly isIts?: (name: string) => boolean;
}

const replicaSetKind = 'ReplicaSet';

type Metadata = Pod['metadata'];

const about = ({ namespace, uid }: Metadata): Question => ({ namespace, regarding: { uid } });

/** @returns the newest last; a namespace that is not readable says so once */
export async function collectEvents(
  { exports }: Pick<ClusterFacts, 'exports'>,
  operators: readonly Operator[],
  operatorPods: readonly Pod[],
  client: Pick<ClusterClient, 'transport' | 'signal'>,
): Promise<readonly object[]> {
  const pods = exports.flatMap((one) => [...one.pods.values()].flatMap((read) => knownValue(read) ?? []));
  const objects = [
    ...exports.map(({ object }) => object.metadata),
    ...pods.map(({ pod }) => pod.metadata),
    ...operatorPods.map(({ metadata }) => metadata),
  ];
  const single = new Map(objects.map((metadata) => [metadata.uid, about(metadata)]));
  const found = new Map<string, object>();
  const refusals = new Map<string, object>();
  for (const { namespace, regarding, isIts = () => true } of [
    ...single.values(),
    ...operators.flatMap(questionsOf),
  ]) {
    if (refusals.has(namespace)) continue;
    const read = await attempt(listRegarding(client, namespace, regarding));
    if (!isReadable(read)) {
      refusals.set(namespace, { namespace, unreadable: read.unreadable });
      continue;
    }
    for (const event of read.value.filter(isRecord)) {
      if (!isIts(textAt(recordAt(event, 'regarding'), 'name') ?? '')) continue;
      const { namespace: at = namespace, name = '' } = namesOf(event);
      found.set(`${at}/${name}`, describeEvent(event));
    }
  }
  const byTime = [...found.values()].toSorted((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1));
  return [...refusals.values(), ...byTime];
}

/** A pod that could not be created is an event of its ReplicaSet, whose name begins with that of the Deployment. */
function questionsOf({ deployment, lease }: Operator): readonly Question[] {
  const { namespace, name } = deployment.metadata;
  const isReplicaSet = (one: string): boolean =>
    one.startsWith(`${name}-`) && /^[a-z0-9]+$/.test(one.slice(name.length + 1));
  return [
    about(deployment.metadata),
    { namespace, regarding: { kind: replicaSetKind }, isIts: isReplicaSet },
    { namespace: lease.namespace, regarding: { kind: leases.kind, name: lease.name } },
  ];
}

const namesOf = (event: Readonly<Record<string, unknown>>) => ({
  namespace: textAt(recordAt(event, 'metadata'), 'namespace'),
  name: textAt(recordAt(event, 'metadata'), 'name'),
});

const timeOf = (event: object): string => {
  const { lastTime, time }: { lastTime?: unknown; time?: unknown } = event;
  return String(lastTime ?? time ?? '');
};

function describeEvent(event: Readonly<Record<string, unknown>>): object {
  const regarding = recordAt(event, 'regarding');
  const series = recordAt(event, 'series');
  return {
    time: textAt(event, 'eventTime') ?? textAt(event, 'deprecatedFirstTimestamp'),
    lastTime: textAt(series, 'lastObservedTime') ?? textAt(event, 'deprecatedLastTimestamp'),
    count: series['count'] ?? event['deprecatedCount'],
    type: textAt(event, 'type'),
    reason: textAt(event, 'reason'),
    note: printable(textAt(event, 'note') ?? ''),
    regarding: ['kind', 'namespace', 'name'].map((name) => textAt(regarding, name) ?? '').join('/'),
  };
}
