// A control plane with the chart's objects applied to it, rendered by helm as a user would, and a kubeconfig that
// has exactly the permissions of the chart's ServiceAccount. Test files share the control plane where they can.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import {
  type ClusterAccess,
  type CommandOptions,
  type CommandResult,
  startControlPlane,
} from '../../support/cluster.ts';
import type { KubeApi, KubeObject } from '../../support/kube-api.ts';
import { seeText } from '../../support/secret-watch.ts';
import { openSharedControlPlane } from '../../support/shared-control-plane.ts';
import { createStatusJudge } from './status-judge.ts';

export interface ChartedCluster {
  /** As the administrator, for controllers other than the operator. */
  readonly controlPlane: ClusterAccess;
  /** As the administrator, without a process. */
  readonly api: KubeApi;
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
  /** @throws Error on a control plane that is shared */
  restartApiServer(signal?: NodeJS.Signals): Promise<void>;
  /**
   * Writes the file again with another token of the operator's ServiceAccount.
   * @param boundTo a Secret of its namespace: without it the token is invalid
   */
  writeKubeconfig(name: string, boundTo?: string): Promise<string>;
  /** From now on every stored status is checked against the rules that other programs rely on. */
  judgeStatuses(): void;
  /** @throws when a status broke one */
  stop(): Promise<void>;
}

const chart = join(import.meta.dirname, '../../../charts/static-export-operator');

export interface ChartedClusterOptions {
  /** On a shared control plane, of no other test file: the first one names the release, too. */
  readonly namespaces: readonly string[];
  /** Empty: the chart's ClusterRole. */
  readonly watchNamespaces: readonly string[];
  /** For a test that restarts it, changes the CRD, or watches all namespaces. */
  readonly ownControlPlane?: boolean;
  /** Needs a control plane of its own. */
  readonly controllerManager?: boolean;
  /** The chart's `targets`. */
  readonly targets?: object;
  /** The chart's `webhook`. */
  readonly webhook?: object;
  /** `rbac.admissionPolicy` of the chart; `never` where a test writes what no operator writes. Default: `always`. */
  readonly admissionPolicy?: 'always' | 'never';
}

export async function startChartedCluster(options: ChartedClusterOptions): Promise<ChartedCluster> {
  const { namespaces, watchNamespaces, controllerManager = false } = options;
  const isShared = options.ownControlPlane !== true && !controllerManager;
  const [first = 'test'] = namespaces;
  const release = isShared ? first : 'test';
  const operatorNamespace = isShared ? `${first}-operator` : 'static-export';
  const own = isShared ? undefined : await startControlPlane({ controllerManager });
  const cluster = own ?? (await openSharedControlPlane());
  const { api } = cluster;
  // Not of other files: their operators may be broken on purpose.
  const judge = createStatusJudge(api, isShared ? namespaces : [undefined]);
  const kubectl = async (args: readonly string[], more?: CommandOptions): Promise<CommandResult> => {
    const result = await cluster.kubectl(args, more);
    assert.equal(result.code, 0, `kubectl ${args.join(' ')}: ${result.stderr}`);
    return result;
  };
  const apply = (...objects: readonly object[]): Promise<void> => api.apply(objects);
  try {
    for (const name of [operatorNamespace, ...namespaces])
      await api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    const rendered = await cluster.helm([
      'template',
      release,
      chart,
      `--namespace=${operatorNamespace}`,
      '--set=apiBaseUrl=http://127.0.0.1',
      // What the operator does in all these tests, its policy must allow.
      `--set=rbac.admissionPolicy=${options.admissionPolicy ?? 'always'}`,
      // The shared control plane has it.
      ...(isShared ? ['--set=crds.install=false'] : []),
      ...(options.targets === undefined ? [] : [`--set-json=targets=${JSON.stringify(options.targets)}`]),
      ...(options.webhook === undefined ? [] : [`--set-json=webhook=${JSON.stringify(options.webhook)}`]),
      ...(watchNamespaces.length === 0 ? [] : [`--set=watchNamespaces={${watchNamespaces.join(',')}}`]),
    ]);
    assert.equal(rendered.code, 0, rendered.stderr);
    const objects = parseAllDocuments(rendered.stdout)
      .map((document): KubeObject | null => document.toJS())
      .filter((object) => object !== null);
    await api.apply(objects);
    if (!isShared) await cluster.awaitDefinitions();
    const name = `${release}-static-export-operator`;
    const writeKubeconfig = async (file: string, boundTo?: string): Promise<string> =>
      cluster.writeKubeconfig(file, await api.createToken(name, operatorNamespace, boundTo));
    return {
      controlPlane: cluster,
      api,
      kubeconfig: await writeKubeconfig('operator'),
      writeKubeconfig,
      folder: cluster.folder,
      operatorNamespace,
      leaseName: name,
      kubectl,
      apply,
      restartApiServer: (signal) =>
        own?.restartApiServer(signal) ?? Promise.reject(new Error('other test files use this API server')),
      judgeStatuses: judge.begin,
      stop: async () => {
        try {
          judge.conclude();
          await seeObjects(api, [operatorNamespace, ...namespaces]);
        } finally {
          if (isShared) await removeObjects(api, namespaces, objects);
          await cluster.stop();
        }
      },
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** What a reader of the namespaces sees, who may not read Secrets. */
async function seeObjects(api: KubeApi, namespaces: readonly string[]): Promise<void> {
  for (const namespace of namespaces)
    for (const kind of ['staticexports', 'configmaps', 'events', 'leases']) {
      const list: unknown = await api.list(kind, namespace).catch((error: unknown) => {
        // The test has removed the definition, and with it all objects of this kind.
        if (!String(error).includes('404')) throw error;
      });
      seeText(`${kind} of ${namespace}`, JSON.stringify(list) ?? '');
    }
}

/** What no namespace holds, and the StaticExports. Without its controller manager no namespace ever ends. */
async function removeObjects(
  api: KubeApi,
  namespaces: readonly string[],
  objects: readonly KubeObject[],
): Promise<void> {
  const ofCluster = objects.filter(({ metadata }) => metadata.namespace === undefined);
  await Promise.allSettled([
    ...namespaces.map((namespace) => api.removeAll('staticexports', namespace)),
    ...ofCluster.map(({ kind, metadata }) => api.remove(kind, metadata.name)),
  ]);
}
