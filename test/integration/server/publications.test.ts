// What a running server makes of what is published: a first bundle, fresh links, links that expire, archives that are rejected,
// and a store that loses its bundle. The server runs in the test's process; lifecycle.test.ts has the program.

import assert from 'node:assert/strict';
import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { eventually } from '../../support/eventually.ts';
import { bundleDocument, makeArchive, makeSite } from './archive.ts';
import { signature } from './link-server.ts';
import { siteForEachTest } from './server-here.ts';

const here = siteForEachTest();
beforeEach(async () => {
  for (const version of ['v1', 'v2', 'v3']) here.links.put(version, await makeArchive(makeSite(version)));
});

const publish = (version: string, name?: string, digest?: string): Promise<void> =>
  here.served.mount(bundleDocument({ version, link: here.links.link(version, name), digest }));
const serves = (version: string): Promise<unknown> =>
  here.served.until(`${version} is served`, ({ active }) => active?.version === version);
const get = (path: string, init?: RequestInit): Promise<Response> => fetch(here.served.site + path, init);

test('a first start answers 503 with a reason until a whole bundle is served', async () => {
  await here.served.start();
  await here.served.until(
    'bundle.json is missed',
    (status) => status.source.state === 'waiting-for-bundle-json',
  );
  const early = await get('/');
  assert.equal(early.status, 503);
  assert.equal(early.headers.get('retry-after'), '5');
  const unready = await fetch(`${here.served.admin}/readyz`);
  assert.equal(unready.status, 503);
  assert.match(await unready.text(), /no bundle served yet: no bundle\.json found;/);
  assert.equal((await fetch(`${here.served.admin}/livez`)).status, 200);

  await publish('v1');
  await serves('v1');
  assert.equal((await fetch(`${here.served.admin}/readyz`)).status, 200);
  for (const path of ['/', '/guides/page-3', '/guides/page-3.html']) {
    const page = await get(path);
    assert.equal(page.status, 200, path);
    assert.match(await page.text(), /version v1/);
  }
  const absent = await get('/nothing');
  assert.equal(absent.status, 404);
  assert.match(await absent.text(), /not found.*version v1/);
  const { source, active } = await here.served.until(
    'in sync',
    (status) => status.source.state === 'in-sync',
  );
  assert.deepEqual([source.kind, active?.files], ['link', 33]);
});

test('fresh links for the same version cause no request, no swap, and no change of anything served', async () => {
  await publish('v1');
  await here.served.start();
  await serves('v1');
  const before = (await get('/')).headers.get('etag');
  const { active } = await here.served.status();
  for (const name of ['second', 'third', 'fourth']) {
    const { lastCheckedAt } = await here.served.status();
    await publish('v1', name, active?.digest);
    await here.served.until('the document was looked at', (status) => status.lastCheckedAt !== lastCheckedAt);
  }
  assert.equal(here.links.requests(), 1);
  assert.equal((await here.served.status()).swaps, 0);
  assert.equal((await get('/')).headers.get('etag'), before);
});

test('bundle.json with only a link: a changed link is downloaded, and swapped in if its content differs', async () => {
  here.links.put('same', await makeArchive(makeSite('v1')));
  await here.served.mount(JSON.stringify({ bundleUrl: here.links.link('v1') }));
  await here.served.start();
  const { active } = await here.served.until('the site is served', (status) => status.active !== null);
  await here.served.mount(JSON.stringify({ bundleUrl: here.links.link('same') }));
  await here.served.until(
    'the same content was fetched',
    ({ source }) => here.links.requests() === 2 && source.state === 'in-sync',
  );
  assert.equal((await here.served.status()).swaps, 0);
  await here.served.mount(JSON.stringify({ bundleUrl: here.links.link('v2') }));
  await here.served.until('v2 is served', (status) => status.active?.digest !== active?.digest);
  assert.match(await (await get('/')).text(), /version v2/);
});

test('going back to the former version is done from disk', async () => {
  await publish('v1');
  await here.served.start();
  await serves('v1');
  const { active } = await here.served.status();
  await publish('v2');
  await serves('v2');
  here.links.misbehave((response) => response.writeHead(403).end('Request has expired'));
  await publish('v1', 'dead', active?.digest);
  await serves('v1');
  assert.equal(here.links.requests(), 2);
  assert.equal((await here.served.status()).source.kind, 'disk');
});

