// What most tests of the operator stand on: a scripted export API, a cluster with the chart's permissions and the key
// in each watched namespace, and operators that a test file starts with few flags of its own. All of it ends with the file.

import { after } from 'node:test';
import { fastClock } from '../../support/fast-clock.ts';
import { type ChartedCluster, type ChartedClusterOptions, startChartedCluster } from './charted-cluster.ts';
import { type LaunchOptions, type OperatorProcess, startOperator } from './operator-process.ts';
import { createReader } from './resource-reader.ts';
import { keySecret, secretOf, staticExportOf } from './resources.ts';
import { goodKey, type ScriptedVendor, startVendor } from './scripted-vendor.ts';

export type EnvironmentOptions = Partial<ChartedClusterOptions> & {
  readonly namespaces: ChartedClusterOptions['namespaces'];
  /** Operator and vendor on the fast clock of this test file. */
  readonly isFast?: boolean;
  /** How operators end with the file, where the usual signal would wait. */
  readonly stopSignal?: NodeJS.Signals;
};

export interface OperatorEnvironment {
  readonly world: ChartedCluster;
  readonly vendor: ScriptedVendor;
  /** Of the first namespace, as the next two are. */
  readonly reader: ReturnType<typeof createReader>;
  secret(name: string, stringData: object): ReturnType<typeof secretOf>;
  staticExport(name: string, spec?: object, metadata?: object): ReturnType<typeof staticExportOf>;
  /**
   * Resolves once the operator is ready.
   * @param flags replace what every operator here has: the vendor's address, private links, the watched namespaces
   * @param changed of the cluster, such as another lease
   */
  start(
    flags?: readonly string[],
    options?: LaunchOptions,
    changed?: Partial<ChartedCluster>,
  ): Promise<OperatorProcess>;
}

export async function startEnvironment(options: EnvironmentOptions): Promise<OperatorEnvironment> {
  const { isFast = false, stopSignal, ...cluster } = options;
  const [namespace = ''] = cluster.namespaces;
  const { watchNamespaces = cluster.namespaces } = cluster;
  const operators: OperatorProcess[] = [];
  let world: ChartedCluster | undefined;
  const vendor = await startVendor(0, '127.0.0.1', isFast ? fastClock : undefined);
  after(async () => {
    await Promise.all(operators.map(({ child }) => child.stop(stopSignal)));
    await vendor.close();
    await world?.stop();
  });
  const charted = await startChartedCluster({ ...cluster, watchNamespaces });
  world = charted;
  await charted.apply(...watchNamespaces.map((where) => keySecret('export-api', goodKey, where)));
  return {
    world: charted,
    vendor,
    reader: createReader(charted, namespace),
    secret: (name, stringData) => secretOf(name, stringData, namespace),
    staticExport: (name, spec, metadata) => staticExportOf(name, spec, namespace, metadata),
    start: async (flags = [], launch = {}, changed = {}) => {
      const usual = [
        `--api-base-url=${vendor.url}`,
        '--allow-private-links',
        `--watch-namespaces=${watchNamespaces.join(',')}`,
      ];
      const isOwn = (flag: string): boolean => flags.some((one) => one.split('=')[0] === flag.split('=')[0]);
      const all = [...usual.filter((flag) => !isOwn(flag)), ...flags];
      const operator = await startOperator({ ...charted, ...changed }, all, { isFast, ...launch });
      operators.push(operator);
      return operator;
    },
  };
}
