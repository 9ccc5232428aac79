// A control plane with the chart's objects applied to it, rendered by helm as a user would, and a kubeconfig that
// has exactly the permissions of the chart's ServiceAccount.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import {
  type CommandOptions,
  type CommandResult,
  startControlPlane,
  type TestCluster,
} from '../../support/cluster.ts';
import { createStatusJudge } from './status-judge.ts';

export interface ChartedCluster {
  /** As the administrator, for controllers other than the operator. */
  readonly controlPlane: TestCluster;
  /** Of the operator's ServiceAccount. */
  readonly kubeconfig: string;
  readonly folder: string;
  readonly operatorNamespace: string;
  /** The one lease that the chart's Role permits. */
  readonly leaseName: string;
  /** As the administrator; fails the test when the command does. */
  kubectl(args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** As the administrator, server-side. */
  apply(...objects: readonly object[]): Promise<void>;
  restartApiServer(signal?: NodeJS.Signals): Promise<void>;
  /** Writes the file again with another token of the operator's ServiceAccount. */
  writeKubeconfig(name: string, ...tokenOptions: readonly string[]): Promise<string>;
  /** From now on every stored status is checked against the rules that other programs rely on. */
  judgeStatuses(): void;
  /** @throws when a status broke one */
  stop(): Promise<void>;
}

const chart = join(import.meta.dirname, '../../../charts/static-export-operator');
const operatorNamespace = 'static-export';
const release = 'test';

export async function startChartedCluster(options: {
  readonly namespaces: readonly string[];
  /** Empty: the chart's ClusterRole. */
  readonly watchNamespaces: readonly string[];
  readonly controllerManager?: boolean;
  /** The chart's `targets`. */
  readonly targets?: object;
  /** The chart's `webhook`. */
  readonly webhook?: object;
}): Promise<ChartedCluster> {
  const cluster = await startControlPlane({ controllerManager: options.controllerManager ?? false });
  const judge = createStatusJudge(cluster.watch);
  const kubectl = async (args: readonly string[], more?: CommandOptions): Promise<CommandResult> => {
    const result = await cluster.kubectl(args, more);
    assert.equal(result.code, 0, `kubectl ${args.join(' ')}: ${result.stderr}`);
    return result;
  };
  const apply = async (...objects: readonly object[]): Promise<void> => {
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
    await kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input });
  };
  try {
    await apply(
      ...[operatorNamespace, ...options.namespaces].map((name) => ({
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name },
      })),
    );
    const rendered = await cluster.helm([
      'template',
      release,
      chart,
      `--namespace=${operatorNamespace}`,
      '--set=apiBaseUrl=http://127.0.0.1',
      ...(options.targets === undefined ? [] : [`--set-json=targets=${JSON.stringify(options.targets)}`]),
      ...(options.webhook === undefined ? [] : [`--set-json=webhook=${JSON.stringify(options.webhook)}`]),
      ...(options.watchNamespaces.length === 0
        ? []
        : [`--set=watchNamespaces={${options.watchNamespaces.join(',')}}`]),
    ]);
    assert.equal(rendered.code, 0, rendered.stderr);
    await kubectl(['apply', '--server-side', '-f', '-'], { input: rendered.stdout });
    await cluster.awaitDefinitions();
    const name = `${release}-static-export-operator`;
    const writeKubeconfig = async (file: string, ...options: readonly string[]): Promise<string> => {
      const token = await kubectl(['create', 'token', name, `--namespace=${operatorNamespace}`, ...options]);
      return cluster.writeKubeconfig(file, token.stdout.trim());
    };
    return {
      controlPlane: cluster,
      kubeconfig: await writeKubeconfig('operator'),
      writeKubeconfig,
      folder: cluster.folder,
      operatorNamespace,
      leaseName: name,
      kubectl,
      apply,
      restartApiServer: cluster.restartApiServer,
      judgeStatuses: judge.begin,
      stop: async () => {
        try {
          judge.conclude();
        } finally {
          await cluster.stop();
        }
      },
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
