// The main job on real pods: both charts as a user installs them, the export service and a docs site beside them,
// from `helm install` to a page through the site's Service; then an edit, and the loss of the export service.

import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { buildTestImages, productImage, type TestImages } from '../support/image/test-images.ts';
import { startNode, type TestNodes } from '../support/node/node.ts';
import {
  applyObjects,
  clusterIp,
  countRestarts,
  kubectl,
  listPods,
  readContainerMemory,
  signalContainer,
} from '../support/node/pods.ts';
import { startVisits } from '../support/node/visits.ts';
import { apiKey, apiUrl, domain, originPages, secret, vendor, vendorObjects } from './vendor-world.ts';

const charts = new URL('../../charts/', import.meta.url).pathname;
const site = 'site';
const inSite = `--namespace=${site}`;
const servers = 'app.kubernetes.io/name=static-export-site';
const operators = 'app.kubernetes.io/name=static-export-operator';

suite('both charts on real pods', () => {
  let images: TestImages;
  let nodes: TestNodes;
  let url = '';

  before(async () => {
    images = await buildTestImages();
    nodes = await startNode({ images: images.archives });
    await applyObjects(nodes, [...vendorObjects(), originPages(pages('first words'))]);
    await applyObjects(nodes, [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: site } },
      secret(site, 'export-api', { apiKey }),
    ]);
  });

  after(async () => {
    await nodes?.stop();
    await images?.remove();
  });

  const install = async (
    release: string,
    chart: string,
    namespace: string,
    values: object,
  ): Promise<void> => {
    const where = [`--namespace=${namespace}`, '--create-namespace', '--wait', '--timeout=120s'];
    const call = ['install', release, `${charts}${chart}`, ...where, '--values=-'];
    const { code, stderr } = await nodes.helm(call, { input: JSON.stringify(values) });
    assert.equal(code, 0, stderr);
  };
  const shows = (greeting: string): Promise<true> =>
    eventually(
      `the site says "${greeting}"`,
      async () => {
        const { stdout } = await nodes.run(['curl', '--silent', '--max-time', '5', `${url}/guide`]);
        return stdout.includes(greeting) || undefined;
      },
      { timeoutMs: 90_000 },
    );
  const look = (): Promise<string> => kubectl(nodes, ['get', 'staticexports', inSite]);

  test('two installs later the site is served through its Service', async (t) => {
    await install('operator', 'static-export-operator', 'operator', {
      image: { ...productImage, pullPolicy: 'Never' },
      apiBaseUrl: apiUrl,
      allowPrivateLinks: true,
      // The one that is killed below is the one that leads.
      replicas: 1,
    });
    await install('docs', 'static-export-site', site, {
      export: { create: true, domain, api: { keySecretRef: { name: 'export-api' } } },
      server: { image: { ...productImage, pullPolicy: 'Never' }, allowPrivateLinks: true },
    });
    url = `http://${await clusterIp(nodes, site, 'docs-static-export-site')}`;
    await shows('first words');
    t.diagnostic(await look());
  });

  test('an edit is served after a request, by the same pods, and no visitor notices', async (t) => {
    const before = await listPods(nodes, site, servers);
    const visits = startVisits(nodes, { urls: [`${url}/guide`], perSecond: 40, keepsConnections: true });
    await visits.more(20);
    await applyObjects(nodes, [originPages(pages('second words'))]);
    await eventually('the origin shows the edit', async () => {
      const origin = await clusterIp(nodes, vendor, 'origin');
      const { stdout } = await nodes.run(['curl', '--silent', `http://${origin}/guide.html`]);
      return stdout.includes('second words') || undefined;
    });
    const request = 'staticexport.dev/requestedAt=after-the-edit';
    await kubectl(nodes, ['annotate', 'staticexports', '--all', request, inSite]);
    await shows('second words');
    await visits.more(20);
    const tally = await visits.stop();
    t.diagnostic(await look());
    t.diagnostic(`${tally.requests} requests, ${tally.failed} failed, slowest ${tally.slowestMs} ms`);
    assert.equal(tally.failed, 0, tally.examples.join('\n'));
    assert.deepEqual(await listPods(nodes, site, servers), before);
  });

  test('an operator that is killed, then upgraded, starts no job and replaces no site pod', async () => {
    const inOperator = '--namespace=operator';
    const read = (): Promise<string> =>
      kubectl(nodes, [
        'get',
        'staticexports',
        inSite,
        `--output=jsonpath={.items[*].status['job','active']}`,
      ]);
    const [before, pods] = [await read(), await listPods(nodes, site, servers)];
    const [leader = ''] = await listPods(nodes, 'operator', operators);
    await signalContainer(nodes, { namespace: 'operator', pod: leader }, 'SIGKILL');
    await eventually('it started again', async () =>
      (await countRestarts(nodes, { namespace: 'operator', pod: leader })) === 1 ? true : undefined,
    );
    const chart = `${charts}static-export-operator`;
    const change = ['--reuse-values', '--set=podAnnotations.upgraded=yes', '--wait', '--timeout=120s'];
    const upgrade = await nodes.helm(['upgrade', 'operator', chart, inOperator, ...change]);
    assert.equal(upgrade.code, 0, upgrade.stderr);
    await eventually(
      'the upgraded operator leads',
      async () => {
        const [pod = ''] = (await listPods(nodes, 'operator', operators)).filter((name) => name !== leader);
        return (await kubectl(nodes, ['logs', pod, inOperator])).includes('"leading"') || undefined;
      },
      { timeoutMs: 60_000 },
    );
    assert.equal(await read(), before);
    assert.deepEqual(await listPods(nodes, site, servers), pods);
  });

  test('without the export service a killed server comes back with the same site', async () => {
    await kubectl(nodes, ['scale', 'deployment/export-service', '--replicas=0', `--namespace=${vendor}`]);
    const [pod = ''] = await listPods(nodes, site, servers);
    await signalContainer(nodes, { namespace: site, pod }, 'SIGKILL');
    await eventually('it started again', async () =>
      (await countRestarts(nodes, { namespace: site, pod })) === 1 ? true : undefined,
    );
    await kubectl(nodes, ['wait', '--for=condition=Ready', `pod/${pod}`, inSite, '--timeout=60s']);
    await shows('second words');
  });

  test('every container stays below its limit', async (t) => {
    for (const [namespace, selector] of [
      ['operator', operators],
      [site, servers],
    ] as const) {
      for (const pod of await listPods(nodes, namespace, selector)) {
        const { rssBytes, peakBytes, limitBytes } = await readContainerMemory(nodes, { namespace, pod });
        t.diagnostic(`${pod}: rss ${mib(rssBytes)}, peak ${mib(peakBytes)} of ${mib(limitBytes ?? 0)} MiB`);
        assert.ok(limitBytes !== undefined && peakBytes < limitBytes);
      }
    }
  });

  test('the operator uninstalled, the resource stays and so does the site', async () => {
    const gone = await nodes.helm([
      'uninstall',
      'operator',
      '--namespace=operator',
      '--wait',
      '--timeout=90s',
    ]);
    assert.equal(gone.code, 0, gone.stderr);
    assert.match(await look(), /docs-static-export-site +True +Published/);
    await shows('second words');
  });
});

function pages(greeting: string): Readonly<Record<string, string>> {
  const page = (body: string): string => `<!doctype html><title>Docs</title><body>${body}</body>\n`;
  return {
    'index.html': page('<a href="/guide.html">Guide</a>'),
    'guide.html': page(`${greeting}, <a href="/">back</a>`),
  };
}

function mib(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}
