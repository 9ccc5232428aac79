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

export const secrets: Resource = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret' };
export const configMaps: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' };
export const leases: Resource = {
  group: 'coordination.k8s.io',
  version: 'v1',
  plural: 'leases',
  kind: 'Lease',
};
export const events: Resource = { group: 'events.k8s.io', version: 'v1', plural: 'events', kind: 'Event' };

export const pods: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod' };
export const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
};
export const statefulSets: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'statefulsets',
  kind: 'StatefulSet',
};
export const daemonSets: Resource = { group: 'apps', version: 'v1', plural: 'daemonsets', kind: 'DaemonSet' };
export const helmReleases: Resource = {
  group: 'helm.toolkit.fluxcd.io',
  version: 'v2',
  plural: 'helmreleases',
  kind: 'HelmRelease',
};
const argoCd = { group: 'argoproj.io', version: 'v1alpha1' } as const;
export const applications: Resource = { ...argoCd, plural: 'applications', kind: 'Application' };
export const applicationSets: Resource = { ...argoCd, plural: 'applicationsets', kind: 'ApplicationSet' };
export const definitions: Resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
};
/** Created, and answered with whether the caller may do something. Stored nowhere. */
export const accessReviews: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
};
/** Created, and answered with who the caller is. Stored nowhere. */
export const identityReviews: Resource = {
  group: 'authentication.k8s.io',
  version: 'v1',
  plural: 'selfsubjectreviews',
  kind: 'SelfSubjectReview',
};
/** Of no group and no version: the path `/version`. */
export const serverVersion: Resource = { group: '', version: '', plural: 'version', kind: 'Version' };

export const staticExports: Resource = { group, version: apiVersionName, plural, kind: resourceKind };

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
