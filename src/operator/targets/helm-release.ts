// The `HelmRelease` target of Flux, pure: the keys under `spec.values.staticExport`, who else owns them, and the outcome
// of the release. Refuses: taking a key from its manager. Invariant: a key that another manager owns with another value
// is never written, because kustomize-controller would take it back at its next interval.

import { fieldManager } from '#operator/staticexport/names.ts';
import {
  type JsonRecord,
  numberAt,
  recordAt,
  recordsAt,
  textAt,
  valueAt,
} from '#platform/wire/json-fields.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { conditionOf, ownersOf } from './fields.ts';
import { groupOf, heldVersionOf, planKeys, wantedKeysOf } from './static-export-keys.ts';
import type { ObjectFindings, ObjectPlan, Rollout, WantedKeys } from './target-plan.ts';

export interface HelmReleaseFindings extends ObjectFindings {
  /**
   * The operator and another manager own a key. The other manager keeps it although its manifest dropped it, so an apply
   * is a conflict until the operator lets go once.
   */
  readonly isShared: boolean;
}

const groupPath = ['spec', 'values', 'staticExport'] as const;

/** Never throws. @param object as stored, with its managed fields */
export function readHelmRelease(object: JsonRecord, wanted: WantedKeys): HelmReleaseFindings {
  const values = valueAt(object, ['spec', 'values']);
  const plan = refuseWinner(object, wanted) ?? planKeys(values, wanted);
  const foreign = plan.outcome === 'edit' ? foreignOwners(object, wanted) : [];
  const isShared =
    foreign.length > 0 &&
    wantedKeysOf(wanted).some(([name]) =>
      ownersOf(object, [...groupPath, name]).some(({ manager }) => manager === fieldManager),
    );
  return {
    plan: foreign.length === 0 || isShared ? plan : ownedBy(object, foreign, wanted),
    rollout: rolloutOf(object),
    held: heldVersionOf(values),
    isShared,
  };
}

/**
 * Inline values win over `valuesFrom`, also over an entry whose `targetPath` is the group. An entry with the path of a key
 * wins, because helm-controller sets it in the inline values themselves. With a path below a key, or with an index, it
 * cannot join the values: the release fails.
 */
function refuseWinner(object: JsonRecord, wanted: WantedKeys): ObjectPlan | undefined {
  const names = wantedKeysOf(wanted).map(([name]) => name);
  for (const entry of recordsAt(object, 'spec', 'valuesFrom')) {
    const targetPath = textAt(entry, 'targetPath') ?? '';
    const [group, key = '', ...below] = segmentsOf(targetPath);
    const isIndex = key.startsWith('[');
    if (group !== groupPath.at(-1) || !(isIndex || names.some((name) => name === key))) continue;
    const source = printable(`${textAt(entry, 'kind') ?? ''} ${textAt(entry, 'name') ?? ''}`, 317);
    const effect =
      isIndex || below.length > 0 ? 'which Flux cannot join with spec.values' : 'which wins over spec.values';
    const message = `spec.valuesFrom sets ${printable(targetPath, 250)} from ${source}, ${effect}; remove that entry`;
    return { outcome: 'refused', code: 'ValuesFromWins', message };
  }
  return undefined;
}

/** As Helm reads a path: dots separate, a backslash takes the next character as it is, an index begins a segment. */
function segmentsOf(path: string): readonly string[] {
  const segments = [''];
  for (const [part] of path.matchAll(/\\.|[^\\]/gs)) {
    if (part === '.') segments.push('');
    else if (part === '[') segments.push(part);
    else segments.push(`${segments.pop()}${part.replace('\\', '')}`);
  }
  return segments;
}

/** The fields of the apply. */
export function helmReleaseFields(wanted: WantedKeys): JsonRecord {
  return { spec: { values: { staticExport: groupOf(wanted) } } };
}

/** The managers of wanted keys that hold another value. */
function foreignOwners(object: JsonRecord, wanted: WantedKeys): readonly string[] {
  const group = recordAt(object, ...groupPath);
  const managers = wantedKeysOf(wanted)
    .filter(([name, value]) => group[name] !== undefined && group[name] !== value)
    .flatMap(([name]) => ownersOf(object, [...groupPath, name]).map(({ manager }) => manager));
  return [...new Set(managers)].filter((manager) => manager !== fieldManager);
}

