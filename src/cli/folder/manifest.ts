// Reads the very manifest that a cluster would get: one StaticExport, and the Secrets beside it. Refuses what a
// Kubernetes API server would refuse or drop (unknown fields, invalid values), and targets other than git, which need a
// cluster.
// Invariant: no message repeats a value of a Secret.

import { apiVersion, resourceKind } from '#operator/staticexport/names.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import { specSchema } from '#operator/staticexport/schema.ts';
import type { SpecTarget } from '#operator/staticexport/target-schema.ts';
import { wantTransform } from '#operator/staticexport/wanted-transform.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { CliError } from '../cli-error.ts';
import { PlainYamlError, readPlainYaml } from '../plain-yaml.ts';
import { describeUnknownField, fieldsBeyond, fieldsBeyondSchema } from './unknown-fields.ts';

export interface Manifest {
  readonly key: ObjectKey;
  readonly spec: unknown;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** The Secret that spec.api.keySecretRef names. */
  readonly keySecret: { readonly name: string; readonly key?: string | undefined };
  readonly gitTargets: readonly GitTargetSource[];
  /** By name, in the resource's namespace: decoded bytes by key. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, Uint8Array>>>;
}

/** Where a git target leads, and the Secret that it sends there. */
export interface GitTargetSource {
  readonly name: string;
  readonly url: string;
  readonly secretName: string;
}

const defaultNamespace = 'default';
/** RFC 1123 subdomain, as a Kubernetes API server requires it. The name is part of a file's name here. */
const objectName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
/** RFC 1123 label. */
const namespaceName = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Far more than a StaticExport and its Secret. */
export const longestManifest = 1024 * 1024;

/** @throws {CliError} `ManifestInvalid`, `TargetsNeedCluster`, naming the fields */
export function readManifest(text: string): Manifest {
  const records = readObjects(text).filter(isRecord);
  const exports = records.filter((object) => object['kind'] === resourceKind);
  const [object] = exports;
  if (object === undefined || exports.length > 1)
    throw invalid(`must hold one ${resourceKind}, and holds ${exports.length}`);
  if (object['apiVersion'] !== apiVersion) throw invalid(`must have apiVersion ${apiVersion}`);
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const key = readKey(metadata);
  const { spec } = object;
  const { spec: read, problems } = parseStaticExport({ spec, status: {} });
  const unknown = [
    ...fieldsBeyond(object, objectFields, ''),
    ...fieldsBeyond(metadata, metadataFields, 'metadata'),
    ...fieldsBeyondSchema(spec, specSchema, 'spec'),
  ];
  const faults = [...problems, ...unknown.slice(0, 8).map(describeUnknownField)];
  if (read === undefined || faults.length > 0)
    throw invalid(`has fields that are not valid: ${faults.join(', ')}`);
  if (read.output?.link === 'Never')
    throw invalid(
      'has spec.output.link Never, which needs a cluster. Remove it, or apply the manifest there',
    );
  if (wantTransform(read.transform) !== undefined)
    throw invalid(
      'has spec.transform, which needs a cluster. Remove it, and run "static-export bundle repair" or "bundle search" on the archive',
    );
  const gitTargets = readGitTargets(read.targets ?? []);
  const uncopied = read.mirror === undefined ? (read.targets ?? []) : [];
  const needy = uncopied.find(({ write }) => write?.includes('ref'));
  if (needy !== undefined)
    throw invalid(
      `has target ${needy.name} that writes ref, and no spec.mirror. Add a mirror, or remove ref from write`,
    );
  const beside = records
    .filter((one) => one['kind'] === 'Secret')
    .map((one) => readSecret(one, key.namespace));
  return {
    key,
    spec,
    annotations: textsOf(metadata['annotations'], 'metadata.annotations'),
    labels: textsOf(metadata['labels'], 'metadata.labels'),
    keySecret: read.api.keySecretRef,
    gitTargets,
    secrets: new Map(beside.flatMap((one) => (one === undefined ? [] : [one]))),
  };
}

function readObjects(text: string): readonly unknown[] {
  try {
    return readPlainYaml(text);
  } catch (error) {
    if (!(error instanceof PlainYamlError)) throw error;
    const { code, line } = error;
    if (code === 'ALIAS') throw invalid(`uses a YAML alias in line ${line}; write the value out`, error);
    throw invalid(`is not valid YAML in line ${line} (${code})`, error);
  }
}

const objectFields = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];
const secretFields = ['apiVersion', 'kind', 'metadata', 'type', 'data', 'stringData', 'immutable'];

