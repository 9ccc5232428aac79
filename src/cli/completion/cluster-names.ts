// Names in a cluster, for a shell: StaticExports, the namespaces that hold them, and the versions of one. Refuses:
// Secrets, and namespaces without a StaticExport.

import { type ClusterClient, withCluster } from '../cluster/client.ts';
import { exportSummaryOf, historyOf } from '../cluster/summary.ts';
import { homePath, type SourceRequest } from './source-request.ts';

export function listNames(request: SourceRequest): Promise<readonly string[]> {
  return ask(request, async (client) => {
    const objects = await client.list({ allNamespaces: false, selector: undefined });
    return objects.map(({ metadata }) => metadata.name).toSorted();
  });
}

export function listNamespaces(request: SourceRequest): Promise<readonly string[]> {
  return ask(request, async (client) => {
    const objects = await client.list({ allNamespaces: true, selector: undefined });
    return [...new Set(objects.map(({ metadata }) => metadata.namespace))].toSorted();
  });
}

/** The newest first. */
export async function listVersions(request: SourceRequest): Promise<readonly string[]> {
  const [name] = request.args;
  if (name === undefined) return [];
  return ask(request, async (client) => {
    const versions = historyOf(await client.read(name)).map(({ version }) => version);
    return versions.filter((version) => typeof version === 'string');
  });
}

/** What a gate holds. */
export async function listCandidates(request: SourceRequest): Promise<readonly string[]> {
  const [name] = request.args;
  if (name === undefined) return [];
  return ask(request, async (client) => {
    const { candidate } = exportSummaryOf(await client.read(name));
    return candidate === undefined ? [] : [candidate];
  });
}

/** A single call: a retry would take longer than a user waits. */
const callMs = 2000;

function ask<T>(request: SourceRequest, work: (client: ClusterClient) => Promise<T>): Promise<T> {
  const { given, env } = request;
  const flags = {
    kubeconfig: homePath(given('kubeconfig'), env),
    context: given('context'),
    as: given('as'),
    namespace: given('namespace'),
    clusterTimeout: callMs,
  };
  return withCluster(flags, request, work);
}
