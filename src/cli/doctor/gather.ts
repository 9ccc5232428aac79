// Reads the facts that the checks judge: the thin edge of `doctor`. Every read may fail alone. Refuses: judging, and reading
// the data of a Secret.

import { recordAt, textAt } from '../../kube/transport/json.ts';
import {
  accessReviews,
  apiVersionOf,
  definitions,
  identityReviews,
  serverVersion,
  staticExports,
} from '../../kube/transport/resource-path.ts';
import { callUnlessAbsent } from '../../kube/transport/transport.ts';
import type { Clock } from '../../runtime/clock.ts';
import { apiVersionName } from '../../staticexport/names.ts';
import { parseStaticExport } from '../../staticexport/parse.ts';
import type { StaticExportObject } from '../../wire/cluster.ts';
import { isRecord } from '../../wire/json-text.ts';
import { printable } from '../../wire/printable-text.ts';
import type { ClusterClient } from '../cluster/client.ts';
import { findOperators, readLease, readLeaseKey } from '../cluster/operators.ts';
import { attempt, isReadable, knownValue, type Reading } from '../cluster/reading.ts';
import { createPodsOf, readSurroundings, type Surroundings } from '../cluster/surroundings.ts';
import { fieldsOf } from './definition-fields.ts';
import type { ClusterFacts, DefinitionFacts, LeaseFacts, ProgramFacts } from './facts.ts';
import { leaseIdOf } from './operator-checks.ts';
import {
  commandPermissions,
  installPermissions,
  type Permission,
  type ReviewedPermission,
} from './permissions.ts';

export interface Scope {
  /** `undefined`: all of the scope. */
  readonly name: string | undefined;
  readonly allNamespaces: boolean;
  /** Before an installation there are no StaticExports. */
  readonly isPre: boolean;
}

export async function gatherFacts(
  client: ClusterClient,
  program: ProgramFacts,
  scope: Scope,
  clock: Pick<Clock, 'now'>,
): Promise<ClusterFacts> {
  const server = await attempt(readServerVersion(client));
  const unread = {
    program,
    now: clock.now(),
    server,
    user: undefined,
    leases: [],
    permissions: [],
    exports: [],
  };
  if (!isReadable(server)) {
    return { ...unread, definition: server, operators: server, objects: server };
  }
  const [identity, definition, objects] = await Promise.all([
    attempt(readIdentity(client)),
    attempt(readDefinition(client)),
    scope.isPre ? { value: [] } : readObjects(client, scope),
  ]);
  const { user, at } = knownValue(identity) ?? {};
  const skewMs = at === undefined ? 0 : at - clock.now();
  const found = knownValue(objects) ?? [];
  const named = found.map((object) => parseStaticExport(object).status.operatorLease);
  const leaseNamespaces = named.flatMap((text) => readLeaseKey(text)?.namespace ?? []);
  const operators = await findOperators(client, scope.isPre ? [client.namespace] : leaseNamespaces);
  const leaseIds = [
    ...(knownValue(operators) ?? []).map(leaseIdOf),
    ...named.filter((text) => text !== undefined),
  ];
  const [exports, leases, permissions] = await Promise.all([
    readExports(client, found),
    readLeases(client, new Set(scope.isPre ? [] : leaseIds)),
    reviewAll(client, scope, leaseIds),
  ]);
  return {
    program,
    now: clock.now() + skewMs,
    server,
    user,
    definition,
    operators,
    leases,
    permissions,
    objects,
    exports,
  };
}

async function readServerVersion({ transport, signal }: ClusterClient): Promise<string> {
  const address = { resource: serverVersion };
  const answer = await transport.call({ verb: 'get', method: 'GET', address }, signal);
  return printable(
    (isRecord(answer) ? textAt(answer, 'gitVersion') : undefined) ?? 'of an unknown version',
    64,
  );
}

/** Who the caller is, and the server's clock. */
async function readIdentity({ transport, signal }: ClusterClient) {
  const answer = await create(transport, signal, identityReviews, {});
  const at = Date.parse(textAt(recordAt(answer, 'metadata'), 'creationTimestamp') ?? '');
  const user = textAt(recordAt(recordAt(answer, 'status'), 'userInfo'), 'username');
  return {
    user: user === undefined ? undefined : printable(user, 256),
    at: Number.isNaN(at) ? undefined : at,
  };
}

