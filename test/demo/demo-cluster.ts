// The demo's cluster: the embedded control plane, or with --context the user's own. Invariant: the demo deletes
// all objects that it created, and changes no other object.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChildProgram, startProgram } from '../support/child-program.ts';
import { type CommandResult, startControlPlane } from '../support/cluster.ts';
import { findClusterTools } from '../support/cluster-tools.ts';
import type { BuildProgress } from '../support/control-plane-binary.ts';

export interface DemoCluster {
  readonly title: string;
  /** The command that a user types before `get sx`. */
  readonly kubectlCommand: string;
  /** Flags with which the operator reaches it. */
  readonly operatorFlags: readonly string[];
  /** @throws Error with kubectl's own message when it fails */
  kubectl(args: readonly string[], input?: string): Promise<string>;
  watch(args: readonly string[], onLine: (line: string) => void): ChildProgram;
  stop(): Promise<void>;
}

export const namespace = 'static-export-demo';
const crdFile = join(import.meta.dirname, '../../crds/staticexports.staticexport.dev.yaml');
const chart = join(import.meta.dirname, '../../charts/static-export-operator');

/** A new control plane; the operator gets only a token of the chart's own ServiceAccount. */
export async function startEmbeddedCluster(onBuild: BuildProgress): Promise<DemoCluster> {
  const cluster = await startControlPlane({ controllerManager: true, onBuild });
  const tools = await findClusterTools();
  const kubectl = async (args: readonly string[], input?: string): Promise<string> =>
    insist(['kubectl', ...args], await cluster.kubectl(args, input === undefined ? {} : { input }));
  const rendered = insist(
    ['helm', 'template'],
    await cluster.helm([
      'template',
      'demo',
      chart,
      `--namespace=${namespace}`,
      '--set=apiBaseUrl=http://127.0.0.1',
    ]),
  );
  await kubectl(['create', 'namespace', namespace]);
  await kubectl(['apply', '--server-side', '--filename=-'], rendered);
  await cluster.awaitDefinitions();
  const account = (
    await kubectl([
      'get',
      'serviceaccounts',
      `--namespace=${namespace}`,
      '--output=jsonpath={.items[*].metadata.name}',
    ])
  )
    .split(' ')
    .find((name) => name !== 'default');
  const token = await kubectl(['create', 'token', account ?? '', `--namespace=${namespace}`]);
  const kubeconfig = await cluster.writeKubeconfig('operator', token.trim());
  const { gitVersion } = JSON.parse(await kubectl(['version', '--output=json'])).serverVersion;
  return {
    title: `control plane: Kubernetes ${gitVersion} with etcd, CRD and the chart's RBAC applied`,
    kubectlCommand: `KUBECONFIG=${cluster.kubeconfig} ${tools.kubectl} --namespace=${namespace}`,
    operatorFlags: [
      `--kubeconfig=${kubeconfig}`,
      `--lease-namespace=${namespace}`,
      '--lease-name=demo-static-export-operator',
      // No other operator runs, and no program restarts this one.
      '--lease-duration=120s',
    ],
    kubectl,
    watch: cluster.watch,
    stop: cluster.stop,
  };
}

/** The user's cluster. The operator runs as a local process, with the context's own permissions. */
export async function useContext(context: string): Promise<DemoCluster> {
  const { kubectl: file } = await findClusterTools();
  const kubectl = async (args: readonly string[], input = ''): Promise<string> =>
    insist(['kubectl', ...args], await run(file, [`--context=${context}`, ...args], input));
  const { gitVersion } = JSON.parse(await kubectl(['version', '--output=json'])).serverVersion;
  const crd = 'crd/staticexports.staticexport.dev';
  const isCrdOurs = (await kubectl(['get', crd, '--ignore-not-found', '--output=name'])) === '';
  await kubectl(['create', 'namespace', namespace]);
  if (isCrdOurs) {
    await kubectl(['apply', '--server-side', '--filename=-'], await readFile(crdFile, 'utf8'));
    await kubectl(['wait', '--for=condition=Established', crd, '--timeout=30s']);
  }
  const watchers: ChildProgram[] = [];
  return {
    title: `context ${context}: Kubernetes ${gitVersion}, namespace ${namespace}`,
    kubectlCommand: `kubectl --context=${context} --namespace=${namespace}`,
    operatorFlags: [`--context=${context}`, `--lease-namespace=${namespace}`],
    kubectl,
    watch: (args, onLine) => {
      const watcher = startProgram(file, { args: [`--context=${context}`, ...args, '--watch'], onLine });
      watchers.push(watcher);
      return watcher;
    },
    stop: async () => {
      await Promise.all(watchers.map((watcher) => watcher.stop()));
      await kubectl(['delete', 'namespace', namespace, '--wait=false']);
      if (isCrdOurs) await kubectl(['delete', crd, '--wait=false']);
    },
  };
}

function insist(command: readonly string[], { code, stdout, stderr }: CommandResult): string {
  if (code !== 0)
    throw new Error(`${command.slice(0, 4).join(' ')}: ${stderr.trim() || `exit code ${code}`}`);
  return stdout;
}

function run(file: string, args: readonly string[], input: string): Promise<CommandResult> {
  return new Promise((resolve) => {
    const child = execFile(file, args, { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : 1, stdout, stderr: stderr || (error?.message ?? '') });
    });
    child.stdin?.end(input);
  });
}
