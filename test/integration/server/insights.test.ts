// What readers do not find, from outside: the real program on both ways of answering, its status, its metrics, its log and
// its store.

import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { z } from 'zod';
import { bundleDocument, makeArchive } from './archive.ts';
import { type LinkServer, startLinkServer } from './link-server.ts';
import { prepareSite, type ServedSite } from './served-site.ts';

let links: LinkServer;
let served: ServedSite;

before(async () => {
  links = await startLinkServer();
  served = await prepareSite();
  links.put('v1', await makeArchive({ 'index.html': 'home', '404.html': 'nothing here' }));
  links.put('v2', await makeArchive({ 'index.html': 'home', 'guide/old.html': 'back again' }));
});
after(async () => {
  await served.remove();
  await links.close();
});

const list = z.object({
  requests: z.number(),
  leftOut: z.number(),
  top: z.array(z.looseObject({ count: z.number() })),
});
const shape = z.object({ insights: z.object({ missingAddresses: list, emptySearches: list }).nullable() });
const insights = async () => shape.parse(JSON.parse(await served.page('/status'))).insights;

async function serve(version: string, ...flags: readonly string[]): Promise<void> {
  await served.mount(bundleDocument({ version, link: links.link(version) }));
  if (flags.length > 0) await served.start(...flags);
  await served.until(`${version} is served`, ({ active }) => active?.version === version);
}

async function ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { status, body } = await fetch(`${served.site}${path}`, { headers, redirect: 'manual' });
  await body?.cancel();
  return status;
}

for (const fastPath of ['true', 'false']) {
  test(`what readers do not find is in /status and in metrics, with --fast-path=${fastPath}`, async () => {
    await serve('v1', '--base-path=/docs', `--fast-path=${fastPath}`);
    for (const path of ['/docs/guide/old?email=jane@example.com', '/docs/guide/old', '/docs/', '/docs/.env'])
      await ask(path);
    const search = (text: string): string => `/docs/_sx/search/none?q=${encodeURIComponent(text)}`;
    assert.equal(await ask(search(' Retry  Policy'), { 'Sec-Fetch-Site': 'same-origin' }), 204);
    assert.equal(await ask(search('from elsewhere'), { 'Sec-Fetch-Site': 'cross-site' }), 204);
    assert.equal(await ask(search('jane@example.com')), 204);
    const found = (await insights()) ?? assert.fail('no lists');
    const { requests, leftOut, top } = found.missingAddresses;
    assert.deepEqual([requests, leftOut], [3, 1]);
    assert.deepEqual(
      top.map(({ address, count }) => [address, count]),
      [['/docs/guide/old', 2]],
    );
    assert.deepEqual([found.emptySearches.requests, found.emptySearches.leftOut], [3, 2]);
    assert.deepEqual(
      found.emptySearches.top.map(({ text, count }) => [text, count]),
      [['retry policy', 1]],
    );
    const metrics = await served.page('/metrics');
    assert.match(metrics, /^bundle_server_missing_addresses_total\{outcome="listed"\} 2$/m);
    assert.match(metrics, /^bundle_server_empty_searches_total\{outcome="left-out"\} 2$/m);
    assert.doesNotMatch(metrics, /guide|retry/);

    await serve('v2');
    assert.deepEqual((await insights())?.missingAddresses.top, [], 'the new version has it');
    await served.kill();
  });
}

test('no text of a reader is in the log or in the store, and a restart begins again', async () => {
  await serve('v1', '--base-path=/docs');
  await ask('/docs/only-in-memory');
  await ask('/docs/_sx/search/none?q=only-in-memory');
  await served.kill();
  const files = await readdir(served.store, { recursive: true, withFileTypes: true });
  const stored = files.filter((file) => file.isFile());
  assert.ok(stored.length > 0);
  for (const { parentPath, name } of stored)
    assert.ok(!(await readFile(join(parentPath, name))).includes('only-in-memory'), name);
  assert.doesNotMatch(served.output(), /only-in-memory/);
  await serve('v1', '--base-path=/docs');
  assert.equal((await insights())?.missingAddresses.requests, 0);
  await served.kill();
});

test('--insights=false keeps nothing, and a page that reports a search sees no error', async () => {
  await serve('v1', '--base-path=/docs', '--insights=false');
  assert.equal(await ask('/docs/missing'), 404);
  assert.equal(await ask('/docs/_sx/search/none?q=a'), 204);
  assert.equal(await insights(), null);
  assert.doesNotMatch(await served.page('/metrics'), /missing_addresses|empty_searches/);
  await served.kill();
});
