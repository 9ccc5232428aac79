// A real control plane for one test file or one demo: etcd and kube-apiserver (and, when asked for,
// kube-controller-manager) on free loopback ports, with RBAC on, data in a temp folder that goes with it.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChildProgram, startProgram } from './child-program.ts';
import { findClusterTools } from './cluster-tools.ts';
import {
  type BuildProgress,
  type Command,
  type ControlPlaneProgram,
  findControlPlane,
} from './control-plane-binary.ts';
import { eventually } from './eventually.ts';
import { findFreePort } from './free-port.ts';
import { type CertifiedKey, createAuthority, createServiceAccountKey } from './pki.ts';

export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CommandOptions {
  /** Written to its standard input. */
  readonly input?: string;
  /** Path of a kubeconfig other than the administrator's. */
  readonly kubeconfig?: string;
}

export interface TestCluster {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  readonly server: string;
  readonly caPem: string;
  /** Scratch folder that is removed on stop. */
  readonly folder: string;
  kubectl(args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  helm(args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** `kubectl … --watch`: calls back for every line until stopped. */
  watch(args: readonly string[], onLine: (line: string) => void): ChildProgram;
  /** A kubeconfig file that authenticates with a token (of a service account, say). */
  writeKubeconfig(name: string, token: string): Promise<string>;
  /** Stops the API server (etcd stays) and starts it again on the same port and data. */
  restartApiServer(signal?: NodeJS.Signals): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Runs kube-controller-manager too (garbage collection, namespace deletion). */
  readonly controllerManager?: boolean;
  readonly onBuild?: BuildProgress;
}

export async function startControlPlane(options: ClusterOptions = {}): Promise<TestCluster> {
  const programs = await findControlPlane(options.onBuild ?? reportBuild);
  const tools = await findClusterTools();
  const folder = await mkdtemp(join(tmpdir(), 'static-export-cluster-'));
  const children: ChildProgram[] = [];
  const watchers = new Set<ChildProgram>();
  const stop = async (): Promise<void> => {
    await Promise.all([...watchers].map((watcher) => watcher.stop()));
    for (const child of children.reverse()) await child.stop('SIGTERM', 3_000);
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const port = await findFreePort();
    const server = `https://127.0.0.1:${port}`;
    const pki = await writePki(folder);
    const kubeconfig = await writeConfig(folder, 'admin', server, pki.caPem, clientUser(pki.admin));
    const start = (program: ControlPlaneProgram, args: readonly string[]): ChildProgram => {
      const command = programs(program);
      if (command === undefined)
        throw new Error(`KUBEBUILDER_ASSETS has no ${program}; unset it to build one`);
      return spawnProgram(command, args, join(folder, `${program}.log`));
    };
    const etcdUrl = await startEtcd(folder, (args) => children.push(start('etcd', args)));
    const apiArgs = apiServerArgs(folder, port, etcdUrl);
    let apiServer = start('kube-apiserver', apiArgs);
    children.push(apiServer);
    await waitReady(server, pki, apiServer);
    if (options.controllerManager === true) {
      const config = await writeConfig(
        folder,
        'controller-manager',
        server,
        pki.caPem,
        clientUser(pki.controllerManager),
      );
      children.push(start('kube-controller-manager', controllerManagerArgs(folder, config)));
    }
    return {
      kubeconfig,
      server,
      caPem: pki.caPem,
      folder,
      kubectl: (args, call = {}) => run(tools.kubectl, args, call.kubeconfig ?? kubeconfig, call.input),
      helm: (args, call = {}) => run(tools.helm, args, call.kubeconfig ?? kubeconfig, call.input),
      watch: (args, onLine) => {
        const watcher = startProgram(tools.kubectl, {
          args: [...args, '--watch'],
          env: { KUBECONFIG: kubeconfig },
          onLine,
        });
        watchers.add(watcher);
        return watcher;
      },
      writeKubeconfig: (name, token) => writeConfig(folder, name, server, pki.caPem, { token }),
      restartApiServer: async (signal = 'SIGTERM') => {
        await apiServer.stop(signal);
        children.splice(children.indexOf(apiServer), 1);
        apiServer = start('kube-apiserver', apiArgs);
        children.push(apiServer);
        await waitReady(server, pki, apiServer);
      },
      stop,
    };
  } catch (error) {
    const tails = children.filter((child) => child.hasExited()).map((child) => child.tail());
    await stop();
    throw new Error(`the control plane did not start\n${tails.join('\n')}`, { cause: error });
  }
}

function reportBuild(built: number, all: number): void {
  if (built % 100 === 1)
    process.stderr.write(`building the control plane (once): ${built} of about ${all} packages\n`);
}

function spawnProgram(command: Command, args: readonly string[], logFile: string): ChildProgram {
  return startProgram(command.file, { args: [...command.args, ...args], logFile });
}

interface Pki {
  readonly caPem: string;
  readonly admin: CertifiedKey;
  readonly controllerManager: CertifiedKey;
}

async function writePki(folder: string): Promise<Pki> {
  const authority = await createAuthority();
  const server = await authority.issueServer({
    dns: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    ips: ['127.0.0.1', '10.96.0.1'],
  });
  const admin = await authority.issueClient('admin', ['system:masters']);
  const controllerManager = await authority.issueClient('system:kube-controller-manager', []);
  await writeFile(join(folder, 'ca.pem'), authority.certificatePem);
  await writeFile(join(folder, 'server.pem'), server.certificatePem);
  await writeFile(join(folder, 'server.key'), server.keyPem, { mode: 0o600 });
  await writeFile(join(folder, 'service-accounts.key'), createServiceAccountKey(), { mode: 0o600 });
  return { caPem: authority.certificatePem, admin, controllerManager };
}

async function startEtcd(folder: string, start: (args: readonly string[]) => void): Promise<string> {
  const clientUrl = `http://127.0.0.1:${await findFreePort()}`;
  const peerUrl = `http://127.0.0.1:${await findFreePort()}`;
  start([
    '--name=test',
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=test=${peerUrl}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ]);
  return clientUrl;
}

function apiServerArgs(folder: string, port: number, etcdUrl: string): readonly string[] {
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${join(folder, 'server.pem')}`,
    `--tls-private-key-file=${join(folder, 'server.key')}`,
    `--client-ca-file=${join(folder, 'ca.pem')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(folder, 'service-accounts.key')}`,
    `--service-account-signing-key-file=${join(folder, 'service-accounts.key')}`,
    '--authorization-mode=Node,RBAC',
    '--service-cluster-ip-range=10.96.0.0/16',
    '--endpoint-reconciler-type=none',
    `--cert-dir=${join(folder, 'certs')}`,
  ];
}

function controllerManagerArgs(folder: string, kubeconfig: string): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    '--use-service-account-credentials',
    `--service-account-private-key-file=${join(folder, 'service-accounts.key')}`,
    `--root-ca-file=${join(folder, 'ca.pem')}`,
    '--leader-elect=false',
    '--secure-port=0',
  ];
}

function clientUser(client: CertifiedKey): object {
  return {
    'client-certificate-data': Buffer.from(client.certificatePem).toString('base64'),
    'client-key-data': Buffer.from(client.keyPem).toString('base64'),
  };
}

async function writeConfig(
  folder: string,
  name: string,
  server: string,
  caPem: string,
  user: object,
): Promise<string> {
  const file = join(folder, `${name}.kubeconfig`);
  // JSON is YAML, and nothing here needs quoting rules of its own.
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [
      { name, cluster: { server, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } },
    ],
    users: [{ name, user }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  await writeFile(file, JSON.stringify(config), { mode: 0o600 });
  return file;
}

async function waitReady(server: string, pki: Pki, apiServer: ChildProgram): Promise<void> {
  const agent = new Agent({ ca: pki.caPem, cert: pki.admin.certificatePem, key: pki.admin.keyPem });
  await eventually(
    'kube-apiserver ready',
    async () => {
      if (apiServer.hasExited()) return 'gone';
      return (await isReady(`${server}/readyz`, agent)) ? 'ready' : undefined;
    },
    { timeoutMs: 60_000 },
  );
  agent.destroy();
  if (apiServer.hasExited()) throw new Error(`kube-apiserver ended:\n${apiServer.tail()}`);
}

function isReady(url: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve, reject) => {
    request(url, { agent }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    })
      .on('error', reject)
      .end();
  });
}

function run(file: string, args: readonly string[], kubeconfig: string, input = ''): Promise<CommandResult> {
  return new Promise((resolve) => {
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    const child = execFile(file, args, { env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}
