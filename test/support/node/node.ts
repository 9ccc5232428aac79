// A whole cluster with real nodes, in a room of its own: control plane, kubelets, containerd, kube-proxy. Pods run,
// Services route and
// have names, probes and memory limits bite. Owns the order of starting, and that nothing is left: not after
// stop, not after a start that failed, not after Ctrl-C. Images are imported from archives, or come from a named registry.

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type ChildOptions, type ChildProgram, startProgram } from '../child-program.ts';
import { startControlPlane, type TestCluster } from '../cluster.ts';
import { type CommandOptions, type CommandResult, runCommand } from '../command.ts';
import { type Command, type ControlPlaneProgram, findControlPlane } from '../control-plane-binary.ts';
import { eventuallyInCluster } from '../eventually.ts';
import { createCgroups, removeCgroups } from './cgroup-tree.ts';
import { type ContainerRuntime, startContainerRuntime } from './container-runtime.ts';
import { keepKernelSettings, restoreKernelSettings } from './kernel-settings.ts';
import { startKubelet } from './kubelet.ts';
import { startNameServer } from './name-server.ts';
import { nodePrefix, ownPrefix, sweepRemains } from './remains.ts';
import { openRoom, type Room } from './room.ts';

export interface NodeOptions {
  /** How many nodes; default 1. Each costs a kubelet and a containerd, about 160 MB. */
  readonly nodes?: number;
  /** Archive of the sandbox image, then of whatever pods will run. */
  readonly images: readonly string[];
  /** Hosts, with their ports, of registries in the cluster's network from which nodes pull without TLS. */
  readonly plainRegistries?: readonly string[];
}

