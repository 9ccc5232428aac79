// The `Application` target of Argo CD, pure: which source has the Helm values, where its keys are, and the sync that
// follows. Refuses: a source that is not Helm's, a choice between several, and values that a parameter overrides. Who
// owns an Application is in application-owner.ts.

import { isDeepStrictEqual } from 'node:util';
import type { JsonPatchOperation } from '#platform/wire/cluster.ts';
import { type JsonRecord, recordAt, recordsAt, textAt, valueAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';
import { shownInStatus } from './fields.ts';
import { groupOf, heldVersionOf, planKeys, wantedKeysOf } from './static-export-keys.ts';
import type { ObjectPlan, Rollout, WantedKeys } from './target-plan.ts';

/** Finds one of several sources; every given field must match. */
export interface SourceChoice {
  readonly chart?: string | undefined;
  readonly repoURL?: string | undefined;
  readonly ref?: string | undefined;
}

export type SourcePath = readonly ['spec', 'source'] | readonly ['spec', 'sources', number];

/** Where the values are: in `helm.valuesObject`, or in the YAML text `helm.values`, which an object would hide. */
export type ApplicationValues =
  | { readonly kind: 'object'; readonly path: SourcePath; readonly plan: ObjectPlan }
  | { readonly kind: 'text'; readonly path: SourcePath; readonly text: string }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** Never throws. */
export function findApplicationValues(
  object: JsonRecord,
  choice: SourceChoice,
  wanted: WantedKeys,
): ApplicationValues {
  const found = findSource(object, choice);
  if (found.kind === 'refused') return found;
  const { path } = found;
  const source = recordAt(object, ...path);
  const builder = builderOf(object, path, source);
  if (builder === undefined) {
    const message = 'Argo CD has not found out what builds the source; wait for its first comparison';
    return refused('BuilderUnknown', message);
  }
  if (builder !== 'Helm') {
    return refused('NotHelm', `the source is built by ${builder}; a target needs a Helm chart`);
  }
  const names = wantedKeysOf(wanted).map(([name]) => `staticExport.${name}`);
  const parameters = recordsAt(source, 'helm', 'parameters');
  const winner = parameters.find(({ name }) => names.some((one) => one === name));
  if (winner !== undefined) {
    const message = `helm.parameters sets ${printable(String(winner['name']), 63)}, which wins over values; remove it`;
    return refused('ParameterWins', message);
  }
  const values = valueAt(source, ['helm', 'valuesObject']);
  const text = textAt(source, 'helm', 'values') ?? '';
  if (values === undefined && text.trim() !== '') return { kind: 'text', path, text };
  return { kind: 'object', path, plan: planKeys(values, wanted) };
}

function refused(code: string, message: string): ApplicationValues & { readonly kind: 'refused' } {
  return { kind: 'refused', code, message };
}

type FoundSource = { readonly kind: 'found'; readonly path: SourcePath } | ReturnType<typeof refused>;

function findSource(object: JsonRecord, choice: SourceChoice): FoundSource {
  const sources = recordsAt(object, 'spec', 'sources');
  const single = valueAt(object, ['spec', 'source']);
  if (isRecord(single) && sources.length > 0) {
    return refused('AmbiguousSource', 'it has both spec.source and spec.sources; remove one of them');
  }
  if (isRecord(single)) return { kind: 'found', path: ['spec', 'source'] };
  const matches = sources.flatMap((source, index) => (isMatch(source, choice) ? [index] : []));
  const [first, ...more] = matches;
  if (first !== undefined && more.length === 0) return { kind: 'found', path: ['spec', 'sources', first] };
  return first === undefined
    ? refused(
        'NoSuchSource',
        'no source of the Application matches; correct application.source of the target',
      )
    : refused(
        'AmbiguousSource',
        'several sources match; name one by chart, repoURL or ref in application.source',
      );
}

/** Without a choice, the source that renders something: a source with `ref` alone provides files only. */
function isMatch(source: JsonRecord, choice: SourceChoice): boolean {
  const given = (['chart', 'repoURL', 'ref'] as const).filter((name) => choice[name] !== undefined);
  if (given.length > 0) return given.every((name) => source[name] === choice[name]);
  return source['chart'] !== undefined || source['path'] !== undefined;
}

/**
 * Helm values would make Argo CD look for a chart where there is none, and break the Application. So a folder of a
 * repository is Helm's where the Application says so, or Argo CD's last comparison did.
 */
function builderOf(object: JsonRecord, path: SourcePath, source: JsonRecord): string | undefined {
  const foreignTool = ['plugin', 'kustomize', 'directory'].find((tool) => source[tool] !== undefined);
  if (foreignTool !== undefined) return foreignTool;
  const helm = source['helm'];
  if (source['chart'] !== undefined || (isRecord(helm) && Object.keys(helm).length > 0)) return 'Helm';
  const seen = path[1] === 'sources' ? (['sourceTypes', path[2]] as const) : (['sourceType'] as const);
  const type = shownInStatus(textAt(object, 'status', ...seen));
  return type === '' ? undefined : type;
}

export const applicationVersion = (object: JsonRecord, path: SourcePath): string | undefined =>
  heldVersionOf(valueAt(object, [...path, 'helm', 'valuesObject']));

/** Where the keys are below a source: each key of the object, or the whole text. */
export function keyPaths(isText: boolean, wanted: WantedKeys): readonly (readonly string[])[] {
  if (isText) return [['helm', 'values']];
  return wantedKeysOf(wanted).map(([name]) => ['helm', 'valuesObject', 'staticExport', name]);
}

/** A JSON Pointer (RFC 6901). */
export const pointerAt = (path: SourcePath, below: readonly string[]): string =>
  `/${[...path, ...below].join('/')}`;

/** Sets the keys of `helm.valuesObject`, and creates the maps that are missing. */
export function patchValuesObject(
  object: JsonRecord,
  path: SourcePath,
  wanted: WantedKeys,
): readonly JsonPatchOperation[] {
  const base = `/${path.join('/')}`;
  const steps = ['helm', 'valuesObject', 'staticExport'];
  const present = steps.filter((_, index) =>
    isRecord(valueAt(object, [...path, ...steps.slice(0, index + 1)])),
  ).length;
  const tests = testSource(object, path);
  if (present === steps.length) {
    const group = `${base}/${steps.join('/')}`;
    return [
      ...tests,
      ...wantedKeysOf(wanted).map(([name, value]) => ({
        op: 'add' as const,
        path: `${group}/${name}`,
        value,
      })),
    ];
  }
  const value = steps
    .slice(present + 1)
    .reduceRight<JsonRecord>((inner, step) => ({ [step]: inner }), groupOf(wanted));
  return [...tests, { op: 'add', path: `${base}/${steps.slice(0, present + 1).join('/')}`, value }];
}

/** Replaces the text of `helm.values`, if it is still the text that was planned from. */
export function patchValuesText(
  object: JsonRecord,
  path: SourcePath,
  before: string,
  after: string,
): readonly JsonPatchOperation[] {
  const pointer = pointerAt(path, ['helm', 'values']);
  return [
    ...testSource(object, path),
    { op: 'test', path: pointer, value: before },
    { op: 'replace', path: pointer, value: after },
  ];
}

/** An item of a list has only its position, so the patch requires that it is still the same source. */
function testSource(object: JsonRecord, path: SourcePath): readonly JsonPatchOperation[] {
  const source = recordAt(object, ...path);
  return ['repoURL', 'chart', 'path', 'ref'].flatMap((name) => {
    const value = source[name];
    return value === undefined ? [] : [{ op: 'test' as const, path: `/${path.join('/')}/${name}`, value }];
  });
}

/**
 * Starts a sync as a person would (Argo CD's `operation` field), unless Argo CD changed the object since it was read: it
 * may have started one. Nothing where a sync runs, is not needed, or has been requested and not taken.
 */
export function requestSync(object: JsonRecord, actor: string): readonly JsonPatchOperation[] {
  if (isAutomated(object) || object['operation'] !== undefined || isOperating(object)) return [];
  const syncOptions = valueAt(object, ['spec', 'syncPolicy', 'syncOptions']);
  const sync = Array.isArray(syncOptions) ? { syncOptions } : {};
  const readVersion = textAt(object, 'metadata', 'resourceVersion');
  return [
    ...(readVersion === undefined
      ? []
      : [{ op: 'test' as const, path: '/metadata/resourceVersion', value: readVersion }]),
    { op: 'add', path: '/operation', value: { initiatedBy: { username: actor }, sync } },
  ];
}

/**
 * Whether these values need a sync that another write does not bring. One is enough for each version: an Application
 * that is out of sync after it has differences that a sync does not remove.
 */
export function missingSync(object: JsonRecord, path: SourcePath): 'first' | 'repeated' | undefined {
  const { state } = applicationRollout(object, path);
  if (state === 'failed') return hasFailed(object) ? 'repeated' : undefined;
  if (state !== 'awaiting-sync') return undefined;
  // An operation that failed before it compared anything has no result.
  if (hasFailed(object) && valueAt(object, ['status', 'operationState', 'syncResult']) === undefined) {
    return 'repeated';
  }
  return isSyncOfOurs(object, path) ? undefined : 'first';
}

const isSyncOfOurs = (object: JsonRecord, path: SourcePath): boolean =>
  isDeepStrictEqual(
    valueAt(object, ['status', 'operationState', 'syncResult', ...path.slice(1), 'helm']),
    valueAt(object, [...path, 'helm']),
  );

const hasFailed = (object: JsonRecord): boolean =>
  ['Failed', 'Error'].includes(textAt(object, 'status', 'operationState', 'phase') ?? '');

const isOperating = (object: JsonRecord): boolean =>
  textAt(object, 'status', 'operationState', 'phase') === 'Running';

function isAutomated(object: JsonRecord): boolean {
  const automated = valueAt(object, ['spec', 'syncPolicy', 'automated']);
  return isRecord(automated) && automated['enabled'] !== false;
}

/**
 * Whether Argo CD compared the source with these values, and the result is in sync and healthy. Status and spec share a
 * generation, so the compared source is the only proof.
 */
export function applicationRollout(object: JsonRecord, path: SourcePath): Rollout {
  const tail = path.slice(1);
  const helm = valueAt(object, [...path, 'helm']);
  const isCompared = isDeepStrictEqual(
    valueAt(object, ['status', 'sync', 'comparedTo', ...tail, 'helm']),
    helm,
  );
  if (!isCompared) return { state: 'in-progress', message: 'Argo CD has not compared the new values' };
  const sync = textAt(object, 'status', 'sync', 'status');
  const health = textAt(object, 'status', 'health', 'status');
  if (isSyncOfOurs(object, path) && hasFailed(object)) {
    return { state: 'failed', message: 'the sync failed; read status.operationState of the Application' };
  }
  if (sync === 'Synced') {
    if (health === 'Healthy') return { state: 'complete' };
    if (health === 'Degraded' || health === 'Missing') {
      return { state: 'failed', message: `the Application is ${health}; read its resources in Argo CD` };
    }
    return { state: 'in-progress', message: 'the Application is not healthy yet' };
  }
  return isAutomated(object) || isOperating(object)
    ? { state: 'in-progress', message: 'Argo CD has not synced the new values' }
    : {
        state: 'awaiting-sync',
        message: 'automated sync is off; sync the Application, or set sync: Request',
      };
}
