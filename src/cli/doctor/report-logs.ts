// The logs of a report: the last lines of an operator's container, without secrets. Refuses: more than 1 MiB of each, and
// lines that a cut made incomplete, because half a key is not recognised.

import { pods } from '#operator/kube/transport/resource-path.ts';
import type { ClusterClient } from '../cluster/client.ts';
import { programLogLines } from '../cluster/log-line.ts';
import type { Pod } from '../cluster/workloads.ts';
import { redactLines } from './redaction.ts';

const mostLines = 2_000;
const mostChars = 1024 * 1024;

/** `limitBytes` is not used: the Kubernetes API server counts it from the start. @throws {ClusterError} */
export async function readLogEnd(
  { transport, signal }: Pick<ClusterClient, 'transport' | 'signal'>,
  { metadata: { namespace, name } }: Pod,
  container: string,
): Promise<string> {
  const address = { resource: pods, namespace, name, subresource: 'log' } as const;
  const accept = 'text/plain, application/json';
  const query = { tailLines: String(mostLines), container };
  const chunks = await transport.stream({ verb: 'get', method: 'GET', address, accept, query }, signal);
  return redactLines(await lastLines(programLogLines(chunks))).join('\n');
}

async function lastLines(lines: AsyncIterable<string>): Promise<readonly string[]> {
  const last: string[] = [];
  let chars = 0;
  for await (const line of lines) {
    last.push(line);
    chars += line.length + 1;
    while (chars > mostChars) chars -= (last.shift()?.length ?? 0) + 1;
  }
  return last;
}
