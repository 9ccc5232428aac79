// Names in the API server: resource, object, verb, and the URL path made of them. Every segment is encoded here and
// nowhere else. Messages of errors use the same names.

import { apiVersionName, group, plural, resourceKind } from '#operator/staticexport/names.ts';

export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  /** Plural, lower case, as in a role. */
  readonly plural: string;
  readonly kind: string;
}

export function resourceOf(apiVersion: string, plural: string, kind: string): Resource {
  const [version = '', group = ''] = apiVersion.split('/').reverse();
  return { group, version, plural, kind };
}

export const secrets = resourceOf('v1', 'secrets', 'Secret');
export const configMaps = resourceOf('v1', 'configmaps', 'ConfigMap');
export const leases = resourceOf('coordination.k8s.io/v1', 'leases', 'Lease');
export const events = resourceOf('events.k8s.io/v1', 'events', 'Event');

export const pods = resourceOf('v1', 'pods', 'Pod');
export const deployments = resourceOf('apps/v1', 'deployments', 'Deployment');
export const statefulSets = resourceOf('apps/v1', 'statefulsets', 'StatefulSet');
export const daemonSets = resourceOf('apps/v1', 'daemonsets', 'DaemonSet');
export const definitions = resourceOf(
  'apiextensions.k8s.io/v1',
  'customresourcedefinitions',
  'CustomResourceDefinition',
);
/** Created, and answered with whether the caller may do something. Stored nowhere. */
export const accessReviews = resourceOf(
  'authorization.k8s.io/v1',
  'selfsubjectaccessreviews',
  'SelfSubjectAccessReview',
);
/** Created, and answered with who the caller is. Stored nowhere. */
export const identityReviews = resourceOf(
  'authentication.k8s.io/v1',
  'selfsubjectreviews',
  'SelfSubjectReview',
);
/** Of no group and no version: the path `/version`. */
export const serverVersion = resourceOf('', 'version', 'Version');

export const staticExports = resourceOf(`${group}/${apiVersionName}`, plural, resourceKind);

/** The verb as RBAC names it. */
export type Verb = 'get' | 'list' | 'watch' | 'create' | 'update' | 'patch';

export interface ObjectAddress {
  readonly resource: Resource;
  /** Absent: all namespaces. */
  readonly namespace?: string | undefined;
  /** Absent: the collection. */
  readonly name?: string | undefined;
  readonly subresource?: 'status' | 'log' | 'proxy';
  /** Path behind `proxy`, without a slash before it. */
  readonly subpath?: string;
}

export const apiVersionOf = ({ group, version }: Resource): string =>
  group === '' ? version : `${group}/${version}`;

/** Path and query, starting with `/`. */
export function pathOf(address: ObjectAddress, query: Readonly<Record<string, string>> = {}): string {
  const { resource, namespace, name, subresource, subpath } = address;
  if (resource.version === '') return `/${resource.plural}`;
  const segments = [
    ...(resource.group === '' ? ['api'] : ['apis', resource.group]),
    resource.version,
    ...(namespace === undefined ? [] : ['namespaces', namespace]),
    resource.plural,
    ...(name === undefined ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
    ...(subpath === undefined ? [] : subpath.split('/')),
  ];
  const search = new URLSearchParams(query).toString();
  return `/${segments.map(encodeURIComponent).join('/')}${search === '' ? '' : `?${search}`}`;
}

/** For messages: `secrets "docs-bundle" in namespace team-a`. */
export function describeAddress({ resource, namespace, name, subresource }: ObjectAddress): string {
  const plural = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
  const what = `${plural}${subresource === undefined ? '' : `/${subresource}`}`;
  const which = name === undefined ? what : `${what} "${name}"`;
  return namespace === undefined ? which : `${which} in namespace ${namespace}`;
}
