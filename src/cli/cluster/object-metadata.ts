// The metadata of one Secret or ConfigMap, and the names of its data keys as far as its managed fields list them. The
// Kubernetes API server is asked for metadata alone. Refuses: annotations of others, because `kubectl apply` leaves the
// whole Secret in one of them.

import { readMeta } from '#operator/kube/objects/stored-object.ts';
import type { Resource } from '#operator/kube/transport/resource-path.ts';
import { callUnlessAbsent } from '#operator/kube/transport/transport.ts';
import { group } from '#operator/staticexport/names.ts';
import type { ObjectKey, ObjectMeta } from '#platform/wire/cluster.ts';
import { type JsonRecord, recordAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import type { ClusterClient } from './client.ts';

export interface FoundMetadata {
  /** With this project's annotations alone. */
  readonly metadata: ObjectMeta;
  /**
   * Keys of `data` by its managed fields. One that is not listed may be there nevertheless, because managed fields can
   * be removed. `undefined` where they say nothing of `data`.
   */
  readonly dataKeys: readonly string[] | undefined;
}

const metadataOnly = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';

/** @returns `undefined` where there is no such object. @throws {ClusterError} */
export async function readMetadata(
  { transport, signal }: Pick<ClusterClient, 'transport' | 'signal'>,
  resource: Resource,
  key: ObjectKey,
): Promise<FoundMetadata | undefined> {
  const object = await callUnlessAbsent(
    transport,
    { verb: 'get', method: 'GET', address: { resource, ...key }, accept: metadataOnly },
    signal,
  );
  if (object === undefined) return undefined;
  const { annotations, ...metadata } = readMeta(object);
  const own = Object.entries(annotations).filter(([name]) => name.startsWith(`${group}/`));
  return {
    metadata: { ...metadata, annotations: Object.fromEntries(own) },
    dataKeys: managedDataKeys(object),
  };
}

/** A Secret that was applied with `stringData` names its keys there. */
const dataFields = ['f:data', 'f:stringData'];

/** @param object with `metadata.managedFields`, in the form of server-side apply (`f:data`, `f:<key>`) */
export function managedDataKeys(object: unknown): readonly string[] | undefined {
  const managed = isRecord(object) ? recordAt(object, 'metadata')['managedFields'] : undefined;
  const owned = (Array.isArray(managed) ? managed : [])
    .filter(isRecord)
    .map((entry): JsonRecord => recordAt(entry, 'fieldsV1'))
    .flatMap((fields) => dataFields.flatMap((name) => Object.keys(recordAt(fields, name))));
  if (owned.length === 0) return undefined;
  const keys = owned.filter((name) => name.startsWith('f:')).map((name) => name.slice(2));
  return [...new Set(keys)].sort();
}