/** Status shows 1024 characters of a message, and a command that is cut does something else. */
const longestRemedy = 960;

/**
 * The message has two remedies, unless names and values are so long that the second is cut. Flux adopts the value of an
 * ignored key that it alone owns, and keeps owning it. So a person must hand the key over once; an operator that did so
 * itself would take keys by force. A reconcile that began before the ignore takes the key back.
 *
 * @param managers of the keys, as managed fields or a refused apply name them
 */
export function ownedBy(object: JsonRecord, managers: readonly string[], wanted: WantedKeys): ObjectPlan {
  const name = textAt(object, 'metadata', 'name') ?? '';
  const namespace = textAt(object, 'metadata', 'namespace') ?? '';
  const keys = wantedKeysOf(wanted).map(([key]) => key);
  const paths = keys.map((key) => [...groupPath, key].join('.')).join(' and ');
  const pointers = keys.map((key) => `/${[...groupPath, key].join('/')}`).join(', ');
  const values = wantedKeysOf(wanted).map(([key, value]) => `${key}: "${value}"`);
  const owner = kustomizationOf(object);
  const owners = `${managers.join(', ')} owns the keys; `;
  if (owner === undefined) {
    const message = `${owners}remove ${paths} from the manifest that this manager applies`;
    return { outcome: 'owned', message };
  }
  const removal = `${owners}remove ${paths} from git`;
  const handOver =
    `. Or add to Kustomization ${owner}: ` +
    `spec: {ignore: [{paths: [${pointers}], target: {kind: HelmRelease, namespace: ${namespace}, name: ${name}}}]} ` +
    'and, once Flux has applied that, hand over once: ' +
    `echo '{apiVersion: helm.toolkit.fluxcd.io/v2, kind: HelmRelease, metadata: {name: ${name}, namespace: ${namespace}}, ` +
    `spec: {values: {staticExport: {${values.join(', ')}}}}}' | ` +
    `kubectl apply --server-side --force-conflicts --field-manager=${fieldManager} -f -`;
  const isWhole = removal.length + handOver.length <= longestRemedy;
  return { outcome: 'owned', message: isWhole ? `${removal}${handOver}` : removal };
}

function kustomizationOf(object: JsonRecord): string | undefined {
  const labelOf = (part: string): string | undefined =>
    textAt(object, 'metadata', 'labels', `kustomize.toolkit.fluxcd.io/${part}`);
  const [namespace, name] = [labelOf('namespace'), labelOf('name')];
  return namespace === undefined || name === undefined ? undefined : printable(`${namespace}/${name}`, 317);
}

const undoneReasons = ['RollbackSucceeded', 'UninstallSucceeded'];

/** By `observedGeneration`, `Ready` and the latest release (kstatus; Flux HelmRelease v2). */
function rolloutOf(object: JsonRecord): Rollout {
  if (valueAt(object, ['spec', 'suspend']) === true) {
    return {
      state: 'paused',
      message: 'the HelmRelease is suspended; resume it with flux resume helmrelease',
    };
  }
  const isObserved =
    numberAt(object, 'status', 'observedGeneration') === numberAt(object, 'metadata', 'generation');
  const ready = conditionOf(object, 'Ready');
  const stalled = conditionOf(object, 'Stalled');
  const reason = printable(textAt(ready, 'reason') ?? 'Unknown', 64);
  if (!isObserved)
    return { state: 'in-progress', message: 'helm-controller has not observed the new values' };
  // After a remediation the version before is deployed again, and `Ready` repeats the condition `Remediated`.
  if (undoneReasons.includes(reason)) {
    const message = `helm-controller undid the release (${reason}); read the condition Released of the HelmRelease`;
    return { state: 'failed', message };
  }
  if (ready['status'] === 'True' && isDeployed(object)) return { state: 'complete' };
  if (stalled['status'] === 'True' || (ready['status'] === 'False' && reason.endsWith('Failed'))) {
    return {
      state: 'failed',
      message: `helm-controller reports ${reason}; read the condition Ready of the HelmRelease`,
    };
  }
  return { state: 'in-progress', message: `helm-controller reports ${reason}` };
}

/** The latest release is the first of the history; versions without a history report `Ready` alone. */
function isDeployed(object: JsonRecord): boolean {
  const [latest] = recordsAt(object, 'status', 'history');
  return latest === undefined || latest['status'] === 'deployed';
}
