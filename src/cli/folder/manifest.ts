// Reads the very manifest that a cluster would get: one StaticExport, and the Secrets beside it. Refuses what a
// Kubernetes API server would refuse or drop (unknown fields, invalid values), and targets, which need a cluster.
// Invariant: no message repeats a value of a Secret.

import { isAlias, isMap, type ParsedNode, parseAllDocuments } from 'yaml';
import { apiVersion, kind } from '../../staticexport/names.ts';
import { parseStaticExport } from '../../staticexport/parse.ts';
import { specSchema } from '../../staticexport/schema.ts';
import type { ObjectKey } from '../../wire/cluster.ts';
import { isRecord } from '../../wire/json-text.ts';
import { CliError } from '../cli-error.ts';

export interface Manifest {
  readonly key: ObjectKey;
  readonly spec: unknown;
  readonly annotations: Readonly<Record<string, string>>;
  readonly labels: Readonly<Record<string, string>>;
  /** By name, in the resource's namespace: decoded bytes by key. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, Uint8Array>>>;
}

const defaultNamespace = 'default';
/** RFC 1123 subdomain, as a Kubernetes API server requires it. The name is part of a file's name here. */
const objectName = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;
/** Far more than a StaticExport and its Secret. */
const longestManifest = 1024 * 1024;

/** @throws {CliError} `ManifestInvalid`, `TargetsNeedCluster`, naming the fields */
export function readManifest(text: string): Manifest {
  if (text.length > longestManifest) throw invalid('is longer than 1 MiB');
  const documents = parseAllDocuments(text, { uniqueKeys: true });
  if (!Array.isArray(documents)) throw invalid('is empty');
  const objects = documents.map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw invalid(`is not valid YAML (${error.code})`);
    if (hasAlias(document.contents)) throw invalid('uses YAML aliases; write the values out');
    return document.toJS() as unknown;
  });
  const records = objects.filter(isRecord);
  const exports = records.filter((object) => object['kind'] === kind);
  const [object] = exports;
  if (object === undefined || exports.length > 1)
    throw invalid(`must hold one ${kind}, and holds ${exports.length}`);
  if (object['apiVersion'] !== apiVersion) throw invalid(`must have apiVersion ${apiVersion}`);
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const name = metadata['name'];
  if (typeof name !== 'string' || name === '') throw invalid('must have metadata.name');
  const namespace = typeof metadata['namespace'] === 'string' ? metadata['namespace'] : defaultNamespace;
  for (const [field, text] of [
    ['metadata.name', name],
    ['metadata.namespace', namespace],
  ] as const) {
    if (!objectName.test(text))
      throw invalid(`must have a ${field} of lower-case letters, digits, "-" and "."`);
  }
  const { spec } = object;
  const { problems } = parseStaticExport({ spec, status: {} });
  if (problems.length > 0) throw invalid(`has fields that are not valid: ${problems.join(', ')}`);
  const unknown = unknownFields(spec, specSchema.safeParse(spec).data, 'spec');
  if (unknown.length > 0) throw invalid(`has unknown fields: ${unknown.slice(0, 8).join(', ')}`);
  if (isRecord(spec) && Array.isArray(spec['targets']) && spec['targets'].length > 0) {
    const message = 'spec.targets need a cluster; remove them, and use --publish and --values';
    throw new CliError('usage', 'TargetsNeedCluster', message);
  }
  const beside = records.filter((one) => one['kind'] === 'Secret').map((one) => readSecret(one, namespace));
  return {
    key: { namespace, name },
    spec,
    annotations: textsOf(metadata['annotations']),
    labels: textsOf(metadata['labels']),
    secrets: new Map(beside.flatMap((one) => (one === undefined ? [] : [one]))),
  };
}

function readSecret(
  object: Readonly<Record<string, unknown>>,
  namespace: string,
): readonly [string, Readonly<Record<string, Uint8Array>>] | undefined {
  const metadata = isRecord(object['metadata']) ? object['metadata'] : {};
  const { name } = metadata;
  if (typeof name !== 'string') throw invalid('holds a Secret without metadata.name');
  if ((metadata['namespace'] ?? namespace) !== namespace) return undefined;
  const decoded = Object.entries(textsOf(object['data'])).map(([key, value]) => [
    key,
    Buffer.from(value, 'base64'),
  ]);
  const plain = Object.entries(textsOf(object['stringData'])).map(([key, value]) => [
    key,
    Buffer.from(value),
  ]);
  return [name, Object.fromEntries([...decoded, ...plain])];
}

/** An alias can repeat its node without bound. */
function hasAlias(node: ParsedNode | null): boolean {
  let found = false;
  const visit = (one: unknown): void => {
    if (found || typeof one !== 'object' || one === null) return;
    if (isAlias(one)) found = true;
    else if (isMap(one)) for (const { key, value } of one.items) [key, value].forEach(visit);
    else if ('items' in one && Array.isArray(one.items)) one.items.forEach(visit);
  };
  visit(node);
  return found;
}

/** Fields of the manifest that the schema dropped. A Kubernetes API server drops them too, after a warning. */
function unknownFields(given: unknown, known: unknown, path: string): readonly string[] {
  if (Array.isArray(given)) {
    return given.flatMap((one, at) =>
      unknownFields(one, Array.isArray(known) ? known[at] : undefined, `${path}[${at}]`),
    );
  }
  if (!isRecord(given)) return [];
  return Object.keys(given).flatMap((name) => {
    const field = `${path}.${name}`;
    if (!isRecord(known) || !Object.hasOwn(known, name)) return [field];
    return unknownFields(given[name], known[name], field);
  });
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  if (!isRecord(value)) return {};
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])),
  );
}

function invalid(problem: string): CliError {
  return new CliError('usage', 'ManifestInvalid', `the manifest ${problem}`);
}
