// A cluster for the files of a page: an export API, a real API server, and the operator's program with the arguments and
// the ServiceAccount of the Deployment that the page installs. Pods do not run here.

import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { type OperatorProcess, startOperator } from '../integration/operator/operator-process.ts';
import { createReader } from '../integration/operator/resource-reader.ts';
import { goodKey, signature, startVendor } from '../integration/operator/scripted-vendor.ts';
import { createStatusJudge } from '../integration/operator/status-judge.ts';
import { type CommandOptions, type CommandResult, startControlPlane } from '../support/cluster.ts';
import { findClusterTools } from '../support/cluster-tools.ts';
import { runCommand } from '../support/command.ts';
import { eventuallyInCluster, slowClusterTimeoutMs } from '../support/eventually.ts';
import { programFile } from '../support/program-file.ts';

export type PageWorld = Awaited<ReturnType<typeof startPageWorld>>;

const operatorNamespace = 'static-export';
const operatorName = 'static-export-operator';

export async function startPageWorld() {
  const vendor = await startVendor();
  const controlPlane = await startControlPlane();
  const judge = createStatusJudge(controlPlane.api, [undefined]);
  let operator: OperatorProcess | undefined;
  let requests = 0;
  const kubectl = async (args: readonly string[], options?: CommandOptions): Promise<CommandResult> => {
    const result = await controlPlane.kubectl(args, options);
    assert.equal(result.code, 0, `kubectl ${args.join(' ')}: ${result.stderr}`);
    return result;
  };
  const get = async (kind: string, namespace: string, name: string) =>
    JSON.parse((await kubectl(['get', kind, name, '-n', namespace, '-o', 'json'])).stdout);
  const reader = createReader(controlPlane, 'docs', slowClusterTimeoutMs);
  const activeVersion = (after = ''): Promise<string> =>
    eventuallyInCluster('a version', async () => {
      const { status } = await reader.read('sx', 'docs');
      const version: string | undefined = status?.active?.version;
      return version === undefined || version === after ? undefined : version;
    });
  /** Changes one object as the administrator. */
  const patch = (kind: string, namespace: string, name: string, body: object, ...more: readonly string[]) =>
    kubectl(['patch', kind, name, '-n', namespace, '--type=merge', '-p', JSON.stringify(body), ...more]);
  return {
    vendor,
    controlPlane,
    kubectl,
    get,
    patch,
    reader,
    activeVersion,
    /** Server-side, as the administrator. */
    apply: (...objects: readonly object[]) => {
      const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
      return kubectl(['apply', '--server-side', '--force-conflicts', '-f', '-'], { input });
    },
    /** Starts the program that the Deployment of the chart would run, once that Deployment is there. */
    startOperator: async (): Promise<void> => {
      const deployment = await eventuallyInCluster('the Deployment of the operator', () =>
        get('deployment', operatorNamespace, operatorName),
      );
      const [{ args }]: readonly [{ readonly args: readonly string[] }] =
        deployment.spec.template.spec.containers;
      const isOfPod = (flag: string): boolean =>
        !flag.startsWith('--') || /^--(admin-listen|lease-|log-level)/.test(flag);
      const token = await eventuallyInCluster('a token of the operator', async () => {
        const created = await kubectl(['create', 'token', operatorName, '-n', operatorNamespace]);
        return created.stdout.trim();
      });
      const kubeconfig = await controlPlane.writeKubeconfig('operator', token);
      operator = await startOperator(
        { kubeconfig, operatorNamespace, leaseName: operatorName, judgeStatuses: judge.begin },
        [
          ...args.filter((flag) => !isOfPod(flag)),
          // The export API of the test is on loopback.
          ...['--allow-private-links', '--lease-duration=120s', '--request-timeout=5s'],
        ],
      );
    },
    /** Changes the site and requests an export. @returns the version that it published */
    publishNext: async (): Promise<string> => {
      const before = await activeVersion();
      requests += 1;
      vendor.script('docs.example.com', { content: { 'index.html': `<h1>${requests}</h1>` } });
      await reader.request('docs', `request-${requests}`);
      return activeVersion(before);
    },
    /** Plays the controllers of Deployments and of disruption budgets: every pod is there and ready. */
    rollOut: async (namespace: string, name: string): Promise<void> => {
      const { metadata, spec } = await eventuallyInCluster(`the Deployment ${name}`, () =>
        get('deployment', namespace, name),
      );
      const { replicas } = spec;
      const played = { status: 'True', reason: 'Played', message: 'played' };
      const deployed = {
        ...{ observedGeneration: metadata.generation, replicas, updatedReplicas: replicas },
        ...{ readyReplicas: replicas, availableReplicas: replicas },
        conditions: [{ type: 'Available', ...played }],
      };
      await patch('deployment', namespace, name, { status: deployed }, '--subresource=status');
      const lastTransitionTime = '2026-11-24T00:00:00Z';
      const budget = {
        ...{ observedGeneration: 1, disruptionsAllowed: 1, expectedPods: replicas },
        ...{ currentHealthy: replicas, desiredHealthy: replicas - 1 },
        conditions: [{ type: 'DisruptionAllowed', lastTransitionTime, ...played }],
      };
      await patch('poddisruptionbudget', namespace, name, { status: budget }, '--subresource=status');
    },
    /** The command line of this project, with the arguments of a page. */
    runCli: (...args: readonly string[]): Promise<CommandResult> =>
      runCommand([process.execPath, programFile('static-export'), ...args], {
        env: { KUBECONFIG: controlPlane.kubeconfig },
      }),
    /** Commands of a page, by a shell. */
    runShell: async (commands: string): Promise<CommandResult> => {
      const tools = await findClusterTools();
      return runCommand(['sh', '-ec', commands], {
        env: {
          KUBECONFIG: controlPlane.kubeconfig,
          PATH: `${dirname(tools.kubectl)}:${process.env['PATH'] ?? ''}`,
        },
      });
    },
    /** Neither the key nor a link is in the operator's log, nor in these objects. */
    assertNothingLeaks: async (...kinds: readonly string[]): Promise<void> => {
      const isSafe = (text: string): boolean => !text.includes(signature) && !text.includes(goodKey);
      assert.ok(operator?.log.every(isSafe), 'the log is safe');
      for (const kind of [...kinds, 'events', 'sx'])
        assert.ok(isSafe((await kubectl(['get', kind, '-A', '-o', 'json'])).stdout), kind);
    },
    stop: async (): Promise<void> => {
      await operator?.child.stop();
      await vendor.close();
      try {
        judge.conclude();
      } finally {
        await controlPlane.stop();
      }
    },
  };
}
