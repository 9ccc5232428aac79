// A repair between the download and the copy, in the real thread, into a real registry: what is copied, and what a server sends of
// the copy. The link leads to the archive before its repair all the while.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { formatPublishedBundle } from '#bundle/published-bundle.ts';
import { noRegistry } from '../../support/docker-registry.ts';
import { memoryBundle } from '../../support/memory-bundle.ts';
import { prepareSite } from '../server/served-site.ts';
import { never, openRegistryWithCopier, secretWord } from './copier.ts';

const pageOf = (host: string): string =>
  `<html><head><link rel="canonical" href="https://${host}/guide"></head><body><h1>Guide</h1></body></html>`;
const home = '<html><head></head><body><a href="/deep">Deep</a></body></html>';
const archive = {
  'index.html': home,
  'guide.html': pageOf('undefined.docs.example.com'),
  'deep/index/index.html': '<img src="a.png">',
  'serve.js': 'require("http")',
};
const repaired = {
  ...{ 'index.html': home, 'guide.html': pageOf('docs.example.com') },
  ...{ 'deep/index/index.html': '<img src="a.png">', 'deep/index.html': '<img src="index/a.png">' },
};
const { digest, pages, sizeBytes } = memoryBundle(repaired).index;
const repair = 'launchers folder-index canonical=set=docs.example.com';

suite('a repaired copy', { skip: noRegistry }, async () => {
  const { copier, place } = await openRegistryWithCopier(archive);

  async function copyRepaired(expectedDigest?: string) {
    const { copy, ...found } = await copier.attempt(place, { repair, expectedDigest });
    assert.ok(copy.kind === 'copied', JSON.stringify(copy));
    return { ref: copy.ref, found };
  }

  test('the inspection and the copy are of the repaired content', async () => {
    const { ref, found } = await copyRepaired();
    const counts = { launchers: 1, 'folder-index': 1, canonical: 1 };
    assert.deepEqual(found, {
      ...{ digest, pages, sizeBytes, notes: [] },
      repaired: ['wrapping-folder', 'launchers', 'folder-index', 'canonical', 'search-box', 'sitemap'].map(
        (rule) => ({ rule, files: Object.entries(counts).find(([name]) => name === rule)?.[1] ?? 0 }),
      ),
    });
    const verified = await copier.mirrors.verify(place, ref, digest, never);
    assert.deepEqual([verified.digest, verified.pages], [digest, pages]);
  });

  test('work that is repeated gives the same reference, and other content than was published is rejected', async () => {
    const { ref } = await copyRepaired(digest);
    assert.equal((await copyRepaired()).ref, ref);
    const before = memoryBundle(archive).index.digest;
    await assert.rejects(copyRepaired(before), { code: 'DigestMismatch' });
  });

  test('a server sends the repaired pages from the copy', async () => {
    const { ref } = await copyRepaired();
    const served = await prepareSite();
    try {
      const folder = join(served.folder, 'mirror');
      await mkdir(folder);
      const bundle = {
        version: '20260131-120000-0a1b2c3d',
        digest,
        jobId: 'job-1',
        pages,
        sizeBytes,
        ref,
        repair,
      };
      await Promise.all([
        writeFile(join(folder, 'username'), 'docs'),
        writeFile(join(folder, 'password'), secretWord),
        served.mount(formatPublishedBundle({ ...bundle, link: undefined })),
      ]);
      await served.start('--mirror-credentials', folder, '--allow-private-mirror', '--allow-http-mirror');
      const { active } = await served.until('the copy is served', (status) => status.active !== null);
      assert.equal(active?.digest, digest);
      for (const [address, text] of [
        ['/guide', repaired['guide.html']],
        ['/deep/', repaired['deep/index.html']],
      ] as const) {
        assert.equal(await (await fetch(`${served.site}${address}`)).text(), text);
      }
      assert.equal((await fetch(`${served.site}/serve.js`)).status, 404);
    } finally {
      await served.remove();
    }
  });
});
