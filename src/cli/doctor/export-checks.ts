// Checks of one StaticExport and what is around it. Pure. The operator's own verdict (a condition) decides where a user may
// not read the object itself, and where only the operator can know, such as whether the export API takes the key.

import { isPostponed } from '#operator/reconcile/failure-policy.ts';
import { annotations } from '#operator/staticexport/names.ts';
import { targetReasons } from '#operator/staticexport/reasons.ts';
import type { Condition, TargetStatus } from '#operator/staticexport/status-schema.ts';
import { targetKindOf } from '#operator/staticexport/wanted.ts';
import { readInstant } from '#platform/wire/instant.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { isReadable } from '../cluster/reading.ts';
import type { FoundGitTarget, Surroundings, TargetReading } from '../cluster/related-objects.ts';
import type { Server, Serving } from '../cluster/servers.ts';
import { keyReasons } from '../run-outcome.ts';
import { about, type Check, failedCheck, passed, type Remedy, skipped, warned } from './check.ts';
import type { ClusterFacts } from './cluster-state.ts';
import { manages } from './operator-checks.ts';

export function checkExport(around: Surroundings, facts: ClusterFacts): readonly Check[] {
  const { namespace, name } = around.object.metadata;
  return about(`StaticExport ${namespace}/${name}`, [
    ...checkManaged(around, facts),
    checkReady(around),
    checkKey(around),
    ...checkOutput(around),
    checkLink(around, facts.now),
    ...checkMirror(around),
    ...around.targets.map((target) => checkTarget(around, target)),
    ...around.gitTargets.map(checkGitTarget),
    ...checkServers(around),
  ]);
}

function checkManaged({ object, status }: Surroundings, { operators }: ClusterFacts): readonly Check[] {
  const found = isReadable(operators) ? operators.value : [];
  const isKnown = isReadable(operators) && operators.isComplete;
  const isManaged = found.some((operator) => manages(operator, object));
  if (isKnown && found.length > 0 && !isManaged) {
    return [
      failedCheck(
        'Managed',
        'No operator manages it: none watches this namespace with this staticexport.dev/instance label.',
        "Add the namespace to the chart's watchNamespaces, or correct the label.",
      ),
    ];
  }
  const { generation = 0 } = object.metadata;
  const isObserved = status.observedGeneration === generation;
  if (!isKnown && !isManaged && !isObserved) {
    return [
      skipped(
        'Managed',
        'No operator has observed this spec yet, and not all operators are readable for you.',
      ),
    ];
  }
  return isObserved
    ? [
        passed(
          'Managed',
          `The operator with the lease ${printable(status.operatorLease ?? 'unknown')} observed this spec.`,
        ),
      ]
    : [
        warned(
          'Managed',
          'The operator has not observed this spec yet.',
          'Wait a minute. Then check the operator, and the events of the StaticExport.',
        ),
      ];
}

const find = ({ status }: Surroundings, type: string): Condition | undefined =>
  status.conditions?.find((one) => one.type === type);

const readStatus = ({ object: { metadata } }: Surroundings): Remedy => [
  'Follow the message. All conditions:',
  `static-export status ${metadata.name} -n ${metadata.namespace}`,
];

function checkReady(around: Surroundings): Check {
  const [ready, stalled] = [find(around, 'Ready'), find(around, 'Stalled')];
  if (ready === undefined) return skipped('Ready', 'It has no status yet.');
  if (ready.status === 'True') return checkExported(around, ready);
  const message = `${ready.reason}: ${printable(ready.message)}`;
  return stalled?.status === 'True'
    ? failedCheck('Ready', message, readStatus(around))
    : warned('Ready', message, readStatus(around));
}

/** A version is published, and a later export may be held, rejected or failing. */
function checkExported(around: Surroundings, ready: Condition): Check {
  const exported = find(around, 'Exported');
  // The check of the key reports these.
  if (exported?.status !== 'False' || keyReasons.has(exported.reason)) {
    return passed('Ready', printable(ready.message));
  }
  const what = isPostponed(exported.reason) ? 'the next export waits' : 'the last export was not';
  const message = `A version is published, and ${what}: ${exported.reason}: ${printable(exported.message)}`;
  return warned('Ready', message, readStatus(around));
}

