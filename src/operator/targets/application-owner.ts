// Who owns an Application, and whether that owner declares the keys of a target, pure. A declared key would be reverted
// at the owner's next sync, so it is not written before the owner ignores it. Owners: a parent Application (app of apps),
// an ApplicationSet, and any client that applies the object again.

import { fieldManager } from '#operator/staticexport/names.ts';
import type { ForeignObject, ObjectKey, ObjectMeta } from '#platform/wire/cluster.ts';
import { type JsonRecord, recordsAt, valueAt } from '#platform/wire/json-fields.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { SourcePath } from './application.ts';
import { lastAppliedOf, ownersOf } from './fields.ts';

export type ApplicationOwner =
  | { readonly kind: 'Application'; readonly key: ObjectKey }
  | { readonly kind: 'ApplicationSet'; readonly key: ObjectKey };

/** Argo CD's annotation, or the label of versions before 3.0: `PARENT:GROUP/KIND:NAMESPACE/NAME`. */
const trackingAnnotation = 'argocd.argoproj.io/tracking-id';
const trackingLabel = 'app.kubernetes.io/instance';
const argoManagers = ['argocd-controller', 'argocd-application-controller'];

/** @returns the owner that its metadata names */
export function findApplicationOwner(metadata: ObjectMeta): ApplicationOwner | undefined {
  const { namespace, name, annotations, labels, ownerReferences } = metadata;
  const set = ownerReferences.find(({ kind }) => kind === 'ApplicationSet');
  if (set !== undefined) return { kind: 'ApplicationSet', key: { namespace, name: set.name } };
  const [parent, object] = splitTrackingId(annotations[trackingAnnotation] ?? '');
  if (parent !== undefined && object === `argoproj.io/Application:${namespace}/${name}`) {
    // An Application outside Argo CD's own namespace is tracked as NAMESPACE_NAME.
    const [first = '', ...rest] = parent.split('_');
    const isQualified = rest.length > 0;
    return {
      kind: 'Application',
      key: isQualified ? { namespace: first, name: rest.join('_') } : { namespace, name: parent },
    };
  }
  const label = labels[trackingLabel];
  const isApplied = annotations['kubectl.kubernetes.io/last-applied-configuration'] !== undefined;
  if (label === undefined || label === name || !isApplied) return undefined;
  return { kind: 'Application', key: { namespace, name: label } };
}

function splitTrackingId(id: string): readonly [parent: string | undefined, object: string] {
  const at = id.indexOf(':');
  return at <= 0 ? [undefined, ''] : [id.slice(0, at), id.slice(at + 1)];
}

/**
 * Whether the owner's manifest has one of the keys. Other keys of the same map do not count: Argo CD keeps a key that a
 * manifest does not declare. The list `sources` has one owner as a whole, so any item of it counts.
 *
 * @param keyPaths the keys below the source, or the text of the values
 */
export function isDeclared(
  { content }: ForeignObject,
  owner: ApplicationOwner | undefined,
  path: SourcePath,
  keyPaths: readonly (readonly string[])[],
): boolean {
  if (owner?.kind === 'ApplicationSet') return true;
  const isList = path[1] === 'sources';
  const paths = isList ? [['spec', 'sources']] : keyPaths.map((keys) => [...path, ...keys].map(String));
  return paths.some((full) => {
    const declared = valueAt(lastAppliedOf(content), full);
    if (owner !== undefined && declared !== undefined) return true;
    return ownersOf(content, full).some(
      ({ manager, operation }) =>
        manager !== fieldManager && (argoManagers.includes(manager) || appliesAgain(manager, operation)),
    );
  });
}

/** A controller does. The next apply of a person or a pipeline by kubectl reports the conflict itself. */
const appliesAgain = (manager: string, operation: string): boolean =>
  operation === 'Apply' && !manager.startsWith('kubectl');

