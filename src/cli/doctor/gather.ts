// Reads the facts that the checks judge: the thin edge of `doctor`. Every read may fail alone. Refuses: judging, and reading
// the data of a Secret.

import {
  definitions,
  identityReviews,
  serverVersion,
  staticExports,
} from '#operator/kube/transport/resource-path.ts';
import { callUnlessAbsent } from '#operator/kube/transport/transport.ts';
import { apiVersionName } from '#operator/staticexport/names.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { recordAt, textAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { ClusterClient } from '../cluster/client.ts';
import { findOperators, readLease, readLeaseKey } from '../cluster/operators.ts';
import { attempt, createReadLimit, isReadable, knownValue, type Reading } from '../cluster/reading.ts';
import { createPodReads, readSurroundings, type Surroundings } from '../cluster/related-objects.ts';
import { createReview, knownObjects, narrowByName, reviewAll } from './access-reviews.ts';
import type { ClusterFacts, DefinitionFacts, LeaseFacts, ProgramFacts } from './cluster-state.ts';
import { fieldsOf } from './definition-fields.ts';
import { leaseIdOf } from './operator-checks.ts';

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
    named: scope.name === undefined ? undefined : `${client.namespace}/${scope.name}`,
    exports: [],
  };
  if (!isReadable(server)) {
    return { ...unread, definition: server, operators: server, objects: server };
  }
  const [identity, definition, objects] = await Promise.all([
    attempt(readIdentity(client, clock)),
    attempt(readDefinition(client)),
    scope.isPre ? { value: [] } : readObjects(client, scope),
  ]);
  const { user, skewMs = 0 } = knownValue(identity) ?? {};
  const now = (): number => clock.now() + skewMs;
  const found = knownValue(objects) ?? [];
  const named = found.map((object) => parseStaticExport(object).status.operatorLease);
  const leaseNamespaces = named.flatMap((text) => readLeaseKey(text)?.namespace ?? []);
  const operators = await findOperators(client, scope.isPre ? [client.namespace] : leaseNamespaces);
  const leaseIds = [
    ...(knownValue(operators) ?? []).map(leaseIdOf),
    ...named.filter((text) => text !== undefined),
  ];
  const operatorNamespace = scope.isPre ? client.namespace : readLeaseKey(leaseIds[0])?.namespace;
  const [exports, leases, reviewed] = await Promise.all([
    readExports(client, found),
    readLeases(client, new Set(scope.isPre ? [] : leaseIds), now),
    reviewAll(client, scope, operatorNamespace),
  ]);
  const known = knownObjects(
    exports,
    leases,
    scope.name === undefined ? undefined : { namespace: client.namespace, name: scope.name },
  );
  return {
    ...unread,
    permissions: await narrowByName(client, reviewed, known),
    now: now(),
    user,
    definition,
    operators,
    leases,
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

/** Who the caller is, and by how much the server's clock is ahead. */
async function readIdentity(client: ClusterClient, clock: Pick<Clock, 'now'>) {
  const answer = await createReview(client, identityReviews, {});
  const at = Date.parse(textAt(recordAt(answer, 'metadata'), 'creationTimestamp') ?? '');
  const user = textAt(recordAt(recordAt(answer, 'status'), 'userInfo'), 'username');
  return {
    user: user === undefined ? undefined : printable(user, 256),
    skewMs: Number.isNaN(at) ? undefined : at - clock.now(),
  };
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
  const list = () => attempt(client.list({ allNamespaces, selector: undefined }));
  if (name === undefined) return list();
  const read = await attempt(client.read(name).then((object) => [object]));
  if (isReadable(read) || read.code === 'Forbidden') return read;
  // The list tells whether StaticExports are served at all; a name alone does not.
  const all = await list();
  return !isReadable(all) && all.code === 'NotFound' ? all : read;
}

/** One that hangs must not delay the others. */
const mostExports = 8;

function readExports(
  client: ClusterClient,
  objects: readonly StaticExportObject[],
): Promise<readonly Surroundings[]> {
  const podReads = createPodReads(client);
  const limit = createReadLimit(mostExports);
  return Promise.all(objects.map((object) => limit(() => readSurroundings(client, object, podReads))));
}

function readLeases(
  client: ClusterClient,
  ids: ReadonlySet<string>,
  now: () => number,
): Promise<readonly LeaseFacts[]> {
  const keys = [...ids].flatMap((id) => {
    const key = readLeaseKey(id);
    return key === undefined ? [] : [{ id, key }];
  });
  return Promise.all(
    keys.map(async ({ id, key }) => ({ id, lease: await attempt(readLease(client, key)), readAt: now() })),
  );
}
