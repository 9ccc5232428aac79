// A real API server with the real operator, and two real bundle servers that pods stand for: one in step, one behind. The
// programs run as processes; what kubelets and controllers would write (addresses of pods, ready replicas) is written here.

import { mkdir, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { version } from '#platform/runtime/version.ts';
import { type ChildProgram, startProgram } from '../../../support/child-program.ts';
import { runInProcess } from '../../../support/cli-in-process.ts';
import type { CommandResult } from '../../../support/command.ts';
import { eventually } from '../../../support/eventually.ts';
import { findFreePort } from '../../../support/free-port.ts';
import { programFile } from '../../../support/program-file.ts';
import { type ChartedCluster, startChartedCluster } from '../../operator/charted-cluster.ts';
import { type OperatorProcess, startOperator } from '../../operator/operator-process.ts';
import { createReader } from '../../operator/resource-reader.ts';
import { keySecret, namespace, staticExportOf } from '../../operator/resources.ts';
import { goodKey, type ScriptedVendor, startVendor } from '../../operator/scripted-vendor.ts';

export { namespace };
export const targetNamespace = 'apps';

/** The API server forwards requests to no loopback address, so that pods need one of this machine's own. */
export const machineAddress: string | undefined = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(
    ({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'),
  )?.address;

export interface ServedCluster {
  readonly cluster: ChartedCluster;
  readonly vendor: ScriptedVendor;
  readonly operator: OperatorProcess;
  readonly reader: ReturnType<typeof createReader>;
  /** The command line with the administrator's kubeconfig; `-n` is the caller's. */
  run(...args: readonly string[]): Promise<CommandResult>;
  /** A kubeconfig of a user with these rules in the namespace and no others. */
  kubeconfigWith(name: string, rules: readonly object[]): Promise<string>;
  stop(): Promise<void>;
}

export const staticExport = (name: string, spec: object = {}, where = namespace): object =>
  staticExportOf(name, spec, where);

export const valuesTarget = {
  name: 'argo',
  type: 'Values',
  values: { kind: 'ConfigMap', namespace: targetNamespace, name: 'docs-values' },
};

export async function startServedCluster(): Promise<ServedCluster> {
  const vendor = await startVendor();
  const cluster = await startChartedCluster({
    ownControlPlane: true,
    namespaces: [namespace, targetNamespace],
    watchNamespaces: [namespace, targetNamespace],
  });
  const { apply, folder, operatorNamespace, leaseName } = cluster;
  const servers: ChildProgram[] = [];
  let operator: OperatorProcess | undefined;
  const stop = async (): Promise<void> => {
    await operator?.child.stop();
    await Promise.all(servers.map((server) => server.stop('SIGKILL')));
    await vendor.close();
    await cluster.stop();
  };
  try {
    await apply(
      keySecret('export-api', goodKey, namespace),
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: 'docs-values',
          namespace: targetNamespace,
          annotations: { 'staticexport.dev/allow-from': `${namespace}/docs` },
        },
        data: { 'values.yaml': 'staticExport: {}\n' },
      },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } },
      staticExport('docs', { targets: [valuesTarget] }),
    );
    await writeStatus(cluster, 'deployment', operatorNamespace, leaseName, { replicas: 2, readyReplicas: 2 });
    const reader = createReader(cluster, namespace);
    operator = await startOperator(cluster, [
      `--api-base-url=${vendor.url}`,
      '--allow-private-links',
      `--watch-namespaces=${namespace},${targetNamespace}`,
      // A test waits until it expires.
      '--lease-duration=9s',
    ]);
    await reader.awaitCondition('docs', 'Ready', 'True', 'Published');
    const addServer = async (name: string): Promise<void> => {
      const place = join(folder, name);
      await mkdir(place, { recursive: true });
      const { text } = await reader.readOutput('docs');
      await writeFile(join(place, 'bundle.json'), text('bundle.json'), { mode: 0o600 });
      const port = await findFreePort('0.0.0.0');
      const flags = [
        `--bundle-file=${join(place, 'bundle.json')}`,
        `--store=${join(place, 'store')}`,
        '--listen=127.0.0.1:0',
        `--admin-listen=0.0.0.0:${port}`,
        '--allow-private-links',
      ];
      const child = startProgram(process.execPath, { args: [programFile('bundle-server'), ...flags] });
      servers.push(child);
      await eventually('a ready bundle server', async () => {
        if (child.hasExited()) throw new Error(child.tail());
        return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok ? true : undefined;
      });
      await apply(serverPod(name, port));
      await writeStatus(cluster, 'pod', namespace, name, {
        phase: 'Running',
        podIP: machineAddress,
        podIPs: [{ ip: machineAddress }],
        conditions: [{ type: 'Ready', status: 'True' }],
      });
    };
    if (machineAddress !== undefined) await addServer('site-behind');
    vendor.script('docs.example.com', { content: { 'index.html': '<h1>second</h1>', 'a.html': 'a' } });
    await reader.request('docs', 'second');
    const hasSecond = async (): Promise<true | undefined> => {
      const { status } = await reader.read('sx', 'docs');
      return status.lastCompletedRequest === 'second' ? true : undefined;
    };
    // A whole export, and how fast is no claim.
    await eventually('the second version', hasSecond, { timeoutMs: 120_000 });
    if (machineAddress !== undefined) await addServer('site-in-step');
    const started = operator;
    return {
      cluster,
      vendor,
      operator: started,
      reader,
      run: (...args) => runCli(cluster, args),
      kubeconfigWith: (name, rules) => kubeconfigWith(cluster, name, rules),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function runCli({ controlPlane }: ChartedCluster, args: readonly string[]): Promise<CommandResult> {
  // The library of Kubernetes reads it from this process itself.
  process.env['KUBECONFIG'] = controlPlane.kubeconfig;
  return runInProcess(args);
}

export function serverPod(name: string, port: number): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { 'app.kubernetes.io/name': 'static-export-site', 'app.kubernetes.io/component': 'server' },
    },
    spec: {
      automountServiceAccountToken: false,
      containers: [
        {
          name: 'bundle-server',
          image: `static-export-operator:${version}`,
          args: ['bundle-server', '--bundle-file=/etc/static-export/bundle.json'],
          ports: [{ name: 'admin', containerPort: port }],
          volumeMounts: [{ name: 'source', mountPath: '/etc/static-export' }],
        },
      ],
      volumes: [{ name: 'source', secret: { secretName: 'docs-bundle', optional: true } }],
    },
  };
}

export async function writeStatus(
  { api }: Pick<ChartedCluster, 'api'>,
  kind: string,
  of: string,
  name: string,
  status: object,
): Promise<void> {
  await api.patch(kind, name, { status }, { namespace: of, subresource: 'status' });
}

export async function kubeconfigWith(
  { controlPlane, api, apply }: ChartedCluster,
  name: string,
  rules: readonly object[],
  where = namespace,
): Promise<string> {
  const metadata = { name, namespace: where };
  const rbac = 'rbac.authorization.k8s.io';
  await apply(
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    { apiVersion: `${rbac}/v1`, kind: 'Role', metadata, rules },
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', name, namespace: where }],
    },
  );
  const token = await api.createToken(name, where);
  return controlPlane.writeKubeconfig(`${name}-user`, token);
}
