// A real control plane for one test file or one demo: etcd and kube-apiserver (and, when asked for,
// kube-controller-manager) on free loopback ports, with RBAC on, data in a temp folder that goes with it.

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildProgram, startProgram } from './child-program.ts';
import { findClusterTools } from './cluster-tools.ts';
import { type CommandResult, runCommand } from './command.ts';
import { type Command, type ControlPlaneProgram, findControlPlane } from './control-plane-binary.ts';
import {
  apiServerFlags,
  apiServiceAddress,
  controllerManagerFlags,
  etcdFlags,
  schedulerFlags,
} from './control-plane-flags.ts';
import { eventually } from './eventually.ts';
import { findFreePort } from './free-port.ts';
import type { BuildProgress } from './go-program.ts';
import { type ApiUser, type KubeApi, openKubeApi } from './kube-api.ts';
import { clientUser, writeKubeconfig } from './kubeconfig.ts';
import { type Authority, type CertifiedKey, createAuthority, createServiceAccountKey } from './pki.ts';

export type { CommandResult } from './command.ts';

import { removeAfterUs } from './reaper.ts';

export interface CommandOptions {
  /** Written to its standard input. */
  readonly input?: string;
  /** Path of a kubeconfig other than the administrator's. */
  readonly kubeconfig?: string;
}

