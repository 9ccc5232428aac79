// What the test checks in addition to pages: memory against limits, traces of new content, refreshed links, and a
// large site served with the chart's own limits.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { mustRun } from '../support/command.ts';
import { eventuallyInCluster } from '../support/eventually.ts';
import type { TestNodes } from '../support/node/node.ts';
import { clusterIp, countRestarts, kubectl, listPods, readContainerMemory } from '../support/node/pods.ts';
import { startVisits } from '../support/node/visits.ts';
import {
  exportServices,
  full,
  largeSiteValues,
  largeSpace,
  operatorSpace,
  operators,
  servers,
  siteSpace,
  type TwoCharts,
} from './two-charts.ts';

const charts = new URL('../../charts/', import.meta.url).pathname;

/** The memory of a pod's container as text. Fails if it reached its limit. */
async function memoryOf(nodes: TestNodes, namespace: string, pod: string): Promise<string> {
  const { rssBytes, peakBytes, limitBytes, oomKills } = await readContainerMemory(nodes, { namespace, pod });
  assert.equal(oomKills, 0, `${pod} was killed for want of memory`);
  assert.ok(limitBytes !== undefined && rssBytes < limitBytes, pod);
  return `${namespace}/${pod}: rss ${mib(rssBytes)} MiB, at most ${mib(peakBytes)} with file pages, of ${mib(limitBytes)}`;
}

/** The same of every pod of the two charts, one a line. */
export async function memoryOfAll(nodes: TestNodes): Promise<string> {
  const lines: string[] = [];
  for (const [namespace, selector] of [
    [operatorSpace, operators],
    [operatorSpace, exportServices],
    [siteSpace, servers],
  ] as const) {
    const pods = await listPods(nodes, namespace, selector);
    assert.notEqual(pods.length, 0, selector);
    for (const pod of pods) lines.push(await memoryOf(nodes, namespace, pod));
  }
  return lines.join('\n');
}

/** Objects that change with content only: pod templates, the ConfigMap, Helm's releases. */
export async function tracesOfContent(nodes: TestNodes): Promise<string> {
  const inSite = `--namespace=${siteSpace}`;
  const read = (object: string, path: string): Promise<string> =>
    kubectl(nodes, ['get', object, inSite, `--output=jsonpath={${path}}`]);
  const releases = [operatorSpace, siteSpace].map((space) =>
    kubectl(nodes, ['get', 'secrets', '--selector=owner=helm', '--output=name', `--namespace=${space}`]),
  );
  return [
    `generation ${await read(`deployment/${full}`, '.metadata.generation')}`,
    `rollouts ${await read(`deployment/${full}`, '.metadata.annotations.deployment\\.kubernetes\\.io/revision')}`,
    `ConfigMap ${await read(`configmap/${full}-bundle`, '.metadata.resourceVersion')}`,
    ...(await Promise.all(releases)),
  ].join('\n');
}

export interface LinkWatch {
  /** Different links since the watch began, the first one included. */
  readonly seen: () => number;
  stop(): Promise<void>;
}

/** Counts links by their issue time in status. */
export function watchLinks(nodes: TestNodes): LinkWatch {
  const seen = new Set<string>();
  const path = '--output=jsonpath={.status.active.linkIssueTime}{"\\n"}';
  const watch = nodes.watch(
    ['get', 'staticexport', full, `--namespace=${siteSpace}`, '--watch', path],
    (line) => seen.add(line),
  );
  return { seen: () => seen.size, stop: () => watch.stop() };
}

const inLarge = `--namespace=${largeSpace}`;

/** Packs the site of 126 MB into `folder`, in a separate process. @returns when it is packed */
export async function packLargeSite(folder: string): Promise<string> {
  const module = new URL('../bench/bundle/made-site.ts', import.meta.url).href;
  const script = `import { packMadeSite } from '${module}'; packMadeSite(process.argv[1]);`;
  await mustRun([process.execPath, '--input-type=module-typescript', '--eval', script, folder]);
  return join(folder, 'made.tar.gz');
}

/** Installs a separate server for it, with the chart's own limits. Does not wait for the precompressed variants. */
export async function installLargeSite(world: TwoCharts): Promise<void> {
  const call = ['install', 'large', `${charts}static-export-site`, inLarge];
  await world.helm([...call, '--wait', '--timeout=480s'], largeSiteValues);
}

/** Requests hundreds of its pages, waits for their precompressed variants, and fails if memory ran out. */
export async function readLargeSite(nodes: TestNodes): Promise<string> {
  // A node was drained, so the server may be another one, which downloads the site again.
  await kubectl(nodes, [
    'rollout',
    'status',
    'deployment/large-static-export-site',
    inLarge,
    '--timeout=480s',
  ]);
  const url = `http://${await clusterIp(nodes, largeSpace, 'large-static-export-site')}`;
  const urls = Array.from({ length: 500 }, (_, at) => `${url}/guides/${at % 50}/page-${at}`);
  const visits = startVisits(nodes, { urls, perSecond: 50, keepsConnections: true });
  const [pod = ''] = await listPods(nodes, largeSpace, servers);
  await visits.more(urls.length);
  const path = `/api/v1/namespaces/${largeSpace}/pods/${pod}:9090/proxy/status`;
  await eventuallyInCluster(
    'the precompressed variants made',
    async () => {
      const { encodings } = JSON.parse(await kubectl(nodes, ['get', '--raw', path]));
      if (encodings.state === 'ready') return true;
      throw new Error(JSON.stringify(encodings));
    },
    { timeoutMs: 300_000, everyMs: 1000 },
  );
  const tally = await visits.stop();
  assert.equal(tally.failed, 0, tally.examples.join('\n'));
  assert.equal(await countRestarts(nodes, { namespace: largeSpace, pod }), 0);
  return `${await memoryOf(nodes, largeSpace, pod)}; ${tally.requests} requests of a site of 126 MB`;
}

function mib(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