/** Whether the owner leaves all of these keys to others. @param pointers JSON Pointers of the keys */
export function isIgnored(
  owner: ApplicationOwner,
  found: ForeignObject | undefined,
  child: ObjectKey,
  pointers: readonly string[],
): boolean {
  return pointers.every((pointer) => isPointerIgnored(owner, found, child, pointer));
}

function isPointerIgnored(
  owner: ApplicationOwner,
  found: ForeignObject | undefined,
  child: ObjectKey,
  pointer: string,
): boolean {
  if (found === undefined) return false;
  const { content } = found;
  if (owner.kind === 'ApplicationSet') {
    return recordsAt(content, 'spec', 'ignoreApplicationDifferences').some(
      (entry) => (entry['name'] === undefined || entry['name'] === child.name) && coversPath(entry, pointer),
    );
  }
  const options = valueAt(content, ['spec', 'syncPolicy', 'syncOptions']);
  const isRespected = Array.isArray(options) && options.includes('RespectIgnoreDifferences=true');
  return (
    isRespected &&
    recordsAt(content, 'spec', 'ignoreDifferences').some(
      (entry) =>
        (entry['group'] === 'argoproj.io' || entry['group'] === '*') &&
        (entry['kind'] === 'Application' || entry['kind'] === '*') &&
        (entry['name'] === undefined || entry['name'] === child.name) &&
        (entry['namespace'] === undefined || entry['namespace'] === child.namespace) &&
        coversPath(entry, pointer),
    )
  );
}

function coversPath(entry: JsonRecord, pointer: string): boolean {
  const pointers = listOf(entry, 'jsonPointers');
  const expressions = listOf(entry, 'jqPathExpressions');
  return (
    pointers.some((one) => isAbove(one, pointer)) ||
    expressions.some((one) => isAbove(pointerOfJq(one), anyIndex(pointer)) || selects(one, pointer))
  );
}

/** A jq expression with filters, by its end: `… | .helm.valuesObject.staticExport`, with the key or without. */
function selects(expression: string, pointer: string): boolean {
  const key = pointer.split('/').at(-1) ?? '';
  return new RegExp(`staticExport(\\.${key})?\\s*\\)?$`).test(expression.trim());
}

const listOf = (entry: JsonRecord, name: string): readonly string[] => {
  const list = valueAt(entry, [name]);
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
};

const isAbove = (above: string, pointer: string): boolean =>
  above !== '' && (pointer === above || pointer.startsWith(`${above}/`));

/** `.spec.sources[].helm` or `.spec.sources[1].helm` → `/spec/sources/*\/helm` */
function pointerOfJq(expression: string): string {
  return expression
    .trim()
    .replace(/\[\d*\]/g, '.*')
    .replace(/^\.?/, '/')
    .replaceAll('.', '/')
    .replaceAll('//', '/');
}

const anyIndex = (pointer: string): string => pointer.replace(/\/\d+(?=\/)/, '/*');

/** What to paste into the owner, so that it leaves the keys to the operator. */
export function ownerRemedy(
  owner: ApplicationOwner | undefined,
  child: ObjectKey,
  pointers: readonly string[],
): string {
  const paths = pointers.map((pointer) => pointer.replace(/\/(\d+)\//, '[$1].').replaceAll('/', '.'));
  const list = paths.map((path) => `'${path}'`).join(', ');
  const name = printable(owner === undefined ? '' : `${owner.key.namespace}/${owner.key.name}`, 317);
  if (owner === undefined) {
    return `another client applies ${paths.join(' and ')}; remove it from that client's manifest`;
  }
  if (owner.kind === 'ApplicationSet') {
    return `ApplicationSet ${name} sets it; add to its spec: ignoreApplicationDifferences: [{jqPathExpressions: [${list}]}]`;
  }
  return (
    `Application ${name} declares it; add to its spec: ` +
    `ignoreDifferences: [{group: argoproj.io, kind: Application, name: ${child.name}, jqPathExpressions: [${list}]}] ` +
    'and syncPolicy: {syncOptions: [RespectIgnoreDifferences=true]}'
  );
}