test('an expired link is reported, the old version stays up, and a new link ends it', async () => {
  await publish('v1');
  await here.served.start();
  await serves('v1');
  here.links.misbehave((response) =>
    response.writeHead(403).end(`<Error>Request has expired ${signature}</Error>`),
  );
  await publish('v2');
  const status = await here.served.until(
    'the dead link',
    ({ source }) => source.state === 'waiting-for-link',
  );
  assert.equal(status.source.lastError?.code, 'LinkExpired');
  assert.match(await (await get('/')).text(), /version v1/);
  here.links.misbehave(undefined);
  await publish('v2', 'fresh');
  await serves('v2');
  await here.served.page('/metrics');
});

test('a rejected archive is reported and fetched once; the old version stays up', async () => {
  await publish('v1');
  await here.served.start();
  await serves('v1');
  const whole = await makeArchive(makeSite('torn'));
  const archives: readonly (readonly [string, Buffer])[] = [
    ['climbing', await makeArchive({ 'index.html': 'x', '../../etc/cron.d/x': 'x' })],
    ['torn', whole.subarray(0, whole.length / 2)],
    ['empty', await makeArchive({})],
  ];
  for (const [name, body] of archives) {
    here.links.put(name, body);
    const before = here.links.requests();
    await publish(name);
    const { source } = await here.served.until(
      `${name} is refused`,
      // The status may be older than the request that is counted.
      (status) =>
        status.source.published?.version === name &&
        status.source.state === 'rejected' &&
        here.links.requests() > before,
    );
    assert.ok(source.lastError, name);
    assert.equal(here.links.requests(), before + 1, name);
    assert.ok(source.retryAt, name);
    assert.match(await (await get('/')).text(), /version v1/);
  }
  const metrics = await (await fetch(`${here.served.admin}/metrics`)).text();
  assert.match(metrics, /bundle_server_downloads_total\{outcome="rejected"\} 3/);
  await publish('v2');
  await serves('v2');
});

test('an HTML page instead of the archive is a transient error, not a verdict', async () => {
  here.links.put('v1', Buffer.from('<!doctype html><title>Maintenance</title>'.repeat(50)));
  await publish('v1');
  await here.served.start();
  const { source } = await here.served.until(
    'the back-off',
    (status) => status.source.state === 'backing-off',
  );
  assert.equal(source.lastError?.code, 'HtmlInsteadOfArchive');
  here.links.put('v1', await makeArchive(makeSite('v1')));
  await serves('v1');
});

test('a link into the cluster is not asked unless the flag allows it', async () => {
  await publish('v1');
  await here.served.start('--allow-private-links=false');
  const { source } = await here.served.until(
    'the back-off',
    (status) => status.source.state === 'backing-off',
  );
  assert.equal(source.lastError?.code, 'PrivateLink');
  assert.equal(here.links.requests(), 0);
});

test('a store that loses the served bundle is reported once, and the running server obtains it again', async () => {
  await publish('v1');
  await here.served.start();
  await serves('v1');
  const { active } = await here.served.status();
  await here.served.settle();
  await publish('v1', 'second', active?.digest);
  await truncate(join(here.served.store, 'bundles', active?.digest ?? '', 'pack'), 10);
  const pages = Array.from({ length: 10 }, (_, at) => `/guides/page-${at}`);
  const statuses = await Promise.all(pages.map(async (path) => (await get(path)).status));
  assert.ok(statuses.includes(500), statuses.join());
  await eventually('every page is whole again', async () => {
    const texts = await Promise.all(pages.map(async (path) => (await get(path)).text()));
    return texts.every((text) => text.includes('version v1')) ? true : undefined;
  });
  assert.equal(here.links.requests(), 2);
  await here.served.until('in sync', (status) => status.source.state === 'in-sync');
  const told = here.served.output().match(/"code":"StoreUnreadable"/g);
  assert.equal(told?.length, 1);
});

test('with --readiness=always a sidecar is ready from the start', async () => {
  await here.served.start('--readiness', 'always');
  assert.equal((await fetch(`${here.served.admin}/readyz`)).status, 200);
  assert.equal((await get('/')).status, 503);
});