function checkKey(around: Surroundings): Check {
  const { key, wanted } = around;
  if (wanted === undefined || key === undefined) return skipped('KeySecret', 'The spec is not readable.');
  const { name, key: dataKey } = wanted.keySecret;
  const condition = ['Stalled', 'Reconciling', 'Exported']
    .map((type) => find(around, type))
    .find((one) => one !== undefined && keyReasons.has(one.reason) && one.status !== 'Unknown');
  const verdict =
    condition &&
    failedCheck(
      'KeySecret',
      `${condition.reason}: ${printable(condition.message)}`,
      `Correct the Secret ${name}.`,
    );
  if (!isReadable(key)) {
    const unread = `The Secret ${name} is not readable for you`;
    return verdict ?? skipped('KeySecret', `${unread}, and the operator reports nothing against it.`);
  }
  const create: Remedy = [
    'Create it:',
    `kubectl create secret generic ${name} -n ${around.object.metadata.namespace} --from-file=${dataKey}=FILE`,
  ];
  if (key.value === undefined) return failedCheck('KeySecret', `The Secret ${name} does not exist.`, create);
  if (verdict !== undefined) return verdict;
  const { dataKeys } = key.value;
  return dataKeys === undefined || dataKeys.includes(dataKey)
    ? passed(
        'KeySecret',
        `The Secret ${name} exists${dataKeys === undefined ? '' : ` and has the key ${dataKey}`}.`,
      )
    : warned(
        'KeySecret',
        `The Secret ${name} seems to lack the key ${dataKey}; the operator reports nothing against it.`,
        ['Check its keys:', `kubectl describe secret ${name} -n ${around.object.metadata.namespace}`],
      );
}

/** The status may say that a link is published for an hour after its Secret was deleted. */
function checkOutput({ object, status, outputSecret, wanted }: Surroundings): readonly Check[] {
  if (status.active === undefined || outputSecret === undefined || wanted === undefined) return [];
  const { namespace, name } = object.metadata;
  const what = `The output Secret ${wanted.outputName}`;
  if (!isReadable(outputSecret)) return [skipped('OutputSecret', `${what} is not readable for you.`)];
  if (outputSecret.value !== undefined) return [passed('OutputSecret', `${what} exists.`)];
  const annotate = `kubectl annotate staticexport ${name} -n ${namespace} ${annotations.reconcile}=$(date +%s) --overwrite`;
  return [
    failedCheck('OutputSecret', `${what} does not exist, although a version is published.`, [
      'Run:',
      annotate,
    ]),
  ];
}

/** The operator's own grace before it calls a refresh due is longer than this for every usual lifetime. */
const refreshGraceMs = 2 * 60_000;

function checkLink(around: Surroundings, now: number): Check {
  const { active, nextRefreshTime } = around.status;
  if (active === undefined) return skipped('LinkAge', 'Nothing is published yet.');
  const expiresAt = readInstant(active.linkExpirationTime);
  const fresh = find(around, 'LinkFresh');
  const remedy = 'Follow the message of the condition LinkFresh. Pods that start now cannot download.';
  const why = fresh?.status === 'False' ? ` ${fresh.reason}: ${printable(fresh.message)}` : '';
  if (expiresAt === undefined && active.ref !== undefined)
    return skipped(
      'LinkAge',
      `Version ${active.version} is published without a link. Servers read its copy.${why}`,
    );
  if (expiresAt === undefined) return skipped('LinkAge', `No link is published.${why}`);
  if (expiresAt <= now) {
    return failedCheck('LinkAge', `The link expired at ${active.linkExpirationTime}.${why}`, remedy);
  }
  const refreshAt = readInstant(nextRefreshTime);
  const isOverdue = refreshAt !== undefined && refreshAt + refreshGraceMs < now;
  const failure = around.status.failures?.link;
  if (failure !== undefined && fresh?.status !== 'False') {
    const message = `The link is valid until ${active.linkExpirationTime}, but its refresh fails: ${failure.reason}.`;
    return warned('LinkAge', message, 'Check the operator and the export API before the link expires.');
  }
  if (isOverdue || fresh?.status === 'False') {
    const message = `The link is valid until ${active.linkExpirationTime}, but its refresh is overdue.${why}`;
    return warned('LinkAge', message, 'Check the operator and the export API before the link expires.');
  }
  return passed('LinkAge', `The link is valid until ${active.linkExpirationTime}.`);
}

/** Nothing for a resource without a mirror. */
function checkMirror(around: Surroundings): readonly Check[] {
  const mirrored = find(around, 'Mirrored');
  if (mirrored === undefined) return [];
  const message = `${mirrored.reason}: ${printable(mirrored.message)}`;
  const remedy = 'Follow the message. Pods that start now cannot read the copy.';
  if (mirrored.status === 'False') return [failedCheck('Mirror', message, remedy)];
  return [mirrored.status === 'True' ? passed('Mirror', message) : skipped('Mirror', message)];
}

