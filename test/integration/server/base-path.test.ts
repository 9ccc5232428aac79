// The base path of an export, with the real program: bundle.json names it, a swap changes it with the content, a restart
// without bundle.json still knows it, and a flag that contradicts it leaves what is served as it is.

import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { bundleDocument, makeArchive, makeSite } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

let links: LinkServer;
let served: ServedSite;

beforeEach(async () => {
  links = await startLinkServer();
  served = await prepareSite();
  for (const version of ['v1', 'v2']) links.put(version, await makeArchive(makeSite(version)));
});
afterEach(async () => {
  await served.remove();
  await links.close();
});

const publish = (version: string, basePath?: string): Promise<void> =>
  served.mount(
    bundleDocument({ version, link: links.link(version), ...(basePath !== undefined && { basePath }) }),
  );
const serves = (version: string): Promise<unknown> =>
  served.until(`${version} is served`, ({ active }) => active?.version === version);
const statusOf = async (path: string): Promise<number> =>
  (await fetch(served.site + path, { redirect: 'manual' })).status;
const under = async (): Promise<string> => {
  const paths = ['', '/docs', '/documentation'];
  const codes = await Promise.all(paths.map((path) => statusOf(`${path}/guides/page-1`)));
  return paths.filter((_, at) => codes[at] === 200).join();
};

for (const fastPath of ['true', 'false']) {
  test(`the path of bundle.json is swapped with its content and survives a restart (fast path: ${fastPath})`, async () => {
    await publish('v1', '/docs');
    await served.start('--fast-path', fastPath);
    await serves('v1');
    assert.deepEqual([await under(), await statusOf('/docs')], ['/docs', 301]);
    await publish('v2', '/documentation');
    await serves('v2');
    assert.equal(await under(), '/documentation');
    await served.kill();
    await served.mount(undefined);
    await served.start('--fast-path', fastPath);
    await serves('v2');
    assert.equal(await under(), '/documentation');
  });
}

test('a bundle.json without a path is served at the root, and under a flag under its path', async () => {
  await publish('v1');
  await served.start();
  await serves('v1');
  assert.equal(await under(), '');
  assert.equal(await statusOf('/guides/page-1'), 200);
  await served.kill();
  await served.start('--base-path', '/docs');
  await serves('v1');
  assert.equal(await under(), '/docs');
});

test('a flag that contradicts bundle.json is an error: not ready at a start, and later no swap', async () => {
  await publish('v1', '/docs');
  await served.start('--base-path', '/documentation');
  const { source } = await served.until('the conflict', (status) => status.source.lastError !== null);
  assert.equal(source.lastError?.code, 'BasePathConflict');
  const ready = await fetch(`${served.admin}/readyz`);
  assert.equal(ready.status, 503);
  assert.match(
    await ready.text(),
    /names basePath \/docs, but --base-path is \/documentation; remove --base-path \(site\.basePath of the chart\), or export the site for \/documentation/,
  );
  await publish('v1', '/documentation');
  await serves('v1');
  await publish('v2', '/docs');
  await served.until('the conflict', (status) => status.source.lastError?.code === 'BasePathConflict');
  assert.equal(await under(), '/documentation');
  await served.kill();
  await served.start('--base-path', '/docs');
  await serves('v2');
  assert.equal(await under(), '/docs');
});
