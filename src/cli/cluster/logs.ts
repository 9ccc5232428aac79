// `logs`: what the operator logged about one StaticExport, from all replicas, in the order of time. Refuses: lines about
// other objects, because an operator manages thousands.

import { pods } from '#operator/kube/transport/resource-path.ts';
import { parseStaticExport } from '#operator/staticexport/parse.ts';
import type { StaticExportObject } from '#platform/wire/cluster.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { type ClusterClient, type ClusterFlags, withCluster } from './client.ts';
import type { StaticExportAnswer } from './documents.ts';
import { formatLogLine, type ProgramLogLine, programLogLines, readLogLine } from './log-line.ts';
import { findOperators, type Operator, readLeaseKey } from './operators.ts';
import { attempt, isReadable, type Reading } from './reading.ts';
import { listPods, type Pod } from './workloads.ts';

interface LogValues extends ClusterFlags {
  readonly since: number;
  readonly tail: number;
  readonly follow: boolean;
}

/** A container whose log is read. */
interface LogSource {
  readonly pod: Pod;
  readonly container: string;
}

export function showLogs(
  values: LogValues,
  [name = '']: readonly string[],
  context: CliContext,
): Promise<StaticExportAnswer<'LogLines'>> {
  if (values.follow && context.output !== 'text') {
    throw new CliError('usage', 'FollowsAsText', '--follow prints text only; leave out --output');
  }
  return withCluster(values, context, async (client): Promise<StaticExportAnswer<'LogLines'>> => {
    const object = await client.read(name);
    const sources = await findSources(client, object);
    const id = `${object.metadata.namespace}/${object.metadata.name}`;
    const isAbout = (line: ProgramLogLine | undefined): line is ProgramLogLine => line?.object === id;
    if (values.follow) return follow(sources, values, isAbout, client, context);
    const found = await Promise.all(
      sources.map(async (source) => {
        const read = await attempt(newestLines(source, values, isAbout, client));
        if (!isReadable(read)) context.progress.note(read.unreadable, 'warning');
        return read;
      }),
    );
    requireAnyReadable(found);
    const lines = found
      .flatMap((read) => (isReadable(read) ? read.value : []))
      .toSorted((a, b) => (a.time < b.time ? -1 : 1))
      .slice(-values.tail);
    return {
      outcome: 'done',
      kind: 'LogLines',
      fields: { lines },
      lines:
        lines.length === 0
          ? ['The operator logged nothing about it in this time; see --since.']
          : lines.map(formatLogLine),
    };
  });
}

async function newestLines(
  source: LogSource,
  values: LogValues,
  isAbout: (line: ProgramLogLine | undefined) => line is ProgramLogLine,
  client: ClusterClient,
): Promise<readonly ProgramLogLine[]> {
  const newest: ProgramLogLine[] = [];
  for await (const text of readLog(source, values, client)) {
    const line = readLogLine(text);
    if (!isAbout(line)) continue;
    newest.push(line);
    if (newest.length > values.tail) newest.shift();
  }
  return newest;
}

/** Each line as it comes; the lines of replicas are not put in order. */
async function follow(
  sources: readonly LogSource[],
  values: LogValues,
  isAbout: (line: ProgramLogLine | undefined) => line is ProgramLogLine,
  client: ClusterClient,
  context: CliContext,
): Promise<StaticExportAnswer<'LogLines'>> {
  const read = await Promise.all(
    sources.map(async (source) => {
      const ended = await attempt(printLines(source, values, isAbout, client, context));
      if (!isReadable(ended)) context.progress.note(ended.unreadable);
      return ended;
    }),
  );
  client.signal.throwIfAborted();
  requireAnyReadable(read);
  context.progress.note('The logs ended, because the pods of the operator are gone. Run the command again.');
  return { outcome: 'done', kind: 'LogLines', fields: { lines: [] }, lines: [] };
}

async function printLines(
  source: LogSource,
  values: LogValues,
  isAbout: (line: ProgramLogLine | undefined) => line is ProgramLogLine,
  client: ClusterClient,
  context: CliContext,
): Promise<void> {
  for await (const text of readLog(source, values, client)) {
    const line = readLogLine(text);
    if (isAbout(line)) context.print(formatLogLine(line));
  }
}

/** @throws {CliError} why the first is not readable, where none is */
function requireAnyReadable(read: readonly Reading<unknown>[]): void {
  const [first] = read;
  if (first === undefined || isReadable(first) || read.some(isReadable)) return;
  throw new CliError('cluster', first.code, first.unreadable);
}

async function* readLog(
  { pod, container }: LogSource,
  { since, tail, follow: isFollowed }: LogValues,
  { transport, signal }: ClusterClient,
): AsyncGenerator<string> {
  const { namespace, name } = pod.metadata;
  const query = {
    container,
    sinceSeconds: String(Math.ceil(since / 1000)),
    ...(isFollowed && { follow: 'true', tailLines: String(tail) }),
  };
  const address = { resource: pods, namespace, name, subresource: 'log' } as const;
  const accept = 'text/plain, application/json';
  yield* programLogLines(
    await transport.stream({ verb: 'get', method: 'GET', address, query, accept }, signal),
  );
}

/** The pods of the operator that wrote the status; before the first status, of every operator. */
async function findSources(client: ClusterClient, object: StaticExportObject): Promise<readonly LogSource[]> {
  const lease = readLeaseKey(parseStaticExport(object).status.operatorLease);
  const likely = lease === undefined ? [object.metadata.namespace] : [lease.namespace];
  const operators = await findOperators(client, likely);
  if (!isReadable(operators)) throw new CliError('cluster', operators.code, operators.unreadable);
  const isIts = ({ lease: own }: Operator): boolean =>
    lease === undefined || (own.namespace === lease.namespace && own.name === lease.name);
  const found = await Promise.all(
    operators.value.filter(isIts).map(async ({ deployment, container }) => {
      const { namespace } = deployment.metadata;
      const all = await listPods(client, namespace, deployment.selector);
      return all.filter(({ state }) => state !== 'Pending').map((pod) => ({ pod, container }));
    }),
  );
  const sources = found.flat();
  if (sources.length > 0) return sources;
  throw new CliError('cluster', 'OperatorNotFound', 'no pod of the operator was found in this cluster', {
    next: ['static-export doctor  # names what is missing'],
  });
}
