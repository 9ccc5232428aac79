// Reads what servers say of addresses and searches without a result: pods of one StaticExport through the Kubernetes API server, or
// admin ports by their addresses. A server that is not readable is a row, because the others still say something.

import { createAgent } from '#platform/http/agent.ts';
import { readConnectionFault } from '#platform/http/connection-fault.ts';
import { isSuccess, readWhole } from '#platform/http/exchange.ts';
import { userAgent } from '#platform/runtime/version.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { type ClusterFlags, withCluster } from '../cluster/client.ts';
import { attempt, createReadLimit, isReadable, type Unreadable } from '../cluster/reading.ts';
import { createPodReads, readSurroundings, type UsingPod } from '../cluster/related-objects.ts';
import { noServerStatus, readServerDocument, type Server } from '../cluster/servers.ts';
import { hasEnded } from '../cluster/workloads.ts';
import type { CliContext } from '../context.ts';
import { parseInsights, type ServerInsights } from './server-insights.ts';

export interface ServerReading {
  /** `<namespace>/<name>` of a pod, or the address of an admin port. */
  readonly server: string;
  /** A text says why there are none. */
  readonly read: ServerInsights | 'off' | { readonly message: string };
}

export interface SiteServers {
  readonly servers: readonly ServerReading[];
  /** Of the StaticExport. */
  readonly domain?: string | undefined;
}

/** @throws {CliError} {ClusterError} of the StaticExport itself */
export function readServersOf(name: string, flags: ClusterFlags, context: CliContext): Promise<SiteServers> {
  return withCluster(flags, context, async (client) => {
    const podReads = createPodReads(client);
    const { pods, wanted } = await readSurroundings(client, await client.read(name), podReads);
    const readOne = async ({ pod, server, serving }: UsingPod): Promise<readonly ServerReading[]> => {
      if (server === undefined || hasEnded(pod)) return [];
      const of = `${pod.metadata.namespace}/${pod.metadata.name}`;
      if (pod.phase !== 'Running') {
        return [{ server: of, read: { message: serving.message ?? `The pod does not run (${pod.state}).` } }];
      }
      const read = await podReads.limit(() => attempt(readServerDocument(client, server)));
      return [{ server: of, read: isReadable(read) ? insightsOf(read.value, server) : unread(read) }];
    };
    const servers = [...pods].map(async ([namespace, read]): Promise<readonly ServerReading[]> => {
      if (!isReadable(read)) return [{ server: `pods of namespace ${namespace}`, read: unread(read) }];
      return (await Promise.all(read.value.map(readOne))).flat();
    });
    return { servers: (await Promise.all(servers)).flat(), domain: wanted?.domain };
  });
}

const unread = ({ unreadable }: Unreadable): { readonly message: string } => ({ message: `${unreadable}.` });

const insightsOf = (document: unknown, server: Server): ServerReading['read'] =>
  parseInsights(document) ?? { message: `${noServerStatus(server).message}.` };

const statusTimeoutMs = 10_000;
const longestStatusBytes = 512 * 1024;
const mostAtOnce = 8;

/** @param urls of admin ports */
export async function readServersAt(
  urls: readonly string[],
  { clock, signal }: Pick<CliContext, 'clock' | 'signal'>,
): Promise<SiteServers> {
  const limit = createReadLimit(mostAtOnce);
  const agent = createAgent({ allowPrivateAddresses: true, idleTimeoutMs: statusTimeoutMs });
  const read = async (url: string): Promise<ServerReading['read']> => {
    const deadline = clock.deadline(statusTimeoutMs, signal);
    try {
      const request = { method: 'GET', url: new URL(`${url}/status`), headers: { 'user-agent': userAgent } };
      const answer = await readWhole(await agent.send(request, deadline), longestStatusBytes, deadline);
      const document =
        isSuccess(answer) && !answer.isCut ? readJson(answer.bytes.toString('utf8')) : undefined;
      return (
        parseInsights(document) ?? {
          message: `The answer (${answer.statusCode}) is not the status of a bundle server. Name its admin port.`,
        }
      );
    } catch (error) {
      signal.throwIfAborted();
      const { what, remedy } = readConnectionFault(error);
      return { message: `The server ${what}. ${remedy}.` };
    }
  };
  try {
    return {
      servers: await Promise.all(
        urls.map(async (url) => ({ server: url, read: await limit(() => read(url)) })),
      ),
    };
  } finally {
    await agent.destroy();
  }
}