export interface TestNodes extends Pick<TestCluster, 'kubectl' | 'helm' | 'watch' | 'kubeconfig' | 'server'> {
  /** Names of the nodes, `node-1` first. */
  readonly names: readonly string[];
  /** Control group of each node, by name. */
  readonly cgroups: ReadonlyMap<string, string>;
  /** Scratch folder that goes with the cluster. */
  readonly folder: string;
  /** Runs a command in the cluster's network, from a node's point of view: curl of a Service, say. */
  run(command: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** Starts a program in the cluster's network. It dies with the cluster. */
  start(command: readonly string[], options?: Omit<ChildOptions, 'args'>): ChildProgram;
  /** Imports an image archive on every node. */
  importImage(archive: string): Promise<void>;
  /** Images of each node, as its runtime lists them. */
  listImages(): Promise<readonly string[]>;
  stop(): Promise<void>;
}

const podRange = '10.244.0.0/16';

/**
 * Resolves when every node is Ready. Needs root and the packages of test/e2e/install-packages.sh.
 * @throws Error with the last lines of the programs that ended
 */
export async function startNode(options: NodeOptions): Promise<TestNodes> {
  await sweepRemains();
  const folder = await mkdtemp(join(tmpdir(), ownPrefix()));
  await keepKernelSettings(folder, nodePrefix);
  const cgroup = basename(folder);
  const clearing: (() => Promise<void>)[] = [
    // The last one comes first.
    () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
    () => restoreKernelSettings(folder, nodePrefix),
  ];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= clearAll(clearing).finally(() => forgetSignals());
    return stopping;
  };
  const forgetSignals = onInterrupt(stop);
  try {
    return await startIn(folder, cgroup, options, clearing, stop);
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startIn(
  folder: string,
  cgroup: string,
  options: NodeOptions,
  clearing: (() => Promise<void>)[],
  stop: () => Promise<void>,
): Promise<TestNodes> {
  const names = Array.from({ length: options.nodes ?? 1 }, (_, index) => `node-${index + 1}`);
  clearing.push(() => removeCgroups(cgroup));
  const room = await openRoom(
    folder,
    names.map((_, index) => `${addressOf(index)}/24`),
  );
  clearing.push(() => room.close());
  const cluster = await startControlPlane({
    network: { enter: room.enterNetwork, address: addressOf(0), folder },
  });
  clearing.push(() => cluster.stop());
  const programs = await findControlPlane(() => {});
  const { plainRegistries = [] } = options;
  const commandOf = (name: ControlPlaneProgram) => programs(name);
  const places = { folder, cgroup, room, cluster, plainRegistries, commandOf };
  const runtimes = await Promise.all(names.map((name, index) => startOneNode(places, name, index)));
  const importImage = async (archive: string): Promise<void> => {
    for (const runtime of runtimes) await runtime.importImage(archive);
  };
  for (const archive of options.images) await importImage(archive);
  const start: TestNodes['start'] = (command, more = {}) => {
    const [file = '', ...args] = [...room.enterNetwork, ...command];
    const child = startProgram(file, { ...more, args });
    clearing.push(() => child.stop('SIGKILL'));
    return child;
  };
  await startProxy(places, start);
  await startNameServer(start, { folder, kubeconfig: cluster.kubeconfig, address: addressOf(0) });
  await awaitReady(cluster, names);
  return {
    kubectl: cluster.kubectl,
    helm: cluster.helm,
    watch: cluster.watch,
    kubeconfig: cluster.kubeconfig,
    server: cluster.server,
    names,
    cgroups: new Map(names.map((name) => [name, `${cgroup}/${name}`])),
    folder,
    run: (command, call) => runCommand([...room.enterNetwork, ...command], call),
    start,
    importImage,
    listImages: () => Promise.all(runtimes.map((runtime) => runtime.listImages())),
    stop,
  };
}

interface Places {
  readonly folder: string;
  readonly cgroup: string;
  readonly room: Room;
  readonly cluster: TestCluster;
  readonly plainRegistries: readonly string[];
  readonly commandOf: (program: ControlPlaneProgram) => Command | undefined;
}

async function startOneNode(places: Places, name: string, index: number): Promise<ContainerRuntime> {
  const { cluster, room } = places;
  const folder = join(places.folder, name);
  await mkdir(folder);
  const cgroupRoot = `${places.cgroup}/${name}`;
  await createCgroups(cgroupRoot);
  const runtime = await startContainerRuntime(
    room.enterWhole,
    folder,
    `10.244.${index + 1}.0/24`,
    places.plainRegistries,
  );
  const kubeconfig = await cluster.issueKubeconfig(name, `system:node:${name}`, ['system:nodes']);
  await startKubelet(room.enterWhole, required(places, 'kubelet'), {
    name,
    address: addressOf(index),
    folder,
    kubeconfig,
    caFile: join(cluster.folder, 'ca.pem'),
    cgroupRoot,
    runtimeEndpoint: runtime.endpoint,
    dnsAddress: addressOf(0),
  });
  return runtime;
}

// One for all nodes: they share a network, and with it the rules that translate service addresses.
async function startProxy(places: Places, start: TestNodes['start']): Promise<void> {
  const kubeconfig = await places.cluster.issueKubeconfig('proxy', 'system:kube-proxy', []);
  const command = required(places, 'kube-proxy');
  const flags = [
    `--kubeconfig=${kubeconfig}`,
    '--proxy-mode=nftables',
    `--cluster-cidr=${podRange}`,
    '--hostname-override=node-1',
    '--conntrack-max-per-core=0',
  ];
  start([command.file, ...command.args, ...flags], { logFile: join(places.folder, 'kube-proxy.log') });
}

async function awaitReady(cluster: TestCluster, names: readonly string[]): Promise<void> {
  await eventuallyInCluster(`${names.join(', ')} Ready`, async () => {
    const nodes = names.map((name) => `node/${name}`);
    const wait = await cluster.kubectl(['wait', '--for=condition=Ready', '--timeout=5s', ...nodes]);
    // Without its account no pod is admitted to a namespace.
    const account = await cluster.kubectl(['get', 'serviceaccount', 'default']);
    // A node may be ready for a moment before the taint goes that keeps pods away.
    const taints = await cluster.kubectl([
      'get',
      ...nodes,
      '--output=jsonpath={.spec.taints}{.items[*].spec.taints}',
    ]);
    const isOpen = taints.code === 0 && taints.stdout.trim() === '';
    if (wait.code === 0 && account.code === 0 && isOpen) return true;
    const { stdout } = await cluster.kubectl(['describe', ...nodes]);
    throw new Error([wait.stderr, account.stderr, taints.stdout, stdout].join('\n'));
  });
}

function required(places: Places, program: ControlPlaneProgram): Command {
  const command = places.commandOf(program);
  if (command === undefined) throw new Error(`KUBEBUILDER_ASSETS has no ${program}; unset it to build one`);
  return command;
}

function addressOf(index: number): string {
  return `10.88.0.${index + 11}`;
}

// Last in, first out; one that fails must not keep the others from running.
async function clearAll(clearing: (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const clear of clearing.reverse()) await clear().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw new AggregateError(failures, 'the node left something behind');
}

function onInterrupt(stop: () => Promise<void>): () => void {
  const end = (signal: NodeJS.Signals): void => {
    void stop().finally(() => process.kill(process.pid, signal));
  };
  process.once('SIGINT', end).once('SIGTERM', end);
  return () => {
    process.off('SIGINT', end).off('SIGTERM', end);
  };
}
