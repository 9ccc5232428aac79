// An upgrade and its rollback on real pods: charts and image of the previous release, built from its own sources, become those
// of these sources, with new fields switched on, and go back. Visitors ask all the time and get an answer. Under each CRD the
// StaticExport can be read and written, and each operator publishes. Servers open volumes of the other version's servers.
// Ends with a table of the phases, also in E2E_REPORT.

import assert from 'node:assert/strict';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, suite, type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { noRegistry } from '../support/docker-registry.ts';
import {
  buildPreviousImage,
  buildTestImages,
  previousImage,
  productImage,
  type TestImages,
} from '../support/image/test-images.ts';
import { startNode, type TestNodes } from '../support/node/node.ts';
import { startPlainRegistry } from '../support/node/plain-registry.ts';
import { applyObjects, clusterIp, listPods } from '../support/node/pods.ts';
import { ownPrefix } from '../support/node/remains.ts';
import { startVisits, type Visits } from '../support/node/visits.ts';
import { extractPreviousSources, type PreviousSources } from '../support/previous/previous-sources.ts';
import { type Claims, createClaims } from './claims.ts';
import { createTimeline } from './timeline.ts';
import type { TwoCharts } from './two-charts.ts';
import {
  full,
  operatorSpace,
  operatorValues,
  prepareTwoCharts,
  siteSpace,
  siteValues,
} from './two-charts.ts';
import {
  assertFromVolume,
  createKeptVolumes,
  keptRelease,
  keptService,
  keptValues,
} from './upgrade/kept-site.ts';
import { createPodLogs, type PodLogs, restartedPods } from './upgrade/pod-logs.ts';
import { assertStoredResource, createSpareResource } from './upgrade/stored-resource.ts';

const today = new URL('../../', import.meta.url).pathname;
const spaces = [operatorSpace, siteSpace];
const inSite = `--namespace=${siteSpace}`;
const patient = ['--wait', '--timeout=480s'];
const registry = '10.88.0.11:5000';
/** Of one edit's page while new servers come: as it is, with the line of the search, with that of Markdown, with both. */
const forms = 4;

type Image = typeof productImage;
interface Versions {
  readonly operator: Image;
  readonly site: Image;
}
const earlier: Versions = { operator: previousImage, site: previousImage };
const mixed: Versions = { operator: productImage, site: previousImage };
const newest: Versions = { operator: productImage, site: productImage };
const operate = ({ repository, tag }: Image): object => ({
  ...operatorValues,
  image: { repository, tag, pullPolicy: 'Never' },
  allowedMirrorHosts: [`http://${registry}`],
  allowPrivateMirrorHosts: true,
});
const serve = ({ repository, tag }: Image, more: object = {}): object => ({
  ...siteValues.server,
  image: { repository, tag, pullPolicy: 'Never' },
  mirror: { allowPrivate: true, allowHttp: true },
  ...more,
});
const publish = (server: object, ofExport: object = {}): object => ({
  export: {
    ...siteValues.export,
    mirror: { oci: { repository: `${registry}/docs/site`, secretRef: { name: 'mirror' } } },
    ...ofExport,
  },
  server,
});

