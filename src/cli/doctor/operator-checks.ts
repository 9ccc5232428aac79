// Checks of the operators: their replicas, their leases, and whether two manage the same StaticExports. Pure. Owns when a
// lease counts as stale, and which StaticExports an operator manages by its flags.

import { labels } from '#operator/staticexport/names.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { Operator } from '../cluster/operators.ts';
import { isReadable, knownValue } from '../cluster/reading.ts';
import { type Check, failedCheck, passed, type Remedy, skipped, warned } from './check.ts';
import type { ClusterFacts, LeaseFacts } from './cluster-state.ts';

export const leaseIdOf = ({ lease }: Operator): string => `${lease.namespace}/${lease.name}`;
const nameOf = ({ deployment }: Operator): string =>
  `${deployment.metadata.namespace}/${deployment.metadata.name}`;

export function checkOperators(facts: ClusterFacts): readonly Check[] {
  const { operators, leases } = facts;
  const found = isReadable(operators) ? operators.value : [];
  if (found.length === 0) {
    const led = leases.find(isFresh);
    const isComplete = isReadable(operators) && operators.isComplete;
    // It may run outside of a Deployment; its lease then tells.
    if (led !== undefined && isComplete) {
      return [skipped('Operator', 'No Deployment of an operator was found, but one renews its lease.')];
    }
    if (led !== undefined) {
      const message = `An operator renews the lease ${printable(led.id)}; its Deployment is not readable for you.`;
      return [passed('Operator', message)];
    }
    if (!isReadable(operators)) return [skipped('Operator', `Not readable: ${operators.unreadable}.`)];
    if (!isComplete) return [skipped('Operator', `None was found, and ${notAll}.`)];
    return [
      failedCheck('Operator', 'No operator is installed.', 'Install the chart static-export-operator.'),
    ];
  }
  return found.map(checkReplicas);
}

const notAll = 'Deployments of other namespaces are not readable for you';

function checkReplicas(operator: Operator): Check {
  const { wantedReplicas, readyReplicas } = operator.deployment;
  const name = nameOf(operator);
  const ready = `${readyReplicas} of ${wantedReplicas} replicas of ${name} are ready`;
  const remedy: Remedy = [
    "Read the pods' events and logs:",
    `kubectl describe deployment ${operator.deployment.metadata.name} -n ${operator.deployment.metadata.namespace}`,
  ];
  if (wantedReplicas === 0)
    return failedCheck('Operator', `${name} is scaled to zero: no link is refreshed.`, 'Scale it up.');
  if (readyReplicas === 0) return failedCheck('Operator', `${ready}.`, remedy);
  return readyReplicas < wantedReplicas
    ? warned('Operator', `${ready}.`, remedy)
    : passed('Operator', `${ready}, version ${operator.version ?? 'unknown'}.`);
}

/** The API server's clock, which is read in whole seconds, and the operator's may differ by this much. */
const clockToleranceMs = 5_000;

function isFresh({ lease: read, readAt }: LeaseFacts): boolean {
  const lease = knownValue(read);
  if (lease === undefined || lease.holder === '' || lease.renewedAt === undefined) return false;
  return readAt - lease.renewedAt <= lease.durationMs + clockToleranceMs;
}

export function checkLeases({ leases }: Pick<ClusterFacts, 'leases'>): readonly Check[] {
  return leases.map(checkLease);
}

function checkLease(facts: LeaseFacts): Check {
  const { lease, readAt } = facts;
  const id = printable(facts.id);
  if (!isReadable(lease)) return skipped('OperatorLease', `Not readable: ${lease.unreadable}.`);
  const found = lease.value;
  const remedy = "Check that the operator's pods run and reach the Kubernetes API server; read their logs.";
  if (found === undefined)
    return failedCheck('OperatorLease', `The lease ${id} does not exist: no operator leads.`, remedy);
  const { holder, pod, renewedAt = 0 } = found;
  if (isFresh(facts)) {
    return passed(
      'OperatorLease',
      `${pod} holds the lease ${id}, renewed ${secondsSince(renewedAt, readAt)} s ago.`,
    );
  }
  const since = `not renewed for ${secondsSince(renewedAt, readAt)} s`;
  return holder === ''
    ? failedCheck('OperatorLease', `The lease ${id} has no holder: no operator leads.`, remedy)
    : failedCheck('OperatorLease', `The lease ${id} of ${pod} is stale: ${since}.`, remedy);
}

const secondsSince = (at: number, now: number): number => Math.max(0, Math.round((now - at) / 1000));

const disjoint = 'Stop one of them, use disjoint watchNamespaces, or set instance on one.';

export function checkOverlap(facts: ClusterFacts): readonly Check[] {
  const { operators, leases, exports } = facts;
  if (!isReadable(operators)) return [skipped('OperatorOverlap', `Not readable: ${operators.unreadable}.`)];
  const pairs = operators.value.flatMap((one, at) =>
    operators.value.slice(at + 1).flatMap((other) => (isOverlap(one, other) ? [[one, other] as const] : [])),
  );
  const overlaps = pairs.map(([one, other]) =>
    failedCheck(
      'OperatorOverlap',
      `${nameOf(one)} and ${nameOf(other)} manage the same StaticExports.`,
      disjoint,
    ),
  );
  const known = new Set(operators.value.map(leaseIdOf));
  const fresh = new Set(leases.filter(isFresh).map(({ id }) => id));
  const strangers = new Map<string, string>();
  for (const { object, status } of exports) {
    const { operatorLease } = status;
    if (operatorLease === undefined || known.has(operatorLease) || !fresh.has(operatorLease)) continue;
    const own = operators.value.find((operator) => manages(operator, object));
    if (own !== undefined) strangers.set(operatorLease, nameOf(own));
  }
  const foreign = [...strangers].map(([lease, own]) =>
    failedCheck(
      'OperatorOverlap',
      `Another operator, with the lease ${printable(lease)}, writes statuses that ${own} manages.`,
      disjoint,
    ),
  );
  const found = [...overlaps, ...foreign];
  if (found.length > 0) return found;
  return !operators.isComplete
    ? [skipped('OperatorOverlap', `Not all operators are known: ${notAll}.`)]
    : [passed('OperatorOverlap', 'No two operators manage the same StaticExports.')];
}

function isOverlap(one: Operator, other: Operator): boolean {
  if (one.instance !== other.instance || leaseIdOf(one) === leaseIdOf(other)) return false;
  const [a, b] = [one.watchNamespaces, other.watchNamespaces];
  return a.length === 0 || b.length === 0 || a.some((namespace) => b.includes(namespace));
}

/** By its flags alone. */
export function manages({ watchNamespaces, instance }: Operator, { metadata }: StaticExportObject): boolean {
  const isWatched = watchNamespaces.length === 0 || watchNamespaces.includes(metadata.namespace);
  return isWatched && metadata.labels[labels.instance] === instance;
}
