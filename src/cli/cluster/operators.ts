// The operators of a cluster: Deployments of the chart (or of anything with its labels and flags), and the lease that each
// holds. Owns how one is recognised. Refuses: guessing what an operator outside of a Deployment does; its lease, which the
// status of a StaticExport names, is all that is known of it.

import { leases } from '#operator/kube/transport/resource-path.ts';
import { callUnlessAbsent } from '#operator/kube/transport/transport.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { numberAt, recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { ClusterClient } from './client.ts';
import { attempt, isReadable, type Unreadable } from './reading.ts';
import { type Deployment, flagOf, listDeployments, tagOf } from './workloads.ts';

export interface Operator {
  readonly deployment: Deployment;
  /** Name of its container. */
  readonly container: string;
  readonly lease: ObjectKey;
  /** Empty: all. */
  readonly watchNamespaces: readonly string[];
  readonly instance: string | undefined;
  /** Of the image's tag, or of the label where the image is named by digest. */
  readonly version: string | undefined;
  /** Name and version of its chart, such as `static-export-operator-0.1.0`. */
  readonly chart: string | undefined;
}

export interface Lease {
  readonly key: ObjectKey;
  /** Empty where a replica released it. */
  readonly holder: string;
  /** The pod of the holder, from its host name. */
  readonly pod: string;
  /** Epoch ms; `undefined` where it was never renewed. */
  readonly renewedAt: number | undefined;
  readonly durationMs: number;
  readonly transitions: number;
}

/** Those that were found. */
export type OperatorsReading =
  | {
      readonly value: readonly Operator[];
      /** `false` where Deployments of some namespaces are not readable: there may be others. */
      readonly isComplete: boolean;
    }
  | Unreadable;

/** On every object of both charts. */
export const partOfSelector = 'app.kubernetes.io/part-of=static-export';

type Reader = Pick<ClusterClient, 'transport' | 'signal'>;

/**
 * Where Deployments of all namespaces are not readable, those of the likely namespaces are read.
 *
 * @param likelyNamespaces for example those of the leases that statuses name
 */
export async function findOperators(
  client: Reader,
  likelyNamespaces: readonly string[],
): Promise<OperatorsReading> {
  const all = await attempt(listDeployments(client, undefined, partOfSelector));
  if (isReadable(all)) return { value: all.value.flatMap(readOperator), isComplete: true };
  const found: Operator[] = [];
  let isAnyReadable = false;
  for (const namespace of new Set(likelyNamespaces)) {
    const some = await attempt(listDeployments(client, namespace, partOfSelector));
    if (!isReadable(some)) continue;
    isAnyReadable = true;
    found.push(...some.value.flatMap(readOperator));
  }
  return isAnyReadable ? { value: found, isComplete: false } : all;
}

/** @returns none for another Deployment, one otherwise */
export function readOperator(deployment: Deployment): readonly Operator[] {
  const { namespace, labels } = deployment.metadata;
  const container = deployment.containers.find(({ command, args }) => isOperator([...command, ...args]));
  if (container === undefined) return [];
  const args = [...container.command, ...container.args];
  const namespaces = flagOf(args, 'watch-namespaces')?.split(',') ?? [];
  return [
    {
      deployment,
      container: container.name,
      lease: {
        namespace: flagOf(args, 'lease-namespace') ?? namespace,
        name: flagOf(args, 'lease-name') ?? 'static-export-operator',
      },
      watchNamespaces: namespaces.map((name) => name.trim()).filter((name) => name !== ''),
      instance: flagOf(args, 'instance'),
      version: tagOf(container.image) ?? labels['app.kubernetes.io/version'],
      chart: labels['helm.sh/chart'],
    },
  ];
}

/** The image holds all programs; its first argument names one. */
function isOperator(args: readonly string[]): boolean {
  return args.some((arg) => arg === 'operator' || /(^|\/)operator\.mjs$/.test(arg));
}

/** @returns `undefined` where there is no such lease. @throws {ClusterError} */
export async function readLease({ transport, signal }: Reader, key: ObjectKey): Promise<Lease | undefined> {
  const call = { verb: 'get', method: 'GET', address: { resource: leases, ...key } } as const;
  const object = await callUnlessAbsent(transport, call, signal);
  if (object === undefined) return undefined;
  const spec = isRecord(object) ? recordAt(object, 'spec') : {};
  const holder = printable(textAt(spec, 'holderIdentity') ?? '', 256);
  const renewedAt = Date.parse(textAt(spec, 'renewTime') ?? '');
  return {
    key,
    holder,
    pod: holder.split('_')[0] ?? '',
    renewedAt: Number.isNaN(renewedAt) ? undefined : renewedAt,
    durationMs: (numberAt(spec, 'leaseDurationSeconds') ?? 15) * 1000,
    transitions: numberAt(spec, 'leaseTransitions') ?? 0,
  };
}

/** @param text `<namespace>/<name>`, as in `status.operatorLease` */
export function readLeaseKey(text: string | undefined): ObjectKey | undefined {
  const [namespace = '', name = '', ...more] = (text ?? '').split('/');
  return namespace === '' || name === '' || more.length > 0 ? undefined : { namespace, name };
}
