// Implements `ForeignObjects`: live reads by name, server-side apply without force, and JSON Patch. Refuses: creating an
// object, and taking a field from its manager. Invariant: an apply and a patch name the uid of the object that was read.

import { fieldManager } from '#operator/staticexport/names.ts';
import type { ForeignKind, ForeignObjects } from '#platform/wire/cluster.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { readMeta } from './objects/stored-object.ts';
import {
  apiVersionOf,
  daemonSets,
  deployments,
  type Resource,
  resourceOf,
  statefulSets,
} from './transport/resource-path.ts';
import { callUnlessAbsent, type Transport } from './transport/transport.ts';

export const foreignResources: Readonly<Record<ForeignKind, Resource>> = {
  HelmRelease: resourceOf('helm.toolkit.fluxcd.io/v2', 'helmreleases', 'HelmRelease'),
  Application: resourceOf('argoproj.io/v1alpha1', 'applications', 'Application'),
  ApplicationSet: resourceOf('argoproj.io/v1alpha1', 'applicationsets', 'ApplicationSet'),
  Deployment: deployments,
  StatefulSet: statefulSets,
  DaemonSet: daemonSets,
};

/** Every method rejects with {@link ClusterError} only. */
export function createForeignObjects(transport: Transport): ForeignObjects {
  return {
    readForeign: async (kind, key, signal) => {
      const address = { resource: foreignResources[kind], ...key };
      const object = await callUnlessAbsent(transport, { verb: 'get', method: 'GET', address }, signal);
      if (object === undefined) return undefined;
      return { metadata: readMeta(object), content: isRecord(object) ? object : {} };
    },
    applyFields: async ({ kind, key, uid, fields }, signal) => {
      const resource = foreignResources[kind];
      const body = { apiVersion: apiVersionOf(resource), kind, metadata: { ...key, uid }, ...fields };
      await transport.call(
        {
          ...{ verb: 'patch', method: 'PATCH', address: { resource, ...key } },
          query: { fieldManager, force: 'false' },
          contentType: 'application/apply-patch+yaml',
          body,
        },
        signal,
      );
    },
    patchForeign: async ({ kind, key, uid, operations }, signal) => {
      const isSame = { op: 'test', path: '/metadata/uid', value: uid };
      await transport.call(
        {
          ...{ verb: 'patch', method: 'PATCH', address: { resource: foreignResources[kind], ...key } },
          query: { fieldManager },
          contentType: 'application/json-patch+json',
          body: [isSame, ...operations],
        },
        signal,
      );
    },
  };
}
