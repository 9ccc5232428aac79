// A tenant's client of the Kubernetes API server: writes objects by server-side apply, reads by path. A kubectl process
// for each write would take most of the machine.

import { readFile } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { z } from 'zod';
import type { ChartedCluster } from '../../integration/operator/charted-cluster.ts';
import { escapeForYaml } from '../../support/kube-api.ts';
import type { KubeObject, Write } from './objects.ts';

export interface KubeClient {
  /** The HTTP status; a refusal is an answer too. */
  write(write: Write): Promise<number>;
  /** `undefined` for what is not there. @throws Error for any other refusal */
  read(path: string): Promise<unknown>;
  close(): Promise<void>;
}

const kubeconfigShape = z.object({
  clusters: z
    .array(z.object({ cluster: z.object({ server: z.string(), 'certificate-authority-data': z.string() }) }))
    .min(1),
});
const plurals = { StaticExport: 'staticexports', ConfigMap: 'configmaps', Secret: 'secrets' } as const;

/** A service account that may do everything in its namespace and nothing outside. */
export async function openKubeClient(cluster: ChartedCluster, namespace: string): Promise<KubeClient> {
  const name = 'tenant-admin';
  await cluster.apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name, namespace },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name, namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  );
  const token = await cluster.kubectl(['create', 'token', name, '-n', namespace, '--duration=24h']);
  const config = kubeconfigShape.parse(JSON.parse(await readFile(cluster.kubeconfig, 'utf8')));
  const place = config.clusters[0]?.cluster;
  if (place === undefined) throw new Error('a kubeconfig without a cluster');
  const ca = Buffer.from(place['certificate-authority-data'], 'base64').toString('utf8');
  const dispatcher = new Agent({ connect: { ca }, connections: 4 });
  const headers = { authorization: `Bearer ${token.stdout.trim()}`, accept: 'application/json' };

  const call = async (method: 'GET' | 'PATCH' | 'DELETE', path: string, body?: string) => {
    const type = method === 'PATCH' ? 'application/apply-patch+yaml' : 'application/json';
    const response = await request(`${place.server}${path}`, {
      method,
      dispatcher,
      headers: { ...headers, ...(body !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { body }),
    });
    return { status: response.statusCode, text: await response.body.text() };
  };
  const pathOf = ({ apiVersion, kind, metadata }: KubeObject): string => {
    const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
    return `${root}/namespaces/${namespace}/${plurals[kind]}/${encodeURIComponent(metadata.name)}`;
  };
  return {
    write: async ({ verb, object }) => {
      const path = pathOf(object);
      if (verb === 'delete') return (await call('DELETE', path)).status;
      const place = `${path}${verb === 'apply status' ? '/status' : ''}?fieldManager=tenant&force=true`;
      return (await call('PATCH', place, escapeForYaml(JSON.stringify(object)))).status;
    },
    read: async (path) => {
      const { status, text } = await call('GET', path);
      if (status === 404) return undefined;
      if (status !== 200) throw new Error(`GET ${path} was answered with ${status}`);
      return JSON.parse(text);
    },
    close: () => dispatcher.destroy(),
  };
}
