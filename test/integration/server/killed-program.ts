// kill -9 of the whole program while it stores what it serves, and amid a swap. Whatever is left: one whole version, or
// nothing. When it is killed is the caller's.

import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { eventually } from '../../support/eventually.ts';
import { noise } from '../../support/noise.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { bundleDocument, makeArchive, makeSite } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { ask } from './raw-client.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

export interface Watched {
  readonly served: ServedSite;
  readonly links: LinkServer;
  /** The version that is published. */
  readonly version: string;
  /** How many requests for archives there were before it was published. */
  readonly asked: number;
}

/** Resolves when the program is to be killed. */
export type Moment = (watched: Watched) => Promise<unknown>;

/** From the moment on at which the first version is served. No half copy is served after the next start. */
export async function killStores(moments: readonly Moment[]): Promise<void> {
  const links = await startLinkServer();
  const served = await prepareSite();
  try {
    links.put('v1', tarOf({ ...makeSite('v1'), 'large.bin': noise(30_000_000) }));
    await served.mount(bundleDocument({ version: 'v1', link: links.link('v1') }));
    const home = (): Promise<string> =>
      fetch(served.site).then(
        async (answer) => (answer.status === 200 ? answer.text() : ''),
        () => '',
      );
    for (const [at, moment] of moments.entries()) {
      await rm(served.store, { recursive: true, force: true });
      const asked = links.requests();
      await served.start();
      await eventually('v1 is served', async () => ((await home()).includes('v1') ? true : undefined));
      await moment({ served, links, version: 'v1', asked });
      await served.child().stop('SIGKILL');
      links.misbehave((response) => response.writeHead(403).end());
      await served.start();
      const { active, source } = await served.until(
        'the disk and the link were read',
        (status) => status.active !== null || status.source.lastError !== null,
      );
      assert.equal(active === null, (await home()) === '', `${source.state} after moment ${at + 1}`);
      const names = await readdir(served.store);
      assert.deepEqual(
        names.filter((name) => name.startsWith('.')),
        [],
        'what was half done is removed',
      );
      if (active !== null) {
        const large = Buffer.from(await (await fetch(`${served.site}/large.bin`)).arrayBuffer());
        assert.equal(large.length, 30_000_000);
      }
      links.misbehave(undefined);
      await served.child().stop('SIGKILL');
    }
  } finally {
    await served.remove();
    await links.close();
  }
}

/** From the moment on at which the next version is published; one swap for each. */
export async function killSwaps(moments: readonly Moment[]): Promise<void> {
  const links = await startLinkServer();
  const served = await prepareSite();
  try {
    const versions = ['v1', ...moments.map((_, at) => `v${at + 2}`)];
    for (const version of versions) links.put(version, await makeArchive(makeSite(version)));
    await served.mount(bundleDocument({ version: 'v1', link: links.link('v1') }));
    await served.start();
    await served.until('v1 is served', ({ active }) => active?.version === 'v1');
    await served.settle();
    let former = 'v1';
    for (const [at, version] of versions.slice(1).entries()) {
      const asked = links.requests();
      await served.mount(bundleDocument({ version, link: links.link(version) }));
      await moments[at]?.({ served, links, version, asked });
      await served.child().stop('SIGKILL');
      links.misbehave((response) => response.writeHead(403).end());
      await served.start();
      const { active } = await served.until('something is served', (status) => status.active !== null);
      assert.ok(active?.version === former || active?.version === version, `${active?.version} is served`);
      const { body } = await ask(served.port, '/guides/page-7');
      assert.deepEqual([...new Set(body.match(/v\d(?=\.js|<)/g))], [active?.version]);
      links.misbehave(undefined);
      await served.child().stop('SIGKILL');
      await served.start();
      await served.until(`${version} is served`, (status) => status.active?.version === version);
      await served.settle();
      former = version;
    }
  } finally {
    await served.remove();
    await links.close();
  }
}
