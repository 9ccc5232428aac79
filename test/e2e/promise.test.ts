// The promise on real pods, step by step: the vendor is down, links expire, nodes drain, servers and leaders are
// killed, charts are upgraded, keys are rotated, the operator is uninstalled. Every visitor gets an answer, and only
// published bytes. Ends with a table of each step's duration, also written to the file that E2E_REPORT names.

import assert from 'node:assert/strict';
import { appendFile, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventuallyInCluster } from '../support/eventually.ts';
import { buildTestImages, type TestImages } from '../support/image/test-images.ts';
import { startNode, type TestNodes } from '../support/node/node.ts';
import { applyObjects, countRestarts, listPods, signalContainer } from '../support/node/pods.ts';
import { ownPrefix } from '../support/node/remains.ts';
import { startVisits, type Visits } from '../support/node/visits.ts';
import { type Claims, createClaims } from './claims.ts';
import { diagnose } from './diagnosis.ts';
import {
  installLargeSite,
  type LinkWatch,
  memoryOfAll,
  packLargeSite,
  readLargeSite,
  tracesOfContent,
  watchLinks,
} from './evidence.ts';
import { createTimeline } from './timeline.ts';
import {
  byProject,
  full,
  operatorSpace,
  operators,
  operatorValues,
  prepareTwoCharts,
  servers,
  serviceDeployment,
  siteSpace,
  siteValues,
  type TwoCharts,
} from './two-charts.ts';
import { giveVolumes, switchOff } from './volumes.ts';

const charts = new URL('../../charts/', import.meta.url).pathname;
const inSite = `--namespace=${siteSpace}`;
const inOperator = `--namespace=${operatorSpace}`;
const patient = ['--wait', '--timeout=480s'];

