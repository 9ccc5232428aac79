// What a test does to pods on real nodes: apply them, read the memory of their containers, end their processes.
// Refuses to guess: a container that is not running is an error.

import { type ContainerMemory, findCgroup, readMemory, readProcesses } from './cgroup-tree.ts';
import type { TestNodes } from './node.ts';

export interface ContainerName {
  readonly namespace: string;
  readonly pod: string;
  /** The pod's only container when absent. */
  readonly container?: string;
}

/** Runs kubectl. @throws Error with what it wrote to standard error */
export async function kubectl(nodes: TestNodes, args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await nodes.kubectl(args, input === undefined ? {} : { input });
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')} ended with ${code}:\n${stderr.trimEnd()}`);
  return stdout;
}

/** Applies objects together, as one list. @throws Error with the API server's words */
export async function applyObjects(nodes: TestNodes, objects: readonly object[]): Promise<void> {
  const list = { apiVersion: 'v1', kind: 'List', items: objects };
  await kubectl(nodes, ['apply', '--filename=-'], JSON.stringify(list));
}

/** Names of the pods that match, oldest first, without those that are going. */
export async function listPods(
  nodes: TestNodes,
  namespace: string,
  selector: string,
): Promise<readonly string[]> {
  const columns = 'NAME:.metadata.name,GOING:.metadata.deletionTimestamp';
  const text = await kubectl(nodes, [
    'get',
    'pods',
    `--namespace=${namespace}`,
    `--selector=${selector}`,
    '--sort-by=.metadata.creationTimestamp',
    '--no-headers',
    `--output=custom-columns=${columns}`,
  ]);
  const rows = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(/\s+/));
  return rows.flatMap(([name = '', going]) => (going === '<none>' ? [name] : []));
}

/** The address of a Service, for requests from {@link TestNodes.run} and from pods. */
export async function clusterIp(nodes: TestNodes, namespace: string, service: string): Promise<string> {
  const path = '--output=jsonpath={.spec.clusterIP}';
  return kubectl(nodes, ['get', 'service', service, `--namespace=${namespace}`, path]);
}

export async function readContainerMemory(nodes: TestNodes, name: ContainerName): Promise<ContainerMemory> {
  return readMemory(await cgroupOf(nodes, name));
}

/** Processes of a container as this machine numbers them, its first one first. */
export async function listProcesses(nodes: TestNodes, name: ContainerName): Promise<readonly number[]> {
  return readProcesses(await cgroupOf(nodes, name));
}

/** Sends a signal to the first process of a container, from outside: SIGKILL works too. */
export async function signalContainer(
  nodes: TestNodes,
  name: ContainerName,
  signal: NodeJS.Signals,
): Promise<void> {
  const [first] = await listProcesses(nodes, name);
  if (first === undefined) throw new Error(`${name.namespace}/${name.pod} runs no process`);
  process.kill(first, signal);
}

/** How often the pod's containers were started again. */
export async function countRestarts(nodes: TestNodes, { namespace, pod }: ContainerName): Promise<number> {
  const path = '--output=jsonpath={.status.containerStatuses[*].restartCount}';
  const text = await kubectl(nodes, ['get', 'pod', pod, `--namespace=${namespace}`, path]);
  return text.split(' ').reduce((sum, count) => sum + Number(count), 0);
}

async function cgroupOf(nodes: TestNodes, name: ContainerName): Promise<string> {
  const { namespace, pod, container } = name;
  const filter = container === undefined ? '*' : `?(@.name=="${container}")`;
  const path = `{.spec.nodeName} {.status.containerStatuses[${filter}].containerID}`;
  const text = await kubectl(nodes, [
    'get',
    'pod',
    pod,
    `--namespace=${namespace}`,
    `--output=jsonpath=${path}`,
  ]);
  const [node = '', id = ''] = text.split(' ');
  const root = nodes.cgroups.get(node);
  const found = root === undefined ? undefined : await findCgroup(root, id.replace('containerd://', ''));
  if (found === undefined) throw new Error(`${namespace}/${pod} has no running container: "${text}"`);
  return found;
}
