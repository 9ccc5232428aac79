// Objects as the Kubernetes API server stores them, read into typed fields. Tolerant: a field of another type than
// expected counts as absent; only an object without identity is refused. Specs and statuses stay raw.

import type {
  ConfigMapObject,
  ObjectMeta,
  OwnerReference,
  SecretObject,
  StaticExportObject,
} from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { type JsonRecord, numberAt, recordAt, textAt, textsAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';

/** @throws {ClusterError} `Unavailable` when the answer is not a Kubernetes object */
export function readMeta(object: unknown): ObjectMeta {
  const metadata = isRecord(object) ? recordAt(object, 'metadata') : {};
  const name = textAt(metadata, 'name');
  const uid = textAt(metadata, 'uid');
  const resourceVersion = textAt(metadata, 'resourceVersion');
  if (name === undefined || uid === undefined || resourceVersion === undefined) {
    throw new ClusterError(
      'Unavailable',
      'the answer of the Kubernetes API server is not a Kubernetes object',
    );
  }
  const generation = numberAt(metadata, 'generation');
  const deletionTimestamp = textAt(metadata, 'deletionTimestamp');
  const creationTimestamp = textAt(metadata, 'creationTimestamp');
  return {
    namespace: textAt(metadata, 'namespace') ?? '',
    name,
    uid,
    resourceVersion,
    ...(generation !== undefined && { generation }),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    ...(creationTimestamp !== undefined && { creationTimestamp }),
    annotations: textsAt(metadata, 'annotations'),
    labels: textsAt(metadata, 'labels'),
    ownerReferences: readOwners(metadata),
  };
}

export function readResource(object: unknown): StaticExportObject {
  const record: JsonRecord = isRecord(object) ? object : {};
  return { metadata: readMeta(object), spec: record['spec'], status: record['status'] };
}

/** Data that is not valid base64 decodes to what Buffer makes of it. */
export function readSecret(object: unknown): SecretObject {
  const texts = isRecord(object) ? textsAt(object, 'data') : {};
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text, 'base64')] as const);
  return { metadata: readMeta(object), data: Object.fromEntries(data) };
}

export function readConfigMap(object: unknown): ConfigMapObject {
  return { metadata: readMeta(object), data: isRecord(object) ? textsAt(object, 'data') : {} };
}

function readOwners(metadata: JsonRecord): readonly OwnerReference[] {
  const owners = metadata['ownerReferences'];
  if (!Array.isArray(owners)) return [];
  return owners.filter(isRecord).map((owner) => ({
    apiVersion: textAt(owner, 'apiVersion') ?? '',
    kind: textAt(owner, 'kind') ?? '',
    name: textAt(owner, 'name') ?? '',
    uid: textAt(owner, 'uid') ?? '',
    ...(typeof owner['controller'] === 'boolean' && { controller: owner['controller'] }),
  }));
}
