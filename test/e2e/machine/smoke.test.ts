// The base of every end-to-end test: two real nodes, the project's image, pods under the restricted profile, a
// Service. What a platform requires of any image is tested here; what it does to pods, in promise.test.ts.
// Invariant: afterwards the machine is as it was.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { after, before, suite, test } from 'node:test';
import { findClusterTools } from '../../support/cluster-tools.ts';
import { eventuallyInCluster } from '../../support/eventually.ts';
import { buildTestImages, type TestImages } from '../../support/image/test-images.ts';
import { sandboxImage } from '../../support/node/container-runtime.ts';
import { type KernelSettings, readKernelSettings } from '../../support/node/kernel-settings.ts';
import { startNode, type TestNodes } from '../../support/node/node.ts';
import {
  applyObjects,
  clusterIp,
  countRestarts,
  kubectl,
  listPods,
  readContainerMemory,
  signalContainer,
} from '../../support/node/pods.ts';
import { findRemains } from '../../support/node/remains.ts';
import { tableOfColdStarts } from '../cold-starts.ts';
import {
  archives,
  namespace,
  oneShot,
  packSite,
  published,
  restrictedNamespace,
  servers,
  service,
} from '../small-site.ts';

const inNamespace = `--namespace=${namespace}`;
const selector = 'app=site';

