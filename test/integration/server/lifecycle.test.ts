// The life of a served site, with the real program: first start, fresh links, swaps under load, links that
// die, archives that are rejected, a kill, a restart without anybody to ask, and a stop.

import assert from 'node:assert/strict';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { bundleDocument, makeArchive, makeSite } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

let links: LinkServer;
let served: ServedSite;

beforeEach(async () => {
  links = await startLinkServer();
  served = await prepareSite();
  for (const version of ['v1', 'v2', 'v3']) links.put(version, await makeArchive(makeSite(version)));
});
afterEach(async () => {
  await served.remove();
  await links.close();
});

const publish = (version: string, name?: string, digest?: string): Promise<void> =>
  served.mount(bundleDocument({ version, link: links.link(version, name), digest }));
const serves = (version: string): Promise<unknown> =>
  served.until(`${version} is served`, ({ active }) => active?.version === version);
const get = (path: string, init?: RequestInit): Promise<Response> => fetch(served.site + path, init);

test('swaps under steady requests: no failed answer, no torn page, never back to the older version', async () => {
  await publish('v1');
  await served.start();
  await serves('v1');
  const seen: string[][] = [[], [], [], []];
  let isDone = false;
  const visit = async (mine: string[]): Promise<void> => {
    for (let at = 0; !isDone; at = (at + 1) % 30) {
      const page = await get(`/guides/page-${at}`);
      const text = await page.text();
      assert.equal(page.status, 200);
      const [version, ...others] = new Set(text.match(/v[123](?=\.js|<)/g));
      assert.deepEqual(others, [], 'a page of two versions');
      const asset = await get(/src="([^"]+)"/.exec(text)?.[1] ?? '/none');
      assert.equal(asset.status, 200, 'the page was served and its asset was not');
      await asset.text();
      mine.push(version ?? 'none');
    }
  };
  const visitors = Promise.all(seen.map(visit));
  for (const version of ['v1', 'v2', 'v3']) {
    await publish(version);
    await serves(version);
    await Promise.race([
      visitors,
      eventually(`everybody has seen ${version}`, () =>
        seen.every((mine) => mine.at(-1) === version) ? true : undefined,
      ),
    ]);
  }
  isDone = true;
  await visitors;
  for (const mine of seen) assert.deepEqual(mine, mine.toSorted(), 'a visitor was sent back in time');
  const { previous, swaps } = await served.status();
  assert.deepEqual([previous.map(({ version }) => version), swaps], [['v2'], 2]);
  assert.equal((await get('/assets/app.BxYz12_v2.js')).status, 200, 'the former version’s asset');
  await served.kill();
  await served.start();
  await serves('v3');
  await served.until('the former version is open again', (status) => status.previous.length === 1);
  assert.equal((await get('/assets/app.BxYz12_v2.js')).status, 200, 'also after a restart');
  assert.equal((await get('/assets/app.BxYz12_v1.js')).status, 404);
});

test('content other than the published digest is refused', async () => {
  await publish('v1', 'first', 'f'.repeat(64));
  await served.start();
  const { source } = await served.until('the refusal', (status) => status.source.state === 'rejected');
  assert.equal(source.lastError?.code, 'DigestMismatch');
  assert.equal((await get('/')).status, 503);
});

test('a file link in bundle.json needs --allow-file-links, not --allow-private-links', async () => {
  const archive = join(served.folder, 'carried.tar.gz');
  await writeFile(archive, await makeArchive(makeSite('v1')));
  await served.mount(bundleDocument({ version: 'v1', link: `file://${archive}` }));
  await served.start();
  const { source } = await served.until('the refusal', (status) => status.source.state === 'rejected');
  assert.equal(source.lastError?.code, 'FileLink');
  await served.child().stop('SIGKILL');
  await served.start('--allow-file-links');
  await serves('v1');
});

test('killed and restarted with an expired link and without peers, it serves the same bytes from disk', async () => {
  await publish('v1');
  await served.start();
  await serves('v1');
  const { active } = await served.status();
  const before = await (await get('/guides/page-7')).text();
  await served.kill();
  await links.close();

  const documents: readonly (readonly [string, string | undefined])[] = [
    ['the same version', bundleDocument({ version: 'v1', link: links.link('v1'), digest: active?.digest })],
    [
      'a version that cannot be fetched',
      bundleDocument({ version: 'v2', link: links.link('v2'), digest: 'f'.repeat(64) }),
    ],
    ['no document', undefined],
    ['a broken document', '{"version":'],
  ];
  for (const [name, document] of documents) {
    await served.mount(document);
    await served.start();
    await serves('v1');
    const status = await served.status();
    assert.equal(status.active?.digest, active?.digest, name);
    assert.equal(status.active?.activatedAt, active?.activatedAt, `${name}: since when it is served`);
    assert.equal(status.source.kind, 'disk', name);
    assert.equal(await (await get('/guides/page-7')).text(), before, name);
    assert.equal((await fetch(`${served.admin}/readyz`)).status, 200, name);
    await served.kill();
  }
  links = await startLinkServer();
});