suite('an upgrade from the previous release, and back', { skip: noRegistry }, () => {
  const timeline = createTimeline();
  const visits: Visits[] = [];
  const seen: string[] = [];
  let folder = '';
  let previous: PreviousSources;
  let images: TestImages;
  let older: Awaited<ReturnType<typeof buildPreviousImage>>;
  let nodes: TestNodes;
  let world: TwoCharts;
  let sure: Claims;
  let logs: PodLogs;
  let url = '';

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), `${ownPrefix()}previous-`));
    previous = await extractPreviousSources(folder);
    older = await buildPreviousImage(previous.folder);
    images = await buildTestImages();
    nodes = await startNode({ nodes: 2, images: [...images.archives, older.archive] });
    await startPlainRegistry(nodes, registry);
    world = await prepareTwoCharts(nodes);
    sure = createClaims(nodes, world);
    logs = await createPodLogs(nodes);
  });

  after(async () => {
    const ends = [nodes?.stop(), images?.remove(), older?.remove()];
    for (const end of await Promise.allSettled([...ends, rm(folder, { recursive: true, force: true })]))
      if (end.status === 'rejected') throw end.reason;
  });

  const say = async (t: TestContext, words: string): Promise<void> => {
    t.diagnostic(words);
    const file = process.env['E2E_REPORT'];
    if (file !== undefined) await appendFile(file, `${words.trimEnd()}\n\n`);
  };
  const install = async (release: string, chart: string, space: string, values: object): Promise<void> => {
    const path = join(previous.folder, 'charts', chart);
    await world.helm(['install', release, path, `--namespace=${space}`, ...patient], values);
  };
  const upgrade = async (release: string, chart: string, space: string, values: object): Promise<void> => {
    const path = join(today, 'charts', chart);
    await world.helm(['upgrade', release, path, `--namespace=${space}`, ...patient], values);
  };
  const back = (release: string, space: string): Promise<string> =>
    world.helm(['rollback', release, `--namespace=${space}`, ...patient]);
  const requestExport = async (words: string): Promise<void> => {
    await world.writeDocs(words);
    const request = `staticexport.dev/requestedAt=${words.replaceAll(' ', '-')}`;
    await world.kubectl(['annotate', 'staticexport', full, request, '--overwrite', inSite]);
    await sure.served(words);
  };
  /** The CRD is that of these sources. */
  const assertDefinition = async (sources: string): Promise<void> => {
    const path = '{.spec.versions[0].schema.openAPIV3Schema.properties.spec}';
    const crd = ['get', 'crd', 'staticexports.staticexport.dev', `--output=jsonpath=${path}`];
    const file = join(sources, 'crds/staticexports.staticexport.dev.yaml');
    const { spec } = parse(await readFile(file, 'utf8'));
    const { properties } = spec.versions[0].schema.openAPIV3Schema;
    assert.deepEqual(JSON.parse(await world.kubectl(crd)), properties.spec);
  };
  /** Every container of a namespace runs this image. */
  const assertImage = async (space: string, { repository, tag }: Image): Promise<void> => {
    const path = '--output=jsonpath={.spec.containers[*].image}';
    const images = (await listPods(nodes, space, '')).map((pod) =>
      world.kubectl(['get', 'pod', pod, `--namespace=${space}`, path]),
    );
    assert.deepEqual([...new Set(await Promise.all(images))], [`${repository}:${tag}`], space);
  };
  const typeOf = async (accept: string): Promise<string> => {
    const ask = ['curl', '--silent', '--output', '/dev/null', '--header', `Accept: ${accept}`];
    return (await nodes.run([...ask, '--write-out', '%{http_code} %{content_type}', `${url}/guide-3`]))
      .stdout;
  };
  /** What holds at the end of each phase. */
  const assertWhole = async (t: TestContext, { operator, site }: Versions): Promise<void> => {
    // The export service is one pod: while it is replaced, a refresh of the link is late.
    await sure.until('every condition is True', async () => {
      const statuses = await world.read('.status.conditions[*].status');
      return /^True( True)*$/.test(statuses) && (await sure.condition('Ready')) === 'Published';
    });
    await sure.rolledOut();
    // Those that go drain after the rollout has ended, and would be taken for servers of the next phase.
    const going = '--output=jsonpath={.items[*].metadata.deletionTimestamp}';
    await sure.until('the former pods are gone', async () => {
      const found = spaces.map((space) => world.kubectl(['get', 'pods', `--namespace=${space}`, going]));
      return (await Promise.all(found)).join('') === '';
    });
    await sure.agreeing();
    await assertImage(operatorSpace, operator);
    await assertImage(siteSpace, site);
    await say(t, `${await world.look()}${await assertStoredResource(nodes)}`);
    await logs.follow(spaces);
    assert.deepEqual(await restartedPods(nodes, spaces), [], 'pods that were started again');
    assert.deepEqual(logs.errors(), [], 'errors in the logs');
    seen.push(await world.read('.status.active.version'));
  };
  /** A phase of the table, with what holds at its end. */
  const phase =
    (name: string, versions: Versions, contents: number, work: () => Promise<void>) => (t: TestContext) =>
      timeline.step(name, contents, async () => {
        await work();
        await assertWhole(t, versions);
      });

  test('the previous release is installed, and its site is served', async (t) => {
    await say(t, `The previous release is ${previous.reference}.`);
    await timeline.step('install the previous release', 1, async () => {
      await world.writeDocs('first words');
      await world.writeKeys({ used: 'svc_first', accepted: ['svc_first'] });
      const login = { apiVersion: 'v1', kind: 'Secret', metadata: { namespace: siteSpace, name: 'mirror' } };
      await applyObjects(nodes, [{ ...login, stringData: { username: 'docs', password: 'of-this-test' } }]);
      await install('operator', 'static-export-operator', operatorSpace, operate(previousImage));
      await sure.until('the export service answers', () => world.isAccepted('svc_first'));
      await install('docs', 'static-export-site', siteSpace, publish(serve(previousImage)));
      url = await sure.served('first words');
      await createKeptVolumes(nodes);
      await install(keptRelease, 'static-export-site', siteSpace, keptValues(serve(previousImage)));
      await createSpareResource(nodes);
      await assertWhole(t, earlier);
    });
    await assertDefinition(previous.folder);
    const urls = ['/', '/guide-3', '/guide-7.html'].map((path) => `${url}${path}`);
    for (const order of [
      { perSecond: 20, keepsConnections: true },
      { perSecond: 20, keepsConnections: false },
      { perSecond: 10, keepsConnections: true, revalidates: true },
      { perSecond: 10, keepsConnections: false, firstBytes: 40 },
    ]) {
      visits.push(startVisits(nodes, { urls, ...order }));
    }
    const kept = `http://${await clusterIp(nodes, siteSpace, keptService)}/guide-3`;
    visits.push(startVisits(nodes, { urls: [kept], perSecond: 10, keepsConnections: true }));
    timeline.watch(visits);
  });

  test('the operator is upgraded, and the site stays as it is', async (t) => {
    await phase('upgrade the operator', mixed, 1, () =>
      sure.untouched(() =>
        upgrade('operator', 'static-export-operator', operatorSpace, operate(productImage)),
      ),
    )(t);
    await assertDefinition(today);
  });

  test('the site is upgraded, with search and Markdown', async (t) => {
    const jobs = await world.jobsStarted();
    await phase('upgrade the sites, with new fields', newest, forms, async () => {
      const servers = { search: { enabled: true }, markdown: { enabled: true } };
      const transform = { transform: { search: 'Enabled' } };
      const server = serve(productImage, servers);
      await upgrade('docs', 'static-export-site', siteSpace, publish(server, transform));
      await sure.until(
        'a version with a search is published',
        async () => (await world.read('.status.active.repair')) === 'search',
      );
      await sure.agreeing();
      await upgrade(keptRelease, 'static-export-site', siteSpace, keptValues(server));
    })(t);
    await assertFromVolume(nodes, await world.read('.status.active.digest'));
    assert.equal(await world.jobsStarted(), jobs, 'no job was started');
    assert.match(await typeOf('text/markdown'), /^200 text\/markdown/);
    const search = await nodes.run(['curl', '--silent', '--fail', `${url}/_sx/search/search.js`]);
    assert.equal(search.code, 0, 'the search is served');
  });

  test(
    'an edit is published by the new operator, and served by new servers',
    phase('edit the docs', newest, 2 * forms, () => requestExport('second words')),
  );

  test('the site is rolled back, and the operator publishes without the new fields', async (t) => {
    await phase('roll the sites back', mixed, 2 * forms, async () => {
      await back('docs', siteSpace);
      // The command of docs/upgrade.md.
      const ready = ['--for=condition=Ready', '--timeout=10m'];
      await world.kubectl(['wait', `staticexport/${full}`, inSite, ...ready]);
      assert.equal(
        await world.read('.status.active.repair'),
        '',
        'it waits for the version without a search',
      );
      await sure.agreeing();
      await back(keptRelease, siteSpace);
    })(t);
    await assertFromVolume(nodes, await world.read('.status.active.digest'));
    assert.match(await typeOf('text/markdown'), /^200 text\/html/);
  });

  test('the operator is rolled back, reads the status of the new one, and starts no job', async (t) => {
    await phase('roll the operator back', earlier, 2 * forms, () =>
      sure.untouched(async () => {
        await back('operator', operatorSpace);
        const since = await sure.linkIssuedAt();
        await sure.freshLink(since);
      }),
    )(t);
    await assertDefinition(previous.folder);
    await sure.served('second words');
  });

  test(
    'an edit is published by the operator of before',
    phase('edit the docs again', earlier, 2 * forms + 1, () => requestExport('third words')),
  );

  test('every visitor got an answer, also for a page that it has, and for a part of one', async (t) => {
    await say(t, timeline.table());
    const tallies = await Promise.all(visits.map((one) => one.stop()));
    await logs.stop();
    await say(t, tallies.map(({ statuses }) => JSON.stringify(statuses)).join('\n'));
    for (const tally of tallies) assert.equal(tally.failed, 0, tally.examples.join('\n'));
    assert.equal(tallies.length, 5);
    const [, , revalidated, parts] = tallies;
    assert.ok((revalidated?.statuses['304'] ?? 0) > (revalidated?.statuses['200'] ?? 0));
    assert.deepEqual(Object.keys(parts?.statuses ?? {}), ['206']);
    assert.ok(logs.count() > 0, 'the logs were read');
    await say(t, seen.join('\n'));
  });
});