async function create(
  transport: ClusterClient['transport'],
  signal: AbortSignal,
  resource: typeof accessReviews,
  spec: object,
): Promise<Readonly<Record<string, unknown>>> {
  const body = { apiVersion: apiVersionOf(resource), kind: resource.kind, spec };
  const answer = await transport.call(
    { verb: 'create', method: 'POST', address: { resource }, body },
    signal,
  );
  return isRecord(answer) ? answer : {};
}

async function readDefinition({ transport, signal }: ClusterClient): Promise<DefinitionFacts | undefined> {
  const name = `${staticExports.plural}.${staticExports.group}`;
  const call = { verb: 'get', method: 'GET', address: { resource: definitions, name } } as const;
  const object = await callUnlessAbsent(transport, call, signal);
  return isRecord(object) ? definitionOf(object) : undefined;
}

/** @param object a CustomResourceDefinition as stored */
export function definitionOf(object: Readonly<Record<string, unknown>>): DefinitionFacts {
  const listAt = (record: Readonly<Record<string, unknown>>, name: string) => {
    const list = record[name];
    return Array.isArray(list) ? list.filter(isRecord) : [];
  };
  const versions = listAt(recordAt(object, 'spec'), 'versions');
  const own = versions.find((one) => one['name'] === apiVersionName) ?? {};
  const annotations = recordAt(recordAt(object, 'metadata'), 'annotations');
  const release = textAt(annotations, 'meta.helm.sh/release-name');
  return {
    isEstablished: listAt(recordAt(object, 'status'), 'conditions').some(
      (one) => one['type'] === 'Established' && one['status'] === 'True',
    ),
    served: versions.filter((one) => one['served'] === true).flatMap((one) => textAt(one, 'name') ?? []),
    fields: fieldsOf(recordAt(own, 'schema')['openAPIV3Schema']),
    release: release && `${textAt(annotations, 'meta.helm.sh/release-namespace') ?? ''}/${release}`,
  };
}

/** @throws {CliError} `NotFound` for one that was named and does not exist */
async function readObjects(
  client: ClusterClient,
  { name, allNamespaces }: Scope,
): Promise<Reading<readonly StaticExportObject[]>> {
  return name === undefined
    ? attempt(client.list({ allNamespaces, selector: undefined }))
    : attempt(client.read(name).then((object) => [object]));
}

/** One after the other: each has as many calls as it has targets and pods. */
async function readExports(
  client: ClusterClient,
  objects: readonly StaticExportObject[],
): Promise<readonly Surroundings[]> {
  const podsOf = createPodsOf(client);
  const exports: Surroundings[] = [];
  for (const object of objects) exports.push(await readSurroundings(client, object, podsOf));
  return exports;
}

function readLeases(client: ClusterClient, ids: ReadonlySet<string>): Promise<readonly LeaseFacts[]> {
  const keys = [...ids].flatMap((id) => {
    const key = readLeaseKey(id);
    return key === undefined ? [] : [{ id, key }];
  });
  return Promise.all(keys.map(async ({ id, key }) => ({ id, lease: await attempt(readLease(client, key)) })));
}

async function reviewAll(
  client: ClusterClient,
  { isPre, allNamespaces }: Scope,
  leaseIds: readonly string[],
): Promise<readonly ReviewedPermission[]> {
  const operatorNamespace = isPre ? client.namespace : readLeaseKey(leaseIds[0])?.namespace;
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
  const reviewed = await Promise.all(placed.map((one) => attempt(review(client, one))));
  return reviewed.flatMap((one) => knownValue(one) ?? []);
}

async function review(
  { transport, signal }: ClusterClient,
  permission: Permission & { readonly namespace: string | undefined },
): Promise<ReviewedPermission> {
  const { verb, resource, subresource, namespace } = permission;
  const resourceAttributes = {
    verb,
    group: resource.group,
    resource: resource.plural,
    ...(subresource !== undefined && { subresource }),
    ...(namespace !== undefined && { namespace }),
  };
  const answer = await create(transport, signal, accessReviews, { resourceAttributes });
  return { ...permission, isAllowed: recordAt(answer, 'status')['allowed'] === true };
}
