// Bundle servers in pods, and what each serves by its own `/status`. The Kubernetes API server forwards the request
// (`pods/proxy`), because a user's machine cannot reach a pod. Refuses: any other path of a pod, and text of a pod that is
// not printable. A pod is never called behind whose status could not be read.

import * as z from 'zod';
import { pods } from '#operator/kube/transport/resource-path.ts';
import type { Status } from '#operator/staticexport/status-schema.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { printable } from '#platform/wire/printable-text.ts';
import type { ClusterClient } from './client.ts';
import { isReadable, type Reading } from './reading.ts';
import { type Container, flagOf, hasEnded, type Pod, tagOf } from './workloads.ts';

/** A pod with a bundle server, in its main container or as a sidecar. */
export interface Server {
  readonly pod: Pod;
  /** Name of its container. */
  readonly container: string;
  readonly adminPort: number;
  /** Of its image's tag. */
  readonly imageVersion: string | undefined;
}

const shown = z.string().transform((text) => printable(text, 512));
const content = z.object({ version: shown.nullable(), digest: shown.nullable() });
const statusShape = z.object({
  serverVersion: shown.optional(),
  active: content.nullable(),
  source: z.object({
    kind: shown.nullable(),
    state: shown,
    reason: shown,
    published: content.nullable(),
    lastError: z.object({ code: shown, message: shown }).nullable(),
    retryAt: shown.nullable().optional(),
  }),
});

/** What a server says of itself. Text in it is printable. */
export type ServerStatus = z.infer<typeof statusShape>;

const defaultAdminPort = 9090;
/** A pod that hangs must not take the time of the others. */
const statusTimeoutMs = 5_000;
/** Those of a real server have about 2 KB, and up to 200 KB with what readers do not find. */
const longestStatusBytes = 256 * 1024;

/** @returns `undefined` for a pod without a bundle server */
export function serverOf(pod: Pod): Server | undefined {
  const container = pod.containers.find(isServer);
  if (container === undefined) return undefined;
  const { name, ports, args, command, image } = container;
  const listen = flagOf([...command, ...args], 'admin-listen');
  const adminPort =
    ports.find(({ name }) => name === 'admin')?.containerPort ??
    Number(/:(\d{1,5})$/.exec(listen ?? '')?.[1] ?? defaultAdminPort);
  return { pod, container: name, adminPort, imageVersion: tagOf(image) };
}

function isServer({ command, args }: Container): boolean {
  return [...command, ...args].some(
    (arg) =>
      arg === 'bundle-server' || /(^|\/)bundle-server\.mjs$/.test(arg) || /^--bundle-(file|url)\b/.test(arg),
  );
}

type Caller = Pick<ClusterClient, 'transport' | 'signal'>;

/** @throws {ClusterError} where the pod or its answer is not available */
export async function readServerStatus(caller: Caller, server: Server): Promise<ServerStatus> {
  const read = statusShape.safeParse(await readServerDocument(caller, server));
  if (read.success) return read.data;
  throw noServerStatus(server);
}

export function noServerStatus({ pod: { metadata }, adminPort }: Server): ClusterError {
  return new ClusterError(
    'Unavailable',
    `port ${adminPort} of pod ${metadata.namespace}/${metadata.name} does not answer with the status of a bundle server`,
  );
}

/** `/status` of the server, as it came. @throws {ClusterError} where the pod is not available */
export function readServerDocument(
  { transport, signal }: Caller,
  { pod, adminPort }: Server,
): Promise<unknown> {
  const { namespace, name } = pod.metadata;
  return transport.call(
    {
      verb: 'get',
      method: 'GET',
      address: {
        resource: pods,
        namespace,
        name: `${name}:${adminPort}`,
        subresource: 'proxy',
        subpath: 'status',
      },
      timeoutMs: statusTimeoutMs,
      maxBytes: longestStatusBytes,
    },
    signal,
  );
}

export interface Serving {
  /** A pod that has ended serves nothing more, and others take its place. */
  readonly state: 'InStep' | 'Behind' | 'Ended' | 'Unknown';
  /** Served now. */
  readonly version?: string;
  readonly digest?: string;
  /** Of the program. */
  readonly serverVersion?: string;
  /** A sentence, unless it is in step. */
  readonly message?: string;
}

/**
 * @param active what the output Secret publishes
 * @param read the server's own status; `undefined` where the pod was not asked, because it does not run
 * @param stopped why the server's container does not run
 */
export function judgeServing(
  active: Status['active'],
  { phase, state }: Pick<Pod, 'phase' | 'state'>,
  read: Reading<ServerStatus> | undefined,
  stopped: string | undefined,
): Serving {
  if (hasEnded({ phase })) return { state: 'Ended', message: `The pod has ended (${state}).` };
  if (read === undefined) return unknown(`The pod does not run (${state}).`);
  if (!isReadable(read) && stopped !== undefined) {
    return unknown(`Its bundle server does not run (${stopped}).`);
  }
  if (!isReadable(read)) return unknown(`Its status is not readable: ${read.unreadable}.`);
  const { active: served, source, serverVersion } = read.value;
  const found = {
    ...(served?.version != null && { version: served.version }),
    ...(served?.digest != null && { digest: served.digest }),
    ...(serverVersion !== undefined && { serverVersion }),
  };
  if (active === undefined) return { ...found, ...unknown('Nothing is published yet.') };
  const isSame =
    active.digest === undefined ? served?.version === active.version : served?.digest === active.digest;
  if (served !== null && isSame) return { ...found, state: 'InStep' };
  const published = source.published?.digest ?? source.published?.version;
  const isMounted = published === active.digest || published === active.version;
  const why =
    source.published !== null && !isMounted
      ? 'Its mounted Secret is older; a kubelet updates it within about a minute'
      : `The server reports ${source.state}: ${source.lastError?.message ?? source.reason}`;
  return { ...found, state: 'Behind', message: `${served === null ? 'It serves nothing. ' : ''}${why}.` };
}

const unknown = (message: string): Serving => ({ state: 'Unknown', message });