/** As much of a control plane as test files may use at the same time. */
export interface ClusterAccess {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly server: string;
  readonly caPem: string;
  /** Scratch folder that is removed on stop. */
  readonly folder: string;
  /** As the administrator; not through a network namespace. */
  readonly api: KubeApi;
  kubectl(args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** Waits until the API server serves every custom resource that was applied. */
  awaitDefinitions(): Promise<void>;
  helm(args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** `kubectl … --watch`: calls back for every line until stopped. */
  watch(args: readonly string[], onLine: (line: string) => void): ChildProgram;
  /** A kubeconfig file that authenticates with a token (of a service account, say). */
  writeKubeconfig(name: string, token: string): Promise<string>;
  stop(): Promise<void>;
}

export interface TestCluster extends ClusterAccess {
  /** A kubeconfig file that authenticates with a new client certificate. */
  issueKubeconfig(name: string, user: string, groups: readonly string[]): Promise<string>;
  /** Stops the API server (etcd stays) and starts it again on the same port and data. */
  restartApiServer(signal?: NodeJS.Signals): Promise<void>;
}

export interface ClusterOptions {
  /** Runs kube-controller-manager too (garbage collection, namespace deletion). */
  readonly controllerManager?: boolean;
  readonly onBuild?: BuildProgress;
  /** Lives in a network namespace, ready for kubelets: with controller manager and scheduler. */
  readonly network?: ClusterNetwork;
}

export interface ClusterNetwork {
  /** What goes before a command so that it runs inside. */
  readonly enter: readonly string[];
  /** The API server's address inside: not a loopback one, for pods reach it. */
  readonly address: string;
  /** Where the cluster's scratch folder goes. */
  readonly folder: string;
}

export async function startControlPlane(options: ClusterOptions = {}): Promise<TestCluster> {
  const programs = await findControlPlane(options.onBuild);
  const enter = options.network?.enter ?? [];
  const address = options.network?.address ?? '127.0.0.1';
  const folder = await mkdtemp(join(options.network?.folder ?? tmpdir(), 'static-export-cluster-'));
  removeAfterUs(folder);
  const children: ChildProgram[] = [];
  let access: ClusterAccess | undefined;
  const stop = async (): Promise<void> => {
    await access?.stop();
    for (const child of children.reverse()) await child.stop('SIGTERM', 3_000);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const port = await findFreePort();
    const server = `https://${address}:${port}`;
    const pki = await writePki(folder, address);
    const { certificatePem, keyPem } = pki.admin;
    const admin = { server, caPem: pki.caPem, certificatePem, keyPem };
    access = await openCluster(admin, { folder, cache: folder, enter });
    const { kubectl } = access;
    const issueKubeconfig = async (name: string, user: string, groups: readonly string[]) =>
      writeKubeconfig(folder, name, admin, clientUser(await pki.authority.issueClient(user, groups)));
    const start = (program: ControlPlaneProgram, args: readonly string[]): ChildProgram => {
      const command = programs(program);
      if (command === undefined)
        throw new Error(`KUBEBUILDER_ASSETS has no ${program}; unset it to build one`);
      return spawnProgram(enter, command, args, join(folder, `${program}.log`));
    };
    const isReady =
      options.network === undefined
        ? () => isAnswering(`${server}/readyz`, pki)
        : async () => (await kubectl(['get', '--raw', '/readyz'])).code === 0;
    const etcdUrl = await startEtcd(folder, (args) => children.push(start('etcd', args)));
    const hasNodes = options.network !== undefined;
    const apiArgs = apiServerFlags({ folder, address, port, etcdUrl, hasNodes });
    let apiServer = start('kube-apiserver', apiArgs);
    children.push(apiServer);
    await waitReady(isReady, apiServer);
    if (options.controllerManager === true || hasNodes) {
      const config = await issueKubeconfig('controller-manager', 'system:kube-controller-manager', []);
      children.push(start('kube-controller-manager', controllerManagerFlags(folder, config)));
    }
    if (hasNodes) {
      const config = await issueKubeconfig('scheduler', 'system:kube-scheduler', []);
      children.push(start('kube-scheduler', schedulerFlags(config)));
    }
    return {
      ...access,
      issueKubeconfig,
      restartApiServer: async (signal = 'SIGTERM') => {
        await apiServer.stop(signal);
        children.splice(children.indexOf(apiServer), 1);
        apiServer = start('kube-apiserver', apiArgs);
        children.push(apiServer);
        await waitReady(isReady, apiServer);
      },
      stop,
    };
  } catch (error) {
    const tails = children.filter((child) => child.hasExited()).map((child) => child.tail());
    await stop();
    throw new Error(`the control plane did not start\n${tails.join('\n')}`, { cause: error });
  }
}

/**
 * Access to a control plane that runs or starts.
 * @param places where files of this access go, where kubectl keeps what it discovers, and what goes before a command
 */
export async function openCluster(
  admin: ApiUser,
  places: { readonly folder: string; readonly cache: string; readonly enter?: readonly string[] },
): Promise<ClusterAccess> {
  const { folder, enter = [] } = places;
  const { server, caPem } = admin;
  const tools = await findClusterTools();
  const kubeconfig = await writeKubeconfig(folder, 'admin', admin, clientUser(admin));
  const api = openKubeApi(admin);
  // Another cluster may have had this address, and kubectl would take its definitions for these.
  const cache = { KUBECACHEDIR: join(places.cache, 'kube-cache') };
  const watchers = new Set<ChildProgram>();
  const run = (file: string, args: readonly string[], call: CommandOptions = {}): Promise<CommandResult> =>
    runCommand([...enter, file, ...args], {
      input: call.input ?? '',
      env: { KUBECONFIG: call.kubeconfig ?? kubeconfig, ...cache },
    });
  return {
    kubeconfig,
    server,
    caPem,
    folder,
    api,
    kubectl: (args, call) => run(tools.kubectl, args, call),
    awaitDefinitions: api.awaitDefinitions,
    helm: (args, call) => run(tools.helm, args, call),
    watch: (args, onLine) => {
      const [file = '', ...before] = [...enter, tools.kubectl];
      const watcher = startProgram(file, {
        args: [...before, ...args, '--watch'],
        env: { KUBECONFIG: kubeconfig, ...cache },
        onLine,
      });
      watchers.add(watcher);
      return watcher;
    },
    writeKubeconfig: (name, token) => writeKubeconfig(folder, name, admin, { token }),
    stop: async () => {
      await Promise.all([...watchers].map((watcher) => watcher.stop()));
      await api.close();
    },
  };
}

function spawnProgram(
  enter: readonly string[],
  command: Command,
  args: readonly string[],
  logFile: string,
): ChildProgram {
  const [file = '', ...before] = [...enter, command.file, ...command.args];
  return startProgram(file, { args: [...before, ...args], logFile });
}

interface Pki {
  readonly authority: Authority;
  readonly caPem: string;
  readonly admin: CertifiedKey;
}

async function writePki(folder: string, address: string): Promise<Pki> {
  const authority = await createAuthority();
  const server = await authority.issueServer({
    dns: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    ips: [...new Set(['127.0.0.1', address, apiServiceAddress])],
  });
  const admin = await authority.issueClient('admin', ['system:masters']);
  await writeFile(join(folder, 'ca.pem'), authority.certificatePem);
  await writeFile(join(folder, 'server.pem'), server.certificatePem);
  await writeFile(join(folder, 'server.key'), server.keyPem, { mode: 0o600 });
  await writeFile(join(folder, 'admin.pem'), admin.certificatePem);
  await writeFile(join(folder, 'admin.key'), admin.keyPem, { mode: 0o600 });
  await writeFile(join(folder, 'service-accounts.key'), createServiceAccountKey(), { mode: 0o600 });
  return { authority, caPem: authority.certificatePem, admin };
}

async function startEtcd(folder: string, start: (args: readonly string[]) => void): Promise<string> {
  const clientUrl = `http://127.0.0.1:${await findFreePort()}`;
  const peerUrl = `http://127.0.0.1:${await findFreePort()}`;
  start(etcdFlags(folder, clientUrl, peerUrl));
  return clientUrl;
}

async function waitReady(isReady: () => Promise<boolean>, apiServer: ChildProgram): Promise<void> {
  await eventually(
    'kube-apiserver ready',
    async () => {
      if (apiServer.hasExited()) return 'gone';
      return (await isReady()) ? 'ready' : undefined;
    },
    { timeoutMs: 240_000 },
  );
  if (apiServer.hasExited()) throw new Error(`kube-apiserver ended:\n${apiServer.tail()}`);
}

function isAnswering(url: string, { caPem, admin }: Pki): Promise<boolean> {
  const agent = new Agent({ ca: caPem, cert: admin.certificatePem, key: admin.keyPem });
  return new Promise<boolean>((resolve, reject) => {
    request(url, { agent }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    })
      .on('error', reject)
      .end();
  }).finally(() => agent.destroy());
}