suite('our image on real nodes', () => {
  let settings: KernelSettings;
  let images: TestImages;
  let nodes: TestNodes;
  let url = '';

  const ask = async (path = '/'): Promise<string> => {
    const { stdout } = await nodes.run(['curl', '--silent', '--max-time', '5', `${url}${path}`]);
    return stdout;
  };
  const shows = (greeting: string): Promise<true> =>
    eventuallyInCluster(
      `the site says "${greeting}"`,
      async () => (await ask()).includes(greeting) || undefined,
    );
  const rolledOut = (): Promise<string> =>
    kubectl(nodes, ['rollout', 'status', 'deployment/site', inNamespace, '--timeout=480s']);

  before(async () => {
    settings = await readKernelSettings();
    images = await buildTestImages();
    nodes = await startNode({ nodes: 2, images: images.archives });
    await applyObjects(nodes, [
      restrictedNamespace(),
      archives({ 'one.tar.gz': await packSite('first words'), 'two.tar.gz': await packSite('second words') }),
      published('one', 'one.tar.gz'),
      service(),
      servers(images.product, 2),
    ]);
  });

  after(async () => {
    await nodes?.stop();
    await images?.remove();
    assert.deepEqual(await findRemains(process.pid), [], 'folders and control groups');
    await eventuallyInCluster('every process ended', async () => {
      assert.deepEqual(await listLivingChildren(), [], 'processes');
      return true;
    });
    assert.doesNotMatch(await readFile('/proc/self/mounts', 'utf8'), /static-export-/);
    assert.deepEqual(await readKernelSettings(), settings, 'kernel settings');
  });

  test('two servers become ready under the restricted profile and answer through the Service', async (t) => {
    await rolledOut();
    url = `http://${await clusterIp(nodes, namespace, 'site')}`;
    await shows('first words');
    const where = await kubectl(nodes, ['get', 'pods', inNamespace, '--output=wide']);
    for (const name of nodes.names) assert.match(where, new RegExp(name), 'both nodes run a server');
    t.diagnostic(`image ${mib(images.productBytes)} MiB, of it programs ${mib(images.programBytes)} MiB`);
    const page = new URL('../../../charts/static-export-operator/docs/image.md', import.meta.url);
    const documented = Number(/^\| size \| (\d+) MiB/m.exec(await readFile(page, 'utf8'))?.[1]);
    assert.ok(Math.abs(documented - mib(images.productBytes)) <= 5, `image.md says ${documented} MiB`);
  });

  test('a container without the restrictions is not admitted', async () => {
    const pod = oneShot('bold', images.product, { securityContext: {} });
    const refused = await nodes.kubectl(['apply', '--filename=-'], { input: JSON.stringify(pod) });
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /violates PodSecurity "restricted/);
  });

  test('every program starts in the image', async (t) => {
    const programs = [
      ...['bundle-server', 'export-service', 'operator'],
      ...['static-export', 'tap-static-export', 'webhook-receiver'],
    ];
    await applyObjects(
      nodes,
      programs.map((name) => oneShot(name, images.product, { args: [name, '--version'] })),
    );
    for (const name of programs) {
      const ended = await eventuallyInCluster(`pod ${name} ended`, async () => {
        const phase = await kubectl(nodes, [
          'get',
          'pod',
          name,
          inNamespace,
          '--output=jsonpath={.status.phase}',
        ]);
        return phase === 'Succeeded' || phase === 'Failed' ? phase : undefined;
      });
      const log = await kubectl(nodes, ['logs', name, inNamespace]);
      t.diagnostic(log.trim());
      assert.equal(ended, 'Succeeded', log);
      assert.match(log, new RegExp(`^${name} \\d`));
    }
  });

  test('every program becomes ready with and without compiled code', async (t) => {
    t.diagnostic(await tableOfColdStarts(nodes, images.product));
  });

  test('a pod reaches the Service by its name', async () => {
    // A Service's rules may reach a node after the pod has started.
    const wget = `/bin/busybox timeout 5 /bin/busybox wget -q -O - http://site.${namespace}/`;
    const command = ['/bin/busybox', 'sh', '-c', `until ${wget}; do /bin/busybox sleep 1; done`];
    await applyObjects(nodes, [oneShot('visitor', sandboxImage, { command })]);
    await eventuallyInCluster('the visiting pod saw the page', async () => {
      const log = await kubectl(nodes, ['logs', 'visitor', inNamespace]);
      return log.includes('first words') || undefined;
    });
  });

  test('exec, logs and port-forward work', async () => {
    const [pod = ''] = await listPods(nodes, namespace, selector);
    const exec = await kubectl(nodes, ['exec', pod, inNamespace, '--', '/nodejs/bin/node', '--version']);
    assert.match(exec, /^v26\./);
    const list = ['/nodejs/bin/node', '--print', 'fs.readdirSync("/app/compiled").join()'];
    const compiled = await kubectl(nodes, ['exec', pod, inNamespace, '--', ...list]);
    assert.match(compiled, /^v26\.\S+-65532$/m, 'compiled code for the image’s own user');
    assert.match(await kubectl(nodes, ['logs', pod, inNamespace]), /"level"/);
    const tool = (await findClusterTools()).kubectl;
    const forward = nodes.start(
      [tool, `--kubeconfig=${nodes.kubeconfig}`, 'port-forward', pod, '18080:http', inNamespace],
      {},
    );
    const page = await eventuallyInCluster('the forwarded port answers', async () => {
      const answer = await nodes.run(['curl', '--silent', '--max-time', '5', 'http://127.0.0.1:18080/']);
      return answer.code === 0 ? answer.stdout : undefined;
    });
    assert.match(page, /first words/);
    await forward.stop();
  });

  test('memory limits are the pod’s own, and the memory use of containers can be read', async (t) => {
    for (const pod of await listPods(nodes, namespace, selector)) {
      const memory = await readContainerMemory(nodes, { namespace, pod });
      assert.equal(memory.limitBytes, 256 * 1024 * 1024);
      assert.ok(memory.rssBytes > 20 * 1024 * 1024 && memory.peakBytes <= 256 * 1024 * 1024);
      t.diagnostic(`bundle-server rss ${mib(memory.rssBytes)} MiB, peak ${mib(memory.peakBytes)} MiB of 256`);
    }
  });

  test('a new value of the mounted Secret is served without a pod being replaced', async () => {
    const pods = await listPods(nodes, namespace, selector);
    await applyObjects(nodes, [published('two', 'two.tar.gz')]);
    for (const pod of pods) {
      const path = `/api/v1/namespaces/${namespace}/pods/${pod}:8080/proxy/`;
      await eventuallyInCluster(
        `${pod} serves the second version`,
        async () => (await kubectl(nodes, ['get', '--raw', path])).includes('second words') || undefined,
      );
    }
    assert.deepEqual(await listPods(nodes, namespace, selector), pods);
  });

  test('a server killed from outside restarts with the same site', async () => {
    const [pod = ''] = await listPods(nodes, namespace, selector);
    assert.equal(await countRestarts(nodes, { namespace, pod }), 0);
    await signalContainer(nodes, { namespace, pod }, 'SIGKILL');
    await eventuallyInCluster('the container started again', async () =>
      (await countRestarts(nodes, { namespace, pod })) === 1 ? true : undefined,
    );
    await rolledOut();
    await shows('second words');
  });
});

function mib(bytes: number): number {
  return Math.round(bytes / 1024 / 1024);
}

/** Command lines of running child processes, except the reaper, which waits for this process's end. */
async function listLivingChildren(): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = pids.map(async (pid) => {
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
    if (!status.includes(`PPid:\t${process.pid}\n`)) return [];
    return [await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')];
  });
  return (await Promise.all(found)).flat().filter((line) => !line.includes('while read -r verb value'));
}
