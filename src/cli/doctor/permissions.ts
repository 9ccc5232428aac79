// What the commands, and an installation, need to be allowed. Owns the tables. Refuses: asking for more than a command
// uses; each row names the commands that fail without it.

import {
  configMaps,
  definitions,
  deployments,
  events,
  leases,
  pods,
  type Resource,
  secrets,
  staticExports,
} from '#operator/kube/transport/resource-path.ts';
import { verbs } from '../cluster/edits.ts';
import { isReadable, knownValue, type Reading, type Unreadable } from '../cluster/reading.ts';

export interface Permission {
  readonly verb: 'get' | 'list' | 'create' | 'patch';
  readonly resource: Pick<Resource, 'group' | 'plural'>;
  readonly subresource?: string;
  /** Of the StaticExports, of the operator, or of the cluster as a whole. */
  readonly scope: 'exports' | 'operator' | 'cluster';
  readonly neededBy: readonly string[];
}

/** A permission where it is meant. */
export interface PlacedPermission extends Permission {
  /** `undefined`: all namespaces, or no namespace. */
  readonly namespace: string | undefined;
  /** Of the one object that is meant. */
  readonly name?: string;
}

/** A permission with the answer, or why there is none. */
export interface ReviewedPermission extends PlacedPermission {
  readonly isAllowed: Reading<boolean>;
}

export interface Reviews {
  readonly allowed: readonly ReviewedPermission[];
  readonly missing: readonly ReviewedPermission[];
  readonly unanswered: readonly Unreadable[];
}

export function sortReviews(permissions: readonly ReviewedPermission[]): Reviews {
  return {
    allowed: permissions.filter(({ isAllowed }) => knownValue(isAllowed) === true),
    missing: permissions.filter(({ isAllowed }) => knownValue(isAllowed) === false),
    unanswered: permissions.flatMap(({ isAllowed }) => (isReadable(isAllowed) ? [] : [isAllowed])),
  };
}

const ofOne = ['status', 'tree', 'history', 'get', ...verbs, 'events', 'logs', 'doctor'];

export const commandPermissions: readonly Permission[] = [
  { verb: 'get', resource: staticExports, scope: 'exports', neededBy: ofOne },
  { verb: 'list', resource: staticExports, scope: 'exports', neededBy: ['get', 'doctor'] },
  { verb: 'patch', resource: staticExports, scope: 'exports', neededBy: verbs },
  { verb: 'list', resource: events, scope: 'exports', neededBy: ['events', 'doctor --report'] },
  { verb: 'get', resource: secrets, scope: 'exports', neededBy: ['tree', 'doctor'] },
  { verb: 'get', resource: configMaps, scope: 'exports', neededBy: ['tree', 'doctor'] },
  { verb: 'list', resource: pods, scope: 'exports', neededBy: ['tree', 'report', 'doctor'] },
  {
    verb: 'get',
    resource: pods,
    subresource: 'proxy',
    scope: 'exports',
    neededBy: ['tree', 'report', 'doctor'],
  },
  { verb: 'get', resource: definitions, scope: 'cluster', neededBy: ['doctor'] },
  { verb: 'list', resource: deployments, scope: 'operator', neededBy: ['doctor', 'logs'] },
  { verb: 'get', resource: leases, scope: 'operator', neededBy: ['doctor', 'logs'] },
  { verb: 'list', resource: pods, scope: 'operator', neededBy: ['logs', 'doctor --report'] },
  {
    verb: 'get',
    resource: pods,
    subresource: 'log',
    scope: 'operator',
    neededBy: ['logs', 'doctor --report'],
  },
];

const install = ['helm install'];
const rbac = 'rbac.authorization.k8s.io';

/** What the operator's chart creates with its default values, and where Helm keeps its releases. */
export const installPermissions: readonly Permission[] = [
  { verb: 'create', resource: definitions, scope: 'cluster', neededBy: install },
  { verb: 'patch', resource: definitions, scope: 'cluster', neededBy: install },
  { verb: 'create', resource: { group: rbac, plural: 'clusterroles' }, scope: 'cluster', neededBy: install },
  {
    verb: 'create',
    resource: { group: rbac, plural: 'clusterrolebindings' },
    scope: 'cluster',
    neededBy: install,
  },
  { verb: 'create', resource: { group: rbac, plural: 'roles' }, scope: 'operator', neededBy: install },
  { verb: 'create', resource: { group: rbac, plural: 'rolebindings' }, scope: 'operator', neededBy: install },
  ...['validatingadmissionpolicies', 'validatingadmissionpolicybindings'].map((plural) => ({
    verb: 'create' as const,
    resource: { group: 'admissionregistration.k8s.io', plural },
    scope: 'cluster' as const,
    neededBy: install,
  })),
  { verb: 'create', resource: deployments, scope: 'operator', neededBy: install },
  { verb: 'create', resource: { group: '', plural: 'services' }, scope: 'operator', neededBy: install },
  {
    verb: 'create',
    resource: { group: '', plural: 'serviceaccounts' },
    scope: 'operator',
    neededBy: install,
  },
  { verb: 'create', resource: secrets, scope: 'operator', neededBy: install },
  {
    verb: 'create',
    resource: { group: 'policy', plural: 'poddisruptionbudgets' },
    scope: 'operator',
    neededBy: install,
  },
];

/** `get pods/proxy in namespace docs` */
export function describePermission({
  verb,
  resource,
  subresource,
  namespace,
  scope,
  name,
}: PlacedPermission): string {
  const what = `${resource.plural}${resource.group === '' ? '' : `.${resource.group}`}`;
  const where =
    scope === 'cluster' ? '' : namespace === undefined ? ' in all namespaces' : ` in namespace ${namespace}`;
  const which = name === undefined ? '' : ` "${name}"`;
  return `${verb} ${what}${subresource === undefined ? '' : `/${subresource}`}${which}${where}`;
}