suite('the promise', () => {
  const timeline = createTimeline();
  const visits: Visits[] = [];
  let images: TestImages;
  let nodes: TestNodes;
  let world: TwoCharts;
  let sure: Claims;
  let url = '';
  let scratch = '';
  let firstVersion = '';
  let traces = '';
  let links: LinkWatch;

  before(async () => {
    scratch = await mkdtemp(join(tmpdir(), `${ownPrefix()}made-`));
    const archive = await packLargeSite(scratch);
    images = await buildTestImages();
    nodes = await startNode({ nodes: 2, images: images.archives });
    world = await prepareTwoCharts(nodes);
    sure = createClaims(nodes, world);
    await rename(archive, join(world.originFolder, 'made.tar.gz'));
  });

  after(async () => {
    // A failing closer must not prevent the others.
    const ends = [nodes?.stop(), images?.remove(), rm(scratch, { recursive: true, force: true })];
    for (const end of await Promise.allSettled(ends)) if (end.status === 'rejected') throw end.reason;
  });

  const say = async (t: TestContext, words: string): Promise<void> => {
    t.diagnostic(words);
    const file = process.env['E2E_REPORT'];
    if (file !== undefined) await appendFile(file, `${words.trimEnd()}\n\n`);
  };
  const operate = (changes: object): object => ({ ...operatorValues, ...changes });
  const publish = (changes: object): object => ({
    ...siteValues,
    export: { ...siteValues.export, ...changes },
  });
  test('after two installs the site is served through its Service', async (t) => {
    await timeline.step('install both charts, first page served', 1, async () => {
      await world.writeDocs('first words');
      await world.writeKeys({ used: 'svc_first', accepted: ['svc_first'] });
      for (const chart of ['static-export-operator', 'static-export-site']) {
        await world.helm([
          'package',
          `${charts}${chart}`,
          '--version=0.0.9',
          `--destination=${nodes.folder}`,
        ]);
      }
      const packaged = (chart: string): string => join(nodes.folder, `${chart}-0.0.9.tgz`);
      const operator = ['install', 'operator', packaged('static-export-operator'), inOperator];
      await world.helm([...operator, ...patient], operatorValues);
      await sure.until('the export service answers', () => world.isAccepted('svc_first'));
      await world.helm(['install', 'docs', packaged('static-export-site'), inSite, ...patient], siteValues);
      url = await sure.served('first words');
    });
    firstVersion = await world.read('.status.active.version');
    assert.equal(await world.jobsStarted(), 1);
    for (const keepsConnections of [true, false]) {
      const urls = ['/', '/guide-3', '/guide-7.html'].map((path) => `${url}${path}`);
      visits.push(startVisits(nodes, { urls, perSecond: 20, keepsConnections }));
    }
    timeline.watch(visits);
    await say(t, await world.look());
  });

  test('a second site of 126 MB is installed with the chart’s own limits', () =>
    timeline.step('install the large site', 1, () => installLargeSite(world)));

  test('helm test of both charts passes', () =>
    timeline.step('helm test of both charts', 1, async () => {
      await world.helm(['test', 'operator', inOperator, '--timeout=480s']);
      await world.helm(['test', 'docs', inSite, '--timeout=480s']);
    }));

  test('tree and doctor see the pods in step, and a report has no key and no link', () =>
    timeline.step('tree, doctor and a report', 1, () => diagnose(nodes, world, 'svc_first')));

  test('with the export service stopped and the link expired, pods and a node are removed, and new pods start', async (t) => {
    const digests = await world.servedDigests();
    await timeline.step('export service stopped, link dies', 1, async () => {
      await world.kubectl(['scale', serviceDeployment, '--replicas=0', inOperator]);
      await sure.until('the link is dead', async () => (await sure.condition('LinkFresh')) === 'Expired');
    });
    await say(t, await world.look());
    await timeline.step('delete the site’s pods one by one', 1, async () => {
      for (const pod of await listPods(nodes, siteSpace, servers)) {
        await world.kubectl(['delete', 'pod', pod, inSite, '--timeout=480s']);
        await sure.rolledOut();
      }
    });
    await timeline.step('drain a node', 1, async () => {
      const before = await world.serverNodes();
      const node = before.at(-1) ?? '';
      await world.kubectl(['drain', node, '--delete-emptydir-data', '--force', '--timeout=480s']);
      await sure.rolledOut();
      const left = await world.serverNodes();
      assert.ok(left.length >= 2 && !left.includes(node), `${node} of ${before} drained, servers on ${left}`);
      await world.kubectl(['uncordon', node]);
    });
    await timeline.step('scale out from 2 to 5', 1, async () => {
      await world.kubectl(['scale', `deployment/${full}`, '--replicas=5', inSite]);
      await sure.rolledOut();
      assert.equal((await listPods(nodes, siteSpace, servers)).length, 5);
      await sure.agreeing();
    });
    assert.deepEqual(await world.servedDigests(), digests, 'one digest, the one from before');
    assert.equal(await sure.condition('LinkFresh'), 'Expired');
    await timeline.step('scale in from 5 to 2', 1, async () => {
      await world.kubectl(['scale', `deployment/${full}`, '--replicas=2', inSite]);
      await sure.until(
        'two are left',
        async () => (await world.serverLives()).trim().split('\n').length === 2,
      );
    });
  });

  test('after the export service is back, the same processes serve new content', () =>
    timeline.step('export service back, new content served', 2, async () => {
      const lives = await world.serverLives();
      await world.writeDocs('second words');
      await world.kubectl(['scale', serviceDeployment, '--replicas=1', inOperator]);
      await world.kubectl(['rollout', 'status', serviceDeployment, inOperator, '--timeout=480s']);
      // The pod is ready before every node sends to it, and a start that is refused is tried again after a minute.
      await sure.until('the export service answers', () => world.isAccepted('svc_first'));
      // The operator's own retry is some minutes away by now, so a request replaces it.
      const request = 'staticexport.dev/requestedAt=after-the-edit';
      await world.kubectl(['annotate', 'staticexports', '--all', request, inSite]);
      await sure.served('second words');
      await sure.agreeing();
      assert.equal(await world.serverLives(), lives);
      assert.equal(await world.jobsStarted(), 2);
    }));

  test('from here on links are counted; a large site is read within its memory limit', async (t) => {
    traces = await tracesOfContent(nodes);
    links = watchLinks(nodes);
    await timeline.step('read the large site', 2, () =>
      sure.untouched(async () => say(t, await readLargeSite(nodes))),
    );
  });

  test('a killed leader is replaced, and links are still refreshed', () =>
    timeline.step('kill the leader', 2, async () => {
      await sure.untouched(async () => {
        const holder = (): Promise<string> =>
          world.kubectl(['get', 'lease', '--output=jsonpath={.items[*].spec.holderIdentity}', inOperator]);
        const former = await holder();
        const pod = former.split('_')[0] ?? '';
        const restarts = (): Promise<number> => countRestarts(nodes, { namespace: operatorSpace, pod });
        assert.equal(await restarts(), 0);
        await signalContainer(nodes, { namespace: operatorSpace, pod }, 'SIGKILL');
        await sure.until('somebody else leads', async () => (await holder()) !== former);
        await sure.freshLink(await sure.linkIssuedAt());
        await sure.until('the kubelet reports the restart', async () => (await restarts()) > 0);
        assert.equal(await restarts(), 1);
      });
    }));

  test('a wrong key stops only the calls; the right key resumes them', () =>
    timeline.step('rotate the key, wrong then right', 2, async () => {
      await sure.untouched(async () => {
        await world.writeKeys({ accepted: ['svc_first', 'svc_second'] });
        // A right key that comes too early would be refused like a wrong one, and not be used again.
        await sure.until('the new key is accepted', () => world.isAccepted('svc_second'));
        await world.writeKeys({ used: 'svc_mistyped' });
        await sure.until(
          'the key is refused',
          async () => (await world.read('.status.refusedKey.reason')) !== '',
        );
        const refused = await world.refusedCalls();
        assert.ok(refused > 0);
        // Long enough for two refreshes.
        await sleep(12_000);
        assert.equal(await world.refusedCalls(), refused, 'nobody calls with a key that was refused');
        await world.writeKeys({ used: 'svc_second' });
        await sure.until(
          'the right key is taken',
          async () => (await world.read('.status.refusedKey.reason')) === '',
        );
        await sure.until('a live link', async () => (await sure.condition('Ready')) === 'Published');
      });
    }));

  test('twenty refreshes restart no pod and write only the link', async () => {
    await timeline.step('the rest of 20 refreshes', 2, () =>
      sure.untouched(async () => {
        await eventuallyInCluster('20 refreshes', () => links.seen() > 20 || undefined, {
          timeoutMs: 600_000,
        });
      }),
    );
    await links.stop();
    assert.equal(await tracesOfContent(nodes), traces, 'Deployment, ConfigMap and Helm releases');
  });

  test('a pin rolls back to the first version, and its removal forward again', () =>
    timeline.step('pin to the first version, then unpin', 2, async () => {
      const [chart, second] = [
        join(nodes.folder, 'static-export-site-0.0.9.tgz'),
        await world.read('.status.active.version'),
      ];
      await sure.untouched(async () => {
        await world.helm(['upgrade', 'docs', chart, inSite], publish({ pin: { version: firstVersion } }));
        await sure.served('first words');
        await sure.agreeing();
        assert.equal(await world.read('.status.active.version'), firstVersion);
        await world.helm(['upgrade', 'docs', chart, inSite], publish({ pin: { version: second } }));
        await sure.served('second words');
        await sure.agreeing();
      });
    }));

  test('both charts are upgraded during operation: no job starts, no site pod is replaced', () =>
    timeline.step('helm upgrade of both charts', 2, async () => {
      const former = await listPods(nodes, operatorSpace, operators);
      await sure.untouched(async () => {
        const chart = `${charts}static-export-operator`;
        const changes = operate({ podAnnotations: { upgraded: 'yes' } });
        await world.helm(['upgrade', 'operator', chart, inOperator, ...patient], changes);
        const since = await sure.linkIssuedAt();
        await world.helm(['upgrade', 'docs', `${charts}static-export-site`, inSite, ...patient], siteValues);
        await sure.freshLink(since);
      });
      const pods = await listPods(nodes, operatorSpace, operators);
      assert.ok(pods.length === 2 && !pods.some((pod) => former.includes(pod)), 'the operators are new');
    }));

  test('every container stays within its limit', async (t) => {
    await say(t, await memoryOfAll(nodes));
  });

  test('the same site, exported by its project, has the same digest', () =>
    timeline.step('export by project', 2, async () => {
      await applyObjects(nodes, [byProject]);
      const resource = ['staticexport', byProject.metadata.name, inSite];
      await world.kubectl(['wait', '--for=condition=Ready', ...resource, '--timeout=480s']);
      const digest = await world.kubectl(['get', ...resource, '--output=jsonpath={.status.active.digest}']);
      assert.equal(digest, await world.read('.status.active.digest'));
      await world.kubectl(['delete', ...resource, '--timeout=480s']);
    }));

  test('after the operator is uninstalled the resource and the site stay', async (t) => {
    await timeline.step('uninstall the operator', 2, async () => {
      const lives = await world.serverLives();
      await world.helm(['uninstall', 'operator', inOperator, ...patient]);
      assert.equal(await world.read('.spec.domain'), siteValues.export.domain);
      assert.equal(await world.serverLives(), lives);
      await sure.served('second words');
    });
    await say(t, await world.look());
  });

  test('with only its servers left, the running site gets volumes', async (t) => {
    await timeline.step('give the site volumes, by the README', 2, async () => {
      const former = await listPods(nodes, siteSpace, servers);
      await say(t, await giveVolumes(nodes, world));
      await sure.until('the former servers are gone', async () =>
        (await listPods(nodes, siteSpace, servers)).every((pod) => !former.includes(pod)),
      );
      assert.equal((await listPods(nodes, siteSpace, servers)).length, 2);
      await sure.served('second words');
      await sure.agreeing();
    });
  });

  test('every visitor got an answer', async (t) => {
    await say(t, timeline.table());
    const tallies = await Promise.all(visits.map((one) => one.stop()));
    const slowest = Math.max(...tallies.map(({ slowestMs }) => slowestMs));
    await say(
      t,
      `${tallies.reduce((sum, { requests }) => sum + requests, 0)} requests, slowest ${slowest} ms`,
    );
    for (const tally of tallies) assert.equal(tally.failed, 0, tally.examples.join('\n'));
    assert.equal(tallies.length, 2);
  });

  test('servers that all end at once start from their volumes, without vendor, peer or link', async () => {
    await switchOff(nodes);
    await sure.served('second words');
    await sure.agreeing();
  });
});