test('a damaged copy on disk is not served; the bundle is fetched again', async () => {
  await publish('v1');
  await served.start();
  await serves('v1');
  const { active } = await served.status();
  await served.kill();
  await writeFile(join(served.store, 'bundles', active?.digest ?? '', 'pack'), 'damaged');
  await served.start();
  await serves('v1');
  assert.equal((await served.status()).source.kind, 'link');
  assert.equal(links.requests(), 2);
});

test('with the last good version damaged and its link expired, the one before it is served and the log says why', async () => {
  for (const version of ['v1', 'v2']) {
    await publish(version);
    if (version === 'v1') await served.start();
    await serves(version);
  }
  const { active } = await served.status();
  await served.kill();
  links.misbehave((response) => response.writeHead(403).end());
  await writeFile(join(served.store, 'bundles', active?.digest ?? '', 'pack'), 'damaged');
  await served.start();
  await serves('v1');
  assert.match(await (await get('/')).text(), /version v1/);
  await served.said(/set a damaged bundle of the store aside/);
  const metrics = await (await fetch(`${served.admin}/metrics`)).text();
  assert.match(metrics, /^bundle_server_damaged_copies_total 1$/m);
});

test('a plain link and a version: file links too, and nothing is fetched again after a restart', async () => {
  const archive = join(served.folder, 'export.tar.gz');
  await writeFile(archive, await makeArchive(makeSite('plain')));
  const flags = [
    '--bundle-url',
    `file://${archive}`,
    '--version',
    'v7',
    '--base-path',
    '/docs',
    '--deployment-type',
    'AirGapped',
    '--header',
    'Referrer-Policy: no-referrer',
    '--header',
    'Strict-Transport-Security: max-age=63072000',
  ];
  await served.start(...flags);
  await serves('v7');
  const page = await get('/docs/guides/page-1');
  assert.equal(page.status, 200);
  for (const path of ['/docs/guides/page-1', '/docs', '/docs/none', '/%2f']) {
    const { headers } = await get(path, { redirect: 'manual' });
    assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
    assert.equal(headers.get('strict-transport-security'), 'max-age=63072000', path);
  }
  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'self'/);
  await served.said(
    /loads .*app\.BxYz12_plain\.js.*export the site for the base path \/docs, or correct --base-path/,
  );
  const redirect = await get('/docs', { redirect: 'manual' });
  assert.deepEqual([redirect.status, redirect.headers.get('location')], [301, './docs/']);
  await served.kill();
  await writeFile(archive, 'gone');
  await served.start(...flags);
  await serves('v7');
  assert.equal((await served.status()).source.kind, 'disk');
});

test('a file without a version: another one in its place is served, while the server runs and after a restart', async () => {
  const archive = join(served.folder, 'export.tar.gz');
  const showing = async (version: string): Promise<true | undefined> =>
    (await (await get('/')).text()).includes(`version ${version}`) ? true : undefined;
  const put = async (version: string): Promise<void> => {
    await writeFile(`${archive}.next`, await makeArchive(makeSite(version)));
    await rename(`${archive}.next`, archive);
  };
  await served.start('--bundle-url', `file://${archive}`);
  await served.until('the file is missed', (status) => status.source.lastError?.code === 'FileUnreadable');
  await put('v1');
  await eventually('v1 is served', () => showing('v1'));
  await put('v2');
  await eventually('v2 is served', () => showing('v2'));
  assert.equal((await served.status()).swaps, 1);
  // Written in place, and not whole when it is looked at: refused, and taken once it is.
  const whole = await makeArchive(makeSite('v3'));
  await writeFile(archive, whole.subarray(0, whole.length / 2));
  await served.until('half an archive is rejected', (status) => status.source.state === 'rejected');
  assert.ok(await showing('v2'));
  await writeFile(archive, whole);
  await eventually('v3 is served', () => showing('v3'));
  await put('v3');
  await served.until('the same content is known', (status) => status.source.state === 'in-sync');
  assert.equal((await served.status()).swaps, 2);
  await served.kill();
  await put('v1');
  await served.start('--bundle-url', `file://${archive}`);
  await eventually('what is there at the start is served', () => showing('v1'));
});

test('signals that other servers know: HUP changes nothing, QUIT drains like TERM', async () => {
  await publish('v1');
  await served.start();
  await serves('v1');
  process.kill(served.child().pid, 'SIGHUP');
  await served.said(/SIGHUP has no effect/);
  assert.equal((await get('/')).status, 200);
  await served.child().stop('SIGQUIT');
  assert.equal(await served.child().exited, 0);
  await served.said(/SIGQUIT.*stopping/);
});
