// The real operator with its chart's rights, a scripted export API and a real API server, for tests that run real GitOps
// controllers in the same cluster.

import assert from 'node:assert/strict';
import { startChartedCluster } from '../integration/operator/charted-cluster.ts';
import { startOperator } from '../integration/operator/operator-process.ts';
import { createReader } from '../integration/operator/resource-reader.ts';
import { keySecret, namespace } from '../integration/operator/resources.ts';
import { goodKey, signature, startVendor } from '../integration/operator/scripted-vendor.ts';
import { eventuallyInCluster, slowClusterTimeoutMs } from '../support/eventually.ts';

export { namespace };

export type OperatorWorld = Awaited<ReturnType<typeof startOperatorWorld>>;

/** What a foreign object says to let the StaticExport `name` write it. */
export const consent = (name: string) => ({ 'staticexport.dev/allow-from': `${namespace}/${name}` });

/**
 * @param options `targets` is the chart's value; `definitions` are applied before the operator starts
 */
export async function startOperatorWorld(options: {
  readonly namespaces: readonly string[];
  readonly targets: object;
  readonly applyDefinitions: (
    controlPlane: Awaited<ReturnType<typeof startChartedCluster>>['controlPlane'],
  ) => Promise<void>;
}) {
  const vendor = await startVendor();
  const cluster = await startChartedCluster({
    ownControlPlane: true,
    namespaces: [namespace, ...options.namespaces],
    watchNamespaces: [namespace],
    targets: options.targets,
  });
  await options.applyDefinitions(cluster.controlPlane);
  await cluster.apply(keySecret('export-api', goodKey));
  const operator = await startOperator(cluster, [
    `--api-base-url=${vendor.url}`,
    '--allow-private-links',
    `--watch-namespaces=${namespace}`,
    '--lease-duration=120s',
    '--request-timeout=5s',
  ]);
  const reader = createReader(cluster, namespace, slowClusterTimeoutMs);

  const activeVersion = (name: string, after = ''): Promise<string> =>
    eventuallyInCluster(`a version of ${name}`, async () => {
      const { status } = await reader.read('sx', name);
      const version: string | undefined = status?.active?.version;
      return version === undefined || version === after ? undefined : version;
    });
  return {
    cluster,
    vendor,
    operator,
    reader,
    activeVersion,
    /** Creates a StaticExport, or gives it one target. */
    create: (name: string, target?: object, spec: object = {}): Promise<void> =>
      cluster.apply({
        apiVersion: 'staticexport.dev/v1alpha1',
        kind: 'StaticExport',
        metadata: { name, namespace },
        spec: {
          domain: `${name}.example.com`,
          api: { keySecretRef: { name: 'export-api' } },
          ...(target !== undefined && { targets: [{ name: 'target', ...target }] }),
          ...spec,
        },
      }),
    /** Changes the site and requests an export. @returns the version that it published */
    publishNext: async (name: string): Promise<string> => {
      const before = await activeVersion(name);
      const token = `after-${before}`;
      vendor.script(`${name}.example.com`, { content: { 'index.html': `<h1>${token}</h1>` } });
      await reader.request(name, token);
      return activeVersion(name, before);
    },
    /** An object as JSON, with its managed fields. */
    get: async (kind: string, objectNamespace: string, name: string) => {
      const args = ['get', kind, name, '-n', objectNamespace, '-o', 'json', '--show-managed-fields'];
      return JSON.parse((await cluster.kubectl(args)).stdout);
    },
    /** Neither the key nor a link is in the operator's log, nor in these objects. */
    assertNothingLeaks: async (...kinds: readonly string[]): Promise<void> => {
      const isSafe = (text: string): boolean => !text.includes(signature) && !text.includes(goodKey);
      assert.ok(operator.log.every(isSafe), 'the log is safe');
      for (const kind of [...kinds, 'events', 'sx']) {
        assert.ok(isSafe((await cluster.kubectl(['get', kind, '-A', '-o', 'json'])).stdout), kind);
      }
    },
    stop: async (): Promise<void> => {
      await operator.child.stop();
      await vendor.close();
      await cluster.stop();
    },
  };
}
