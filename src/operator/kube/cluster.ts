// Implements `Cluster`: live reads by name, server-side apply of owned objects, an edit of one key of a foreign object, and
// writes of the status subresource.
// Refuses: replacing an object, listing or watching Secrets, writing without a precondition where others write.

import { fieldManager } from '#operator/staticexport/names.ts';
import type { AppliedObject, Cluster, ObjectKey } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { mergePatch } from './merge-patch.ts';
import { readConfigMap, readMeta, readResource, readSecret } from './objects/stored-object.ts';
import {
  apiVersionOf,
  configMaps,
  type ObjectAddress,
  type Resource,
  secrets,
  staticExports,
} from './transport/resource-path.ts';
import { callUnlessAbsent, type Transport } from './transport/transport.ts';

/** A version that no object has. An apply with it creates the object, and is a conflict where there is one. */
const neverStored = '1';

/** Every method rejects with {@link ClusterError} only. */
export function createCluster(transport: Transport): Cluster {
  const reader =
    <T>(resource: Resource, read: (object: unknown) => T) =>
    async (key: ObjectKey, signal: AbortSignal): Promise<T | undefined> => {
      const call = { verb: 'get', method: 'GET', address: { resource, ...key } } as const;
      const object = await callUnlessAbsent(transport, call, signal);
      return object === undefined ? undefined : read(object);
    };
  const patch = (address: ObjectAddress, body: object, signal: AbortSignal): Promise<unknown> =>
    transport.call(
      {
        verb: 'patch',
        method: 'PATCH',
        address,
        query: { fieldManager },
        contentType: 'application/merge-patch+json',
        body,
      },
      signal,
    );
  // Only the version that was read is replaced: a writer that missed a change must not undo it. A version alone does
  // not require presence: over a deleted object it creates one; the uid prevents that.
  const applyOver = (resource: Resource, object: AppliedObject, data: object, signal: AbortSignal) => {
    const { namespace, name } = object.metadata;
    const metadata = { ...object.metadata, resourceVersion: object.readVersion ?? neverStored };
    return transport.call(
      {
        verb: 'patch',
        method: 'PATCH',
        address: { resource, namespace, name },
        query: { fieldManager, force: 'true' },
        contentType: 'application/apply-patch+yaml',
        body: { ...typeOf(resource), metadata, ...data },
      },
      signal,
    );
  };
  const apply = async (resource: Resource, object: AppliedObject, data: object, signal: AbortSignal) => {
    try {
      return await applyOver(resource, object, data, signal);
    } catch (error) {
      const isRefused =
        error instanceof ClusterError && (error.code === 'Conflict' || error.code === 'Forbidden');
      if (!isRefused || object.readVersion !== undefined) throw error;
    }
    // Another client was first, or this server demands that an object with a version exists, or the role lacks one of
    // two rights. A create decides, and says which.
    const readVersion = await createBare(resource, object, signal);
    return applyOver(resource, { ...object, readVersion }, data, signal);
  };
  const createBare = async (
    resource: Resource,
    { metadata: { namespace, name, ownerReferences } }: AppliedObject,
    signal: AbortSignal,
  ): Promise<string> => {
    try {
      const created = await transport.call(
        {
          verb: 'create',
          method: 'POST',
          address: { resource, namespace },
          query: { fieldManager },
          contentType: 'application/json',
          body: { ...typeOf(resource), metadata: { namespace, name, ownerReferences } },
        },
        signal,
      );
      return readMeta(created).resourceVersion;
    } catch (error) {
      if (!(error instanceof ClusterError) || error.code !== 'AlreadyExists') throw error;
      throw new ClusterError('Conflict', error.message, { cause: error });
    }
  };

  return {
    readStaticExport: reader(staticExports, readResource),
    readSecret: reader(secrets, readSecret),
    readConfigMap: reader(configMaps, readConfigMap),
    applySecret: async (object, signal) =>
      readSecret(await apply(secrets, object, { type: 'Opaque', data: encodeAll(object.data) }, signal)),
    applyConfigMap: async (object, signal) => {
      await apply(configMaps, object, { data: object.data }, signal);
    },
    editDocument: async ({ kind, key, dataKey, text, resourceVersion }, signal) => {
      const resource = kind === 'Secret' ? secrets : configMaps;
      const value = kind === 'Secret' ? encode(text) : text;
      await patch(
        { resource, ...key },
        { metadata: { resourceVersion }, data: { [dataKey]: value } },
        signal,
      );
    },
    writeStatus: async (object, next, signal) => {
      const { namespace, name, resourceVersion, uid } = object.metadata;
      const stored = await patch(
        { resource: staticExports, namespace, name, subresource: 'status' },
        { metadata: { resourceVersion, uid }, status: mergePatch(object.status, next) },
        signal,
      );
      return readResource(stored);
    },
  };
}

const typeOf = (resource: Resource): object => ({ apiVersion: apiVersionOf(resource), kind: resource.kind });

const encode = (text: string): string => Buffer.from(text, 'utf8').toString('base64');

function encodeAll(data: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encode(text)]));
}
