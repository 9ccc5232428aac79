// Asks the Kubernetes API server what the user may do (SelfSubjectAccessReview). Owns when a permission is asked for by name: a
// Role that is limited by `resourceNames` allows nothing in general. Refuses: an answer that was not given as a yes or a no.

import {
  accessReviews,
  apiVersionOf,
  configMaps,
  leases as leaseResource,
  type Resource,
  secrets,
  staticExports,
} from '#operator/kube/transport/resource-path.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';
import { recordAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import type { ClusterClient } from '../cluster/client.ts';
import { readLeaseKey } from '../cluster/operators.ts';
import { attempt, createReadLimit, isReadable, knownValue } from '../cluster/reading.ts';
import type { Surroundings } from '../cluster/related-objects.ts';
import type { LeaseFacts } from './cluster-state.ts';
import {
  commandPermissions,
  installPermissions,
  type PlacedPermission,
  type ReviewedPermission,
} from './permissions.ts';

/** An object that the commands mean. */
export interface KnownObject {
  readonly resource: Resource;
  readonly key: ObjectKey;
  /** A `get` was answered, also with 404; it needs no review. */
  readonly wasRead: boolean;
}

/** @returns the server's answer. @throws {ClusterError} */
export async function createReview(
  { transport, signal }: Pick<ClusterClient, 'transport' | 'signal'>,
  resource: Resource,
  spec: object,
): Promise<Readonly<Record<string, unknown>>> {
  const body = { apiVersion: apiVersionOf(resource), kind: resource.kind, spec };
  const answer = await transport.call(
    { verb: 'create', method: 'POST', address: { resource }, body },
    signal,
  );
  return isRecord(answer) ? answer : {};
}

/** @param operatorNamespace absent: its permissions are not asked for */
export function reviewAll(
  client: ClusterClient,
  { isPre, allNamespaces }: { readonly isPre: boolean; readonly allNamespaces: boolean },
  operatorNamespace: string | undefined,
): Promise<readonly ReviewedPermission[]> {
  const placed = (isPre ? installPermissions : commandPermissions).flatMap((permission) => {
    switch (permission.scope) {
      case 'cluster':
        return [{ ...permission, namespace: undefined }];
      case 'exports':
        return [{ ...permission, namespace: allNamespaces ? undefined : client.namespace }];
      case 'operator':
        return operatorNamespace === undefined ? [] : [{ ...permission, namespace: operatorNamespace }];
      default:
        return permission.scope satisfies never;
    }
  });
  return Promise.all(placed.map((one) => review(client, one)));
}

async function review(client: ClusterClient, permission: PlacedPermission): Promise<ReviewedPermission> {
  const { verb, resource, subresource, namespace, name } = permission;
  const resourceAttributes = {
    verb,
    group: resource.group,
    resource: resource.plural,
    ...(subresource !== undefined && { subresource }),
    ...(namespace !== undefined && { namespace }),
    ...(name !== undefined && { name }),
  };
  const read = await attempt(createReview(client, accessReviews, { resourceAttributes }));
  const isAllowed = isReadable(read) ? { value: recordAt(read.value, 'status')['allowed'] === true } : read;
  return { ...permission, isAllowed };
}

/** @param named by the user; absent: all that were found were listed */
export function knownObjects(
  exports: readonly Surroundings[],
  leases: readonly LeaseFacts[],
  named: ObjectKey | undefined,
): readonly KnownObject[] {
  const keys = named === undefined ? exports.map(({ object }) => object.metadata) : [named];
  const around = exports.flatMap(({ object, wanted, key, outputSecret, outputConfigMap }) => {
    if (wanted === undefined) return [];
    const { namespace } = object.metadata;
    const { keySecret, outputName } = wanted;
    return [
      { resource: secrets, name: keySecret.name, read: key },
      { resource: secrets, name: outputName, read: outputSecret },
      { resource: configMaps, name: outputName, read: outputConfigMap },
    ].map(({ resource, name, read }) => ({
      resource,
      key: { namespace, name },
      wasRead: read !== undefined && isReadable(read),
    }));
  });
  return [
    ...keys.map(({ namespace, name }) => ({
      resource: staticExports,
      key: { namespace, name },
      wasRead: named !== undefined && exports.length > 0,
    })),
    ...around,
    ...leases.flatMap(({ id, lease }) => {
      const key = readLeaseKey(id);
      return key === undefined ? [] : [{ resource: leaseResource, key, wasRead: isReadable(lease) }];
    }),
  ];
}

/** A Role that names more objects is not usual. */
const mostNames = 50;
const mostReviews = 8;

/** Asks again, by name, for what is refused in general; none of the names allowed: the general answer stands. */
export async function narrowByName(
  client: ClusterClient,
  reviewed: readonly ReviewedPermission[],
  known: readonly KnownObject[],
): Promise<readonly ReviewedPermission[]> {
  const limit = createReadLimit(mostReviews);
  const narrow = async (general: ReviewedPermission): Promise<readonly ReviewedPermission[]> => {
    const { verb, resource, subresource, namespace, isAllowed } = general;
    if (knownValue(isAllowed) !== false || subresource !== undefined) return [general];
    if (verb !== 'get' && verb !== 'patch') return [general];
    const meant = known.filter(
      (one) =>
        one.resource.plural === resource.plural &&
        one.resource.group === resource.group &&
        (namespace === undefined || one.key.namespace === namespace),
    );
    const unique = [...new Map(meant.map((one) => [`${one.key.namespace}/${one.key.name}`, one])).values()];
    if (unique.length > mostNames) return [general];
    const each = await Promise.all(
      unique.map(({ key, wasRead }) => {
        const permission = { ...general, ...key };
        return wasRead && verb === 'get'
          ? { ...permission, isAllowed: { value: true } }
          : limit(() => review(client, permission));
      }),
    );
    return each.some(({ isAllowed: answer }) => knownValue(answer) === true) ? each : [general];
  };
  return (await Promise.all(reviewed.map(narrow))).flat();
}