/** Of ObjectMeta in Kubernetes, those included that kubectl prints for a stored object. */
const metadataFields = [
  'name',
  'generateName',
  'namespace',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
  'selfLink',
];

function readKey(metadata: Readonly<Record<string, unknown>>): ObjectKey {
  const { name, namespace = defaultNamespace } = metadata;
  if (name === undefined || name === '') throw invalid('must have metadata.name');
  if (typeof name !== 'string' || !objectName.test(name))
    throw invalid('must have a metadata.name of lower-case letters, digits, "-" and "."');
  if (typeof namespace !== 'string' || !namespaceName.test(namespace))
    throw invalid('must have a metadata.namespace of at most 63 lower-case letters, digits and "-"');
  return { name, namespace };
}

/** What the schema leaves to a Kubernetes API server is checked here. */
function readGitTargets(targets: readonly SpecTarget[]): readonly GitTargetSource[] {
  const foreign = targets.filter(({ type }) => type !== 'Git').slice(0, 5);
  if (foreign.length > 0) {
    const named = foreign.map(({ name, type }) => `${name} (type ${type})`).join(', ');
    const message = `only targets of type Git work without a cluster. Remove target ${named}, and use --publish and --values`;
    throw new CliError('usage', 'TargetsNeedCluster', message);
  }
  return targets.flatMap(({ name, git }) => {
    if (git === undefined) return [];
    const { protocol = '', username, password } = URL.canParse(git.url) ? new URL(git.url) : {};
    if (protocol !== 'https:' || `${username}${password}` !== '' || /[?#]/.test(git.url))
      throw invalid(
        `has target ${name} with a git.url that is not an https:// URL without user, password, query and fragment`,
      );
    return [{ name, url: git.url, secretName: git.secretRef.name }];
  });
}

function readSecret(
  object: Readonly<Record<string, unknown>>,
  namespace: string,
): readonly [string, Readonly<Record<string, Uint8Array>>] | undefined {
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const { name } = metadata;
  if (typeof name !== 'string') throw invalid('holds a Secret without metadata.name');
  if ((metadata['namespace'] ?? namespace) !== namespace) return undefined;
  const [unknown] = fieldsBeyond(object, secretFields, '');
  if (unknown !== undefined) throw invalid(`has Secret ${name} with ${describeUnknownField(unknown)}`);
  const decoded = Object.entries(textsOf(object['data'], `data of Secret ${name}`)).map(([key, value]) => {
    const text = value.replace(/\s/g, '');
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text))
      throw invalid(`has Secret ${name} with data.${key} that is not base64; use stringData for plain text`);
    return [key, Buffer.from(text, 'base64')];
  });
  const plain = Object.entries(textsOf(object['stringData'], `stringData of Secret ${name}`)).map(
    ([key, value]) => [key, Buffer.from(value)],
  );
  return [name, Object.fromEntries([...decoded, ...plain])];
}

/** @throws {CliError} naming the field whose value is no text, such as a number without quotes */
function textsOf(value: unknown, field: string): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (!isRecord(value)) throw invalid(`has ${field} that is not a map`);
  return Object.fromEntries(
    Object.entries(value).map(([name, text]) => {
      if (typeof text !== 'string')
        throw invalid(`has ${field} with "${name}" that is not text; put its value in quotes`);
      return [name, text];
    }),
  );
}

function invalid(problem: string, cause?: unknown): CliError {
  return new CliError('usage', 'ManifestInvalid', `the manifest ${problem}`, { cause });
}