function checkTarget({ object }: Surroundings, { wanted, found, status }: TargetReading): Check {
  const { namespace, name } = object.metadata;
  const { targetName } = wanted;
  const objectKind = targetKindOf(wanted);
  const what = `Target ${targetName}: ${objectKind} ${wanted.namespace}/${wanted.name}`;
  const consent = `${namespace}/${name}`;
  const remedy: Remedy = [
    'Run:',
    `kubectl annotate ${objectKind.toLowerCase()} ${wanted.name} -n ${wanted.namespace} ${annotations.allowFrom}=${consent}`,
  ];
  const reported = status === undefined ? '' : `${status.reason}${detailOf(status)}`;
  if (!isReadable(found)) {
    if (status === undefined) return skipped('TargetConsent', `${what} is not readable for you.`);
    if (status.synced) {
      return passed('TargetConsent', `${what} is not readable for you; the operator reports it as synced.`);
    }
    const message = `${what}: the operator reports ${reported}.`;
    return status.reason === 'NotGranted'
      ? failedCheck('TargetConsent', message, remedy)
      : warned('TargetConsent', message, 'Follow the message.');
  }
  if (found.value === undefined)
    return failedCheck('TargetConsent', `${what} does not exist.`, 'Create it, or remove the target.');
  const given = found.value.metadata.annotations[annotations.allowFrom];
  if (given !== consent) {
    const instead = given === undefined ? 'has no annotation' : `has another value in the annotation`;
    return failedCheck(
      'TargetConsent',
      `${what} ${instead} ${annotations.allowFrom}.`,
      given === undefined ? remedy : [remedy[0], `${remedy[1]} --overwrite`],
    );
  }
  if (status?.synced === false) {
    return warned(
      'TargetConsent',
      `${what} consents, but is not synced: ${reported}.`,
      'Follow the message.',
    );
  }
  return passed('TargetConsent', `${what} consents.`);
}

/** What to do: the operator's message, or what the reason means. */
function detailOf({ reason, message }: TargetStatus): string {
  const meaning = Object.entries(targetReasons).find(([one]) => one === reason)?.[1];
  const text = message === undefined ? meaning : printable(message);
  return text === undefined ? '' : `: ${text.replace(/\.$/, '')}`;
}

function checkGitTarget({ wanted: { targetName, object }, status }: FoundGitTarget): Check {
  const what = `Target ${targetName}: ${printable(object)}`;
  if (status === undefined) return skipped('GitTarget', `${what} is not reported by the operator yet.`);
  if (status.synced) return passed('GitTarget', `${what} holds the published version.`);
  const message = `${what} is not synced: ${status.reason}${detailOf(status)}.`;
  return warned('GitTarget', message, 'Follow the message.');
}

function checkServers({ pods, object, wanted }: Surroundings): readonly Check[] {
  const read = pods.get(object.metadata.namespace);
  if (read === undefined) return [];
  if (!isReadable(read)) return [skipped('Server', `Pods are not readable: ${read.unreadable}.`)];
  // An evicted or completed pod stays in the list, and others have taken its place.
  const servers = read.value.flatMap(({ server, serving }) =>
    server === undefined || serving.state === 'Ended' ? [] : [{ server, serving }],
  );
  if (servers.length === 0) {
    return [
      skipped('Server', `No bundle server of this namespace mounts the Secret ${wanted?.outputName ?? ''}.`),
    ];
  }
  return servers.map(({ server, serving }) => checkServerPod(server, serving));
}

function checkServerPod({ pod, container }: Server, serving: Serving): Check {
  const { name } = pod.metadata;
  const served = serving.version ?? serving.digest?.slice(0, 12);
  const words = `Pod ${name}: ${serving.message ?? ''}`;
  // The containers of a pending pod have not started: its log is empty, and its events name the cause.
  const look: Remedy =
    pod.phase === 'Pending'
      ? ['Read its events:', `kubectl describe pod ${name} -n ${pod.metadata.namespace}`]
      : ['Read its log:', `kubectl logs ${name} -n ${pod.metadata.namespace}`];
  if (serving.state === 'InStep') return passed('Server', `Pod ${name} serves the published version.`);
  if (serving.state === 'Behind') {
    return served === undefined
      ? failedCheck('Server', words, look)
      : warned('Server', `Pod ${name} serves ${served}. ${serving.message ?? ''}`, look);
  }
  const isUp = pod.phase === 'Running' && !pod.stopped.has(container);
  return isUp ? skipped('Server', words) : failedCheck('Server', words, look);
}
