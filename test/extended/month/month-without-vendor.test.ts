// Thirty days behind an air gap, with requests: the vendor is dead from the first day, a node is drained each day, the site
// scales from 2 to 5 and back to 2, and one rollback changes `bundle.json` back. Real: the servers, their empty disks, the registry, every
// request. Played: nodes, evictions and the Service (played-site.ts). A day takes as long as its work: nothing in a server
// waits for days. The days of the operator are simulated in test/simulation/rules-of-the-mirror.test.ts, and
// test/e2e/air-gap.test.ts drains real nodes.

import assert from 'node:assert/strict';
import { after, before, suite, type TestContext, test } from 'node:test';
import { formatReference } from '#mirror/mirror-reference.ts';
import { bundleDocument, makeSite } from '../../integration/server/archive.ts';
import {
  copySite,
  mountSecret,
  reach,
  registrySecret,
  users,
} from '../../integration/server/mirrored-site.ts';
import { type ChildProgram, startProgram } from '../../support/child-program.ts';
import { type DockerRegistry, noRegistry, startDockerRegistry } from '../../support/docker-registry.ts';
import { findFreePort } from '../../support/free-port.ts';
import { startVisits, type Visits } from '../../support/node/visits.ts';
import { type PlayedSite, playSite } from './played-site.ts';

const nodes = ['node-1', 'node-2', 'node-3'];
const days = { scaleOut: 8, scaleIn: 11, rollback: 18, last: 30 };

interface Version {
  readonly digest: string;
  readonly document: string;
}

suite('thirty days without the vendor', { skip: noRegistry }, () => {
  const visits: Visits[] = [];
  const sources = new Map<string, number>();
  let registry: DockerRegistry;
  let site: PlayedSite;
  let first: Version;
  let second: Version;

  before(async () => {
    registry = await startDockerRegistry({ users });
    const repository = `${registry.host}/docs/site`;
    // No program listens there: the vendor of both links.
    const vendor = `http://127.0.0.1:${await findFreePort()}`;
    const mirror = async (version: string): Promise<Version> => {
      const access = { secret: registrySecret };
      const { digest, image } = await copySite(`oci://${repository}`, access, makeSite(version));
      const ref = formatReference({ kind: 'oci', repository, manifestDigest: image.manifestDigest });
      return { digest, document: bundleDocument({ version, link: `${vendor}/${version}`, digest, ref }) };
    };
    [first, second] = [await mirror('v1'), await mirror('v2')];
    site = await playSite(nodes);
  });
  after(async () => {
    await Promise.allSettled(visits.map((one) => one.stop()));
    await site?.close();
    await registry?.close();
  });

  /** New servers copy from the others, or know themselves alone and so read the registry. */
  const startWithPeers = (hasPeers: boolean): void =>
    site.startWith(async (served, others) => {
      const secret = await mountSecret(served, { username: 'docs', password: users.docs });
      const peers = [new URL(served.admin).host, ...(hasPeers ? others : [])];
      return ['--mirror-credentials', secret, ...reach, '--peers', peers.join(',')];
    });
  const agree = async ({ digest }: Version): Promise<void> => {
    for (const { served } of site.servers()) {
      await served.until('the published bundle is served', ({ active }) => active?.digest === digest);
    }
  };
  /** Counts where the servers that are new since the last call have their bundle from. */
  const counted = new Set<unknown>();
  const countSources = async (): Promise<void> => {
    for (const { served } of site.servers()) {
      if (counted.has(served)) continue;
      counted.add(served);
      const { source } = await served.status();
      const kind = source.kind ?? 'none';
      sources.set(kind, (sources.get(kind) ?? 0) + 1);
    }
  };

  const visit = (): void => {
    const urls = ['/', '/guides/page-3', '/guides/page-7.html'].map((path) => `${site.url}${path}`);
    const start = ([file = '', ...args]: readonly string[], more: object = {}): ChildProgram =>
      startProgram(file, { ...more, args });
    for (const keepsConnections of [true, false]) {
      visits.push(startVisits({ start }, { urls, perSecond: 25, keepsConnections, resends: true }));
    }
  };
  const playDay = async (day: number): Promise<void> => {
    startWithPeers(day % 2 === 1);
    const node = nodes[day % nodes.length] ?? '';
    await site.drain(node);
    assert.ok(!site.servers().some((server) => server.node === node), `${node} is empty`);
    await countSources();
    if (day === days.scaleOut) await site.scale(5);
    if (day === days.scaleIn) await site.scale(2);
    if (day === days.rollback) await site.publish(first.document);
    await agree(day < days.rollback ? second : first);
    assert.equal(site.servers().length, day < days.scaleOut || day >= days.scaleIn ? 2 : 5);
    for (const { tally } of visits) {
      assert.equal(tally().failed, 0, `day ${day}: ${tally().examples.join('\n')}`);
    }
  };

  // A busy machine takes minutes for what an idle one does in one.
  const patient = { timeout: 900_000 };
  test(
    'no request fails while nodes are drained and the site is rolled back',
    patient,
    async (t: TestContext) => {
      startWithPeers(false);
      await site.publish(first.document);
      await site.scale(2);
      await site.publish(second.document);
      await agree(second);
      visit();
      for (let day = 1; day <= days.last; day += 1) await playDay(day);
      const tallies = await Promise.all(visits.map((one) => one.stop()));
      const sum = (name: 'requests' | 'resent'): number =>
        tallies.reduce((all, tally) => all + tally[name], 0);
      const from = [...sources].map(([kind, count]) => `${count} from ${kind}`).join(', ');
      t.diagnostic(`${days.last} days, ${site.started()} servers started (${from})`);
      t.diagnostic(`${sum('requests')} requests, ${sum('resent')} of them sent a second time`);
      for (const tally of tallies) {
        assert.equal(tally.failed, 0, tally.examples.join('\n'));
        assert.ok(tally.requests > 500, `${tally.requests} requests`);
        assert.equal(Object.keys(tally.contents).length, 6, 'each of three pages in both versions');
      }
      assert.deepEqual([...sources.keys()].sort(), ['mirror', 'peer']);
    },
  );
});
