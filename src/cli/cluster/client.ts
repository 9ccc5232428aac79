// The Kubernetes API server as the commands need it: the StaticExports of a namespace, read and patched. Owns the
// connection, and the namespace that a command means. Refuses: the data of Secrets, which no command here reads, and text
// that is not printable.

import { createList } from '#operator/kube/objects/resource-list.ts';
import { readResource } from '#operator/kube/objects/stored-object.ts';
import {
  type Connection,
  ConnectionError,
  openConnection,
  readConnectionEnvironment,
} from '#operator/kube/transport/connection.ts';
import { staticExports } from '#operator/kube/transport/resource-path.ts';
import { createTransport, type Transport } from '#operator/kube/transport/transport.ts';
import { fieldManager, resourceKind } from '#operator/staticexport/names.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { printableValue } from '#platform/wire/printable-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';

export interface ClusterFlags {
  readonly kubeconfig: string | undefined;
  readonly context: string | undefined;
  readonly as: string | undefined;
  readonly namespace: string | undefined;
  readonly clusterTimeout: number;
}

export interface ClusterClient {
  /** For what is around a StaticExport. */
  readonly transport: Transport;
  readonly signal: AbortSignal;
  /** That the command means: `--namespace`, or the context's, or `default`. */
  readonly namespace: string;
  /** @throws {CliError} `NotFound` {ClusterError} */
  read(name: string): Promise<StaticExportObject>;
  list(options: {
    readonly allNamespaces: boolean;
    readonly selector: string | undefined;
  }): Promise<readonly StaticExportObject[]>;
  /** Merges the body (RFC 7386) into the version that was read. @throws {ClusterError} `Conflict` */
  patch(
    object: StaticExportObject,
    body: object,
    options: {
      readonly isDryRun: boolean;
      /** Requires the version that was read; otherwise only the same object. */
      readonly isVersioned: boolean;
    },
  ): Promise<StaticExportObject>;
}

/** @throws {CliError} `UnknownContext`, `NoCluster` and its siblings; what `work` throws */
export async function withCluster<T>(
  flags: ClusterFlags,
  { clock, env, signal }: Pick<CliContext, 'clock' | 'env' | 'signal'>,
  work: (client: ClusterClient) => Promise<T>,
): Promise<T> {
  const connection = connect(flags, env);
  const transport = createTransport(connection, { clock, timeoutMs: flags.clusterTimeout, caller: 'user' });
  const namespace = flags.namespace ?? connection.namespace ?? 'default';
  try {
    return await work({
      transport,
      signal,
      namespace,
      read: async (name) => {
        try {
          const address = { resource: staticExports, namespace, name };
          return shown(readResource(await transport.call({ verb: 'get', method: 'GET', address }, signal)));
        } catch (error) {
          throw error instanceof ClusterError && error.code === 'NotFound'
            ? notFound(namespace, name, error)
            : error;
        }
      },
      list: async ({ allNamespaces, selector }) => {
        const list = createList({
          transport,
          resource: staticExports,
          namespace: allNamespaces ? undefined : namespace,
          ...(selector !== undefined && { labelSelector: selector }),
          keep: shown,
        });
        try {
          return (await list(() => {}, signal)).objects;
        } catch (error) {
          throw selector !== undefined && error instanceof ClusterError && error.code === 'Invalid'
            ? invalidSelector(error)
            : error;
        }
      },
      patch: async ({ metadata }, body, { isDryRun, isVersioned }) => {
        const { namespace: of, name, uid, resourceVersion } = metadata;
        const stored = await transport.call(
          {
            verb: 'patch',
            method: 'PATCH',
            address: { resource: staticExports, namespace: of, name },
            query: { fieldManager: `${fieldManager}-cli`, ...(isDryRun && { dryRun: 'All' }) },
            contentType: 'application/merge-patch+json',
            body: {
              ...body,
              metadata: { ...metadataOf(body), uid, ...(isVersioned && { resourceVersion }) },
            },
          },
          signal,
        );
        return shown(readResource(stored));
      },
    });
  } finally {
    await transport.close();
  }
}

/** A status holds any text that its writer chose, and commands print it on a terminal. */
function shown(object: StaticExportObject): StaticExportObject {
  return { ...object, spec: printableValue(object.spec), status: printableValue(object.status) };
}

function connect(
  { kubeconfig, context, as }: ClusterFlags,
  env: Readonly<Record<string, string | undefined>>,
): Connection {
  const isInCluster = env['KUBERNETES_SERVICE_HOST'] !== undefined;
  const environment = readConnectionEnvironment(env);
  try {
    return openConnection({ kubeconfig, context, user: as, isInCluster, isAttended: true, environment });
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    throw new CliError('cluster', error.code, error.message, { cause: error });
  }
}

function metadataOf(body: object): object {
  return 'metadata' in body && typeof body.metadata === 'object' && body.metadata !== null
    ? body.metadata
    : {};
}

function invalidSelector(cause: unknown): CliError {
  const message = '--selector is not valid; write it as for kubectl, such as app=docs,tier!=test';
  return new CliError('usage', 'InvalidSelector', message, { cause });
}

function notFound(namespace: string, name: string, cause: unknown): CliError {
  const message = `${resourceKind} ${namespace}/${name} does not exist; check the name and --namespace`;
  return new CliError('cluster', 'NotFound', message, {
    cause,
    next: ['static-export get --all-namespaces  # lists all'],
  });
}
