// The site chart's docs/air-gap.md on real pods, by the page's own commands: two releases without vendor, operator and link
// serve bundles from a registry inside. An upgrade and a rollback swap in place, pods with an empty disk start, and nodes are
// drained. No step costs a visitor of the site a request. The image is imported into the nodes, as in all tests with nodes.

import assert from 'node:assert/strict';
import { after, before, suite, type TestContext, test } from 'node:test';
import { noRegistry } from '../support/docker-registry.ts';
import { eventuallyInCluster } from '../support/eventually.ts';
import { buildTestImages, type TestImages } from '../support/image/test-images.ts';
import { startNode, type TestNodes } from '../support/node/node.ts';
import { kubectl, listPods } from '../support/node/pods.ts';
import { startVisits, type Visits } from '../support/node/visits.ts';
import { type Gap, type ImportedBundle, prepareGap } from './gap.ts';
import { createTimeline } from './timeline.ts';
import { awaitPage } from './two-charts.ts';

type Release = 'docs' | 'preview';
const inDocs = '--namespace=docs';

suite('two releases behind an air gap', { skip: noRegistry }, () => {
  const timeline = createTimeline();
  const visits: Visits[] = [];
  const bundles: ImportedBundle[] = [];
  let images: TestImages;
  let nodes: TestNodes;
  let gap: Gap;

  before(async () => {
    images = await buildTestImages();
    nodes = await startNode({ nodes: 2, images: images.archives });
    gap = await prepareGap(nodes);
  });

  after(async () => {
    const ends = [nodes?.stop(), images?.remove()];
    for (const end of await Promise.allSettled(ends)) if (end.status === 'rejected') throw end.reason;
  });

  const selectorOf = (release: Release): string =>
    `app.kubernetes.io/component=server,app.kubernetes.io/instance=${release}`;
  const podsOf = (release: Release): Promise<readonly string[]> =>
    listPods(nodes, 'docs', selectorOf(release));
  const served = (release: Release, words: string): Promise<string> =>
    awaitPage(
      nodes,
      { namespace: 'docs', service: `${release}-static-export-site`, path: '/guide-3' },
      words,
    );
  const rolledOut = (release: Release): Promise<string> => {
    const which = [`deployment/${release}-static-export-site`, inDocs, '--timeout=480s'];
    return kubectl(nodes, ['rollout', 'status', ...which]);
  };
  /** Every server of a release reports this bundle as the one it serves. */
  const agreeing = (release: Release, bundle: number): Promise<true> =>
    eventuallyInCluster<true>(`every server of ${release} serves bundle ${bundle}`, async () => {
      const found = (await podsOf(release)).map(async (pod) => {
        const path = `/api/v1/namespaces/docs/pods/${pod}:9090/proxy/status`;
        return JSON.parse(await kubectl(nodes, ['get', '--raw', path])).active?.digest;
      });
      const digests = [...new Set(await Promise.all(found))];
      if (digests.length === 1 && digests[0] === bundles[bundle - 1]?.digest) return true as const;
      throw new Error(digests.join(' '));
    });
  /** Pods and their restarts: the same text, the same processes. */
  const lives = (): Promise<string> => {
    const each = '{range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount}{"\\n"}{end}';
    return kubectl(nodes, ['get', 'pods', inDocs, `--output=jsonpath=${each}`]);
  };
  const importBundle = async (heading: string, number: number, block: number): Promise<void> => {
    const printed = await gap.follow(heading, [block, block + 1]);
    bundles.push(await gap.writeBundleValues(`bundle-${number}.yaml`, printed));
  };
  const scale = async (replicas: number, release: Release = 'docs'): Promise<void> => {
    const which = [`deployment/${release}-static-export-site`, `--replicas=${replicas}`, inDocs];
    await kubectl(nodes, ['scale', ...which]);
    await rolledOut(release);
    // The scheduler keeps new pods away from those that are going, too.
    const all = ['get', 'pods', inDocs, `--selector=${selectorOf(release)}`, '--output=name'];
    await eventuallyInCluster(`${replicas} servers`, async () =>
      (await kubectl(nodes, all)).trim().split('\n').length === replicas ? true : undefined,
    );
  };

  test('from a kit to two releases that serve, in a cluster without the operator and its resource', async () => {
    await timeline.step('import the first kit, install both releases', 1, async () => {
      await gap.follow('Before the first bundle', [0, 1]);
      const profile = 'pod-security.kubernetes.io/enforce=restricted';
      await kubectl(nodes, ['label', 'namespace', 'docs', profile]);
      await gap.follow('The first bundle', [0, 1]);
      await importBundle('The first bundle', 1, 1);
      await gap.follow('The first bundle', [2, 3]);
      for (const release of ['docs', 'preview'] as const) await served(release, 'first words');
    });
    for (const release of ['docs', 'preview'] as const) await agreeing(release, 1);
    assert.equal(await gap.uploadAsReader(), '405', 'the login of the pods cannot write');
    assert.equal((await kubectl(nodes, ['get', 'crds', '--output=name'])).trim(), '');
    const url = await served('docs', 'first words');
    const urls = ['/', '/guide-3', '/guide-7.html', '/picture.png'].map((path) => `${url}${path}`);
    for (const keepsConnections of [true, false]) {
      visits.push(startVisits(nodes, { urls, perSecond: 20, keepsConnections }));
    }
    timeline.watch(visits);
  });

  test('the next bundle is seen in the preview first, and then the same processes of the site serve it', async () => {
    const before = await lives();
    await timeline.step('import the second kit, upgrade the preview', 1, async () => {
      await gap.follow('The next bundle', [0, 1]);
      await importBundle('The next bundle', 2, 1);
      await gap.follow('The next bundle', [2, 3]);
      // The command below leads to any of its servers, and they change one after the other.
      await agreeing('preview', 2);
      await served('preview', 'second words');
      assert.match(await gap.openWhile('The next bundle', [3, 4], '/guide-3'), /second words/);
      await agreeing('docs', 1);
    });
    const sizes = await Promise.all(['docs-1.sxkit', 'docs-2.sxkit'].map((name) => gap.sizeOf(name)));
    assert.ok((sizes[1] ?? 0) * 2 < (sizes[0] ?? 0), `kits of ${sizes} bytes: the second holds what changed`);
    await timeline.step('upgrade the site', 2, async () => {
      await gap.follow('The next bundle', [4, 5]);
      await served('docs', 'second words');
      await agreeing('docs', 2);
    });
    assert.equal(await lives(), before, 'no pod was replaced or started again');
  });

  test('a rollback changes back without the registry', async () => {
    const before = await lives();
    await timeline.step('helm rollback, registry away', 2, () =>
      gap.withoutRegistry(async () => {
        await gap.follow('Back to the bundle before', [0, 1]);
        await served('docs', 'first words');
        await agreeing('docs', 1);
      }),
    );
    await agreeing('preview', 2);
    assert.equal(await lives(), before, 'no pod was replaced or started again');
  });

  test('a new pod with an empty disk starts from another server, without the registry', async () => {
    await timeline.step('replace a pod, registry away', 2, () =>
      gap.withoutRegistry(async () => {
        const [pod = ''] = await podsOf('docs');
        await kubectl(nodes, ['delete', 'pod', pod, inDocs, '--timeout=480s']);
        await rolledOut('docs');
        assert.ok(!(await podsOf('docs')).includes(pod));
        await agreeing('docs', 1);
      }),
    );
  });

  test('the site scales in to 1, out to 3 and in to 1', () =>
    timeline.step('scale to 1, to 3 and to 1', 2, async () => {
      for (const replicas of [1, 3, 1]) {
        await scale(replicas);
        await agreeing('docs', 1);
      }
    }));

  test('a release whose pods are all replaced starts from the registry', () =>
    timeline.step('replace all pods of the preview', 2, async () => {
      const former = await podsOf('preview');
      await kubectl(nodes, ['delete', 'pod', ...former, inDocs, '--timeout=480s']);
      await rolledOut('preview');
      assert.deepEqual(
        (await podsOf('preview')).filter((pod) => former.includes(pod)),
        [],
      );
      await served('preview', 'second words');
      await agreeing('preview', 2);
    }));

  test('nodes are drained in turn while the site scales out to 5, in to 2 and is rolled back', async () => {
    // The only server of the preview finds no other one, and starts from the registry each time.
    await Promise.all([scale(2), scale(1, 'preview')]);
    const after: Readonly<Record<number, () => Promise<void>>> = {
      1: () => scale(5),
      2: () => scale(2),
      3: async () => {
        await gap.follow('Back to the bundle before', [0, 1]);
        await agreeing('docs', 2);
      },
    };
    for (const day of [1, 2, 3, 4, 5]) {
      await timeline.step(`day ${day}: drain a node`, 2, async () => {
        const node = nodes.names[day % nodes.names.length] ?? '';
        const onNode = ['get', 'pods', inDocs, `--field-selector=spec.nodeName=${node}`, '--output=name'];
        assert.match(await kubectl(nodes, onNode), /^pod\/docs-/m, `${node} has a server of docs`);
        await kubectl(nodes, ['drain', node, '--delete-emptydir-data', '--timeout=480s']);
        for (const release of ['docs', 'preview'] as const) await rolledOut(release);
        assert.equal(await kubectl(nodes, onNode), '', `${node} is empty`);
        await kubectl(nodes, ['uncordon', node]);
        await after[day]?.();
        await agreeing('docs', day < 3 ? 1 : 2);
        await agreeing('preview', 2);
      });
    }
  });

  test('every visitor got an answer', async (t: TestContext) => {
    t.diagnostic(timeline.table());
    const tallies = await Promise.all(visits.map((one) => one.stop()));
    for (const tally of tallies) assert.equal(tally.failed, 0, tally.examples.join('\n'));
    assert.equal(tallies.length, 2);
  });
});
