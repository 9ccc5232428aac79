// The test environment of the campaign: a real Kubernetes API server, the chart's objects, and the operator as a process
// with the flags, permissions and memory of the chart. Both tenants' vendors listen on loopback addresses.

import { join } from 'node:path';
import { z } from 'zod';
import { type ChartedCluster, startChartedCluster } from '../../integration/operator/charted-cluster.ts';
import { type OperatorProcess, startOperator } from '../../integration/operator/operator-process.ts';
import { goodKey, startVendor } from '../../integration/operator/scripted-vendor.ts';
import type { TenantContext } from './context.ts';
import { type HookAttack, hookSecret, startHooks } from './hooks.ts';
import { type HostileHosts, startHostileHosts } from './hostile-hosts.ts';
import { type KubeClient, openKubeClient } from './kube-client.ts';
import { type KubeObject, publishedCount, publishedExport, secret, staticExport } from './objects.ts';
import { lifetimeMs, type ServedWatch, servedObjects, watchServed } from './served-tenant.ts';
import { type HostileVendor, hostileKey, startHostileVendor } from './vendor.ts';

const served = 'served';
const hostile = 'hostile';

const deploymentShape = z.object({
  spec: z.object({
    template: z.object({
      spec: z.object({
        containers: z
          .array(
            z.object({
              args: z.array(z.string()),
              resources: z.object({ limits: z.object({ memory: z.string() }) }),
            }),
          )
          .length(1),
      }),
    }),
  }),
});

/** Its hooks are noted, and start no export. */
const hooked = staticExport('hooked', {
  domain: 'hooked.example.com',
  api: { keySecretRef: { name: 'export-api' } },
  suspend: true,
  trigger: { webhook: { secretRef: { name: 'hook' } } },
});

export interface TenantEnvironment {
  readonly cluster: ChartedCluster;
  readonly operator: OperatorProcess;
  readonly hostileVendors: readonly HostileVendor[];
  readonly hosts: HostileHosts;
  readonly hooks: HookAttack;
  readonly clients: Readonly<Record<'served' | 'hostile', KubeClient>>;
  readonly context: TenantContext;
  readonly watch: ServedWatch;
  /** The chart's limit of the operator's memory. */
  readonly limitBytes: number;
  /** Where the operator's main thread reports. */
  readonly meterFile: string;
  /** Names of the hostile vendor's archives. */
  readonly archives: readonly string[];
}

/** @param closers filled with what the caller calls at the end, last first, after a failure too */
export async function setUp(
  { seed, program }: { readonly seed: number; readonly program?: string | undefined },
  closers: (() => Promise<void>)[],
): Promise<TenantEnvironment> {
  const cluster = await startChartedCluster({
    ownControlPlane: true,
    namespaces: [served, hostile],
    watchNamespaces: [],
    webhook: { enabled: true, secretNames: ['hook'] },
  });
  closers.push(cluster.stop);
  const honest = await startVendor();
  closers.push(honest.close);
  const second = await startVendor(0, '127.0.0.2');
  closers.push(second.close);
  const neighbour = await startHostileVendor(seed, '127.0.0.2', '127.0.0.4');
  closers.push(neighbour.close);
  const apart = await startHostileVendor(seed, '127.0.0.3', '127.0.0.4');
  closers.push(apart.close);
  const hosts = await startHostileHosts(seed, '127.0.0.3');
  closers.push(hosts.close);
  const clients = {
    served: await openKubeClient(cluster, served),
    hostile: await openKubeClient(cluster, hostile),
  };
  closers.push(clients.served.close, clients.hostile.close);

  for (const name of ['first', 'second', 'apart']) {
    for (const vendor of [honest, second]) vendor.script(`${name}.served.example.com`, { lifetimeMs });
  }
  const objects = servedObjects({ first: undefined, second: undefined, apart: second.url }, goodKey);
  const basics = [
    secret('export-api', { apiKey: goodKey }),
    secret('hostile-api', { apiKey: hostileKey }),
    secret('git', { token: hostileKey, 'ca.crt': hosts.caPem }),
    secret('mirror', { username: 'hostile', password: hostileKey }),
    ...Array.from({ length: publishedCount }, (_, at) => publishedExport(at)),
  ];
  await writeAll(clients.served, [...objects, secret('hook', { secret: hookSecret }), hooked]);
  await writeAll(clients.hostile, basics);

  const meterFile = join(cluster.folder, 'main-thread.jsonl');
  const { args, limitBytes } = await readDeployment(cluster);
  const origins = [second.url, neighbour.url, apart.url].map((url) => new URL(url).origin);
  // Statuses that the hostile tenant writes itself break the rules of conditions.
  const operator = await startOperator(
    { ...cluster, judgeStatuses: () => {} },
    [
      ...args,
      `--api-base-url=${honest.url}`,
      `--allowed-api-hosts=${origins.join(',')}`,
      '--allow-private-links',
      `--allowed-git-hosts=${new URL(hosts.gitOrigin).host}`,
      '--allow-private-git-hosts',
      `--allowed-mirror-hosts=http://${hosts.registry}`,
      '--allow-private-mirror-hosts',
    ],
    {
      ...(program !== undefined && { program }),
      logLevel: 'info',
      // As Node itself would have it in a container of this size: half of it for the old generation.
      nodeFlags: [
        `--max-old-space-size=${Math.floor(limitBytes / 2 ** 21)}`,
        `--import=${join(import.meta.dirname, 'main-thread-meter.ts')}`,
      ],
      env: { MAIN_THREAD_METER: meterFile },
    },
  );
  closers.push(() => operator.child.stop());
  const watch = watchServed(clients.served, served, objects);
  closers.push(watch.stop);
  const hooks = await startHooks(cluster, seed, `/hooks/${served}/${hooked.metadata.name}`);
  closers.push(hooks.stop);
  const context = {
    namespace: hostile,
    hostileUrl: apart.url,
    neighbourUrl: neighbour.url,
    trapUrl: apart.trapUrl,
    gitOrigin: hosts.gitOrigin,
    registry: hosts.registry,
    servedNamespace: served,
    servedOutput: 'first-bundle',
  };
  return {
    cluster,
    operator,
    hostileVendors: [neighbour, apart],
    hosts,
    hooks,
    clients,
    context,
    watch,
    limitBytes,
    meterFile,
    archives: apart.archives,
  };
}

async function writeAll(client: KubeClient, objects: readonly KubeObject[]): Promise<void> {
  for (const object of objects) {
    const status = await client.write({ verb: 'apply', object });
    if (status >= 300) throw new Error(`${object.kind} ${object.metadata.name} was answered with ${status}`);
  }
}

/** Set by the campaign itself, or of no meaning outside a pod. */
const replacedFlags =
  /^(operator$|--admin-listen=|--lease-n|--log-level=|--api-base-url=|--allowed-api-hosts=)/;

async function readDeployment({ kubectl, leaseName, operatorNamespace }: ChartedCluster) {
  const { stdout } = await kubectl(['get', 'deployment', leaseName, '-n', operatorNamespace, '-o', 'json']);
  const [container] = deploymentShape.parse(JSON.parse(stdout)).spec.template.spec.containers;
  const [, mebibytes] = /^(\d+)Mi$/.exec(container?.resources.limits.memory ?? '') ?? [];
  if (container === undefined || mebibytes === undefined)
    throw new Error('the chart names no memory limit in Mi');
  return {
    args: container.args.filter((arg) => !replacedFlags.test(arg)),
    limitBytes: Number(mebibytes) * 1024 * 1024,
  };
}
