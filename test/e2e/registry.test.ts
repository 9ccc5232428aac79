// A release that is installed by its address alone, on nodes that have neither image nor checkout: both charts by
// `helm install oci://…`, the image by the nodes' containerd, from one registry without TLS. The site is exported, published and
// served. The charts are installed without a value that names an image.

import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { version } from '#platform/runtime/version.ts';
import { noRegistry } from '../support/docker-registry.ts';
import { buildReleaseImage } from '../support/image/test-images.ts';
import { startNode, type TestNodes } from '../support/node/node.ts';
import { startPlainRegistry } from '../support/node/plain-registry.ts';
import { makeSmallRelease } from '../support/small-release.ts';
import {
  awaitPage,
  full,
  operatorSpace,
  operatorValues,
  prepareTwoCharts,
  siteSpace,
  siteValues,
  type TwoCharts,
} from './two-charts.ts';

const host = '10.88.0.11:5000';
const registry = `${host}/docs/exports`;
const program = resolve(import.meta.dirname, '../../packaging/release/release.ts');
const patient = ['--plain-http', '--wait', '--timeout=480s'];

suite('a release in a registry and real nodes', { skip: noRegistry }, () => {
  let image: Awaited<ReturnType<typeof buildReleaseImage>>;
  let nodes: TestNodes;
  let world: TwoCharts;
  before(async () => {
    image = await buildReleaseImage(version);
    nodes = await startNode({ images: [image.sandbox], plainRegistries: [host] });
    world = await prepareTwoCharts(nodes);
    await startPlainRegistry(nodes, host);
  });
  after(async () => {
    for (const end of await Promise.allSettled([nodes?.stop(), image?.remove()]))
      if (end.status === 'rejected') throw end.reason;
  });

  test('the release is pushed by its command', async (t) => {
    const folder = join(nodes.folder, 'made');
    await mkdir(folder);
    const release = await makeSmallRelease(folder, { registry, version, image: image.archive });
    const command = [process.execPath, program, '--from', release, '--push', registry, '--plain-http'];
    const { code, stdout, stderr } = await nodes.run(command, { env: { DOCKER_CONFIG: folder } });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^pushed to /);
    t.diagnostic(stdout);
  });

  test('both charts are installed by their address, and the site is exported and served', async (t) => {
    await world.writeDocs('words of this test');
    await world.writeKeys({ used: 'svc_of-this-test', accepted: ['svc_of-this-test'] });
    const { image: _ofOperator, ...ofOperator } = operatorValues;
    const { image: _ofServer, ...server } = siteValues.server;
    const install = (release: string, chart: string, namespace: string, values: object): Promise<string> =>
      world.helm(
        ['install', release, `oci://${registry}/charts/${chart}`, `--namespace=${namespace}`, ...patient],
        values,
      );
    t.diagnostic(await install('operator', 'static-export-operator', operatorSpace, ofOperator));
    t.diagnostic(await install('docs', 'static-export-site', siteSpace, { ...siteValues, server }));
    await awaitPage(nodes, { namespace: siteSpace, service: full, path: '/guide-3' }, 'words of this test');
    t.diagnostic(await world.look());
  });

  test('every container of the product runs the image of the registry, by the digest that was pushed', async () => {
    const address = `http://${host}/v2/docs/exports/static-export-operator/manifests/${version}`;
    const accept = 'Accept: application/vnd.oci.image.index.v1+json';
    const { stdout } = await nodes.run(['curl', '--silent', '--head', '--header', accept, address]);
    const digest = /^docker-content-digest: (sha256:[0-9a-f]{64})\r?$/im.exec(stdout)?.[1] ?? 'none';
    const each = '{range .items[*]}{range .status.containerStatuses[*]}{.image} {.imageID}{"\\n"}{end}{end}';
    for (const namespace of [operatorSpace, siteSpace]) {
      const found = await world.kubectl([
        'get',
        'pods',
        `--namespace=${namespace}`,
        `--output=jsonpath=${each}`,
      ]);
      const lines = new Set(found.trim().split('\n'));
      const name = `${registry}/static-export-operator`;
      assert.deepEqual([...lines], [`${name}:${version} ${name}@${digest}`]);
    }
    const [images = ''] = await nodes.listImages();
    assert.doesNotMatch(images, /localhost\/static-export-operator/);
    assert.match(images, new RegExp(`^${registry}/static-export-operator:${version} .*${digest}`, 'm'));
  });
});
