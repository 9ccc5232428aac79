// A search between the download and the copy, in the real thread, into a real registry: what is copied, and what a server sends of the
// copy without a search of its own.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { formatPublishedBundle } from '#bundle/published-bundle.ts';
import { noRegistry } from '../../support/docker-registry.ts';
import { searchedSite } from '../../support/searched-site.ts';
import { prepareSite } from '../server/served-site.ts';
import { never, openRegistryWithCopier, secretWord } from './copier.ts';

const pageOf = (title: string): string =>
  `<html lang="en"><head><title>${title}</title></head><body><main><h1>${title}</h1>Words.</main></body></html>`;
const repaired = { 'index.html': pageOf('Home'), 'guide/index.html': pageOf('Guide'), '.hidden': 'x' };
const archive = { ...repaired, 'serve.js': 'require("http")' };

suite('a copy with a search', { skip: noRegistry }, async () => {
  const { copier, place } = await openRegistryWithCopier(archive);

  async function copySearchable(expectedDigest?: string) {
    const repair = 'launchers search';
    const { copy, ...found } = await copier.attempt(place, { repair, expectedDigest });
    assert.ok(copy.kind === 'copied' && 'digest' in found, JSON.stringify(copy));
    return { ref: copy.ref, found };
  }

  test('the copy is the repaired site as bundle search writes it, again and again', async (t) => {
    const { digest, pages, sizeBytes } = await searchedSite(t, repaired);
    const { ref, found } = await copySearchable();
    assert.deepEqual([found.digest, found.pages, found.sizeBytes], [digest, pages, sizeBytes]);
    assert.deepEqual(found.repaired?.at(-1), { rule: 'search', files: 2, without: 0 });
    const verified = await copier.mirrors.verify(place, ref, digest, never);
    assert.deepEqual([verified.digest, verified.pages], [digest, pages]);
    assert.equal((await copySearchable(digest)).ref, ref);
  });

  test('two searches at once are both copied', async () => {
    const copies = await Promise.all([copySearchable(), copySearchable()]);
    assert.equal(copies[0].ref, copies[1].ref);
  });

  test('a server sends pages that load the search, and its files', async () => {
    const { ref, found } = await copySearchable();
    const { digest, pages, sizeBytes } = found;
    const served = await prepareSite();
    try {
      const folder = join(served.folder, 'mirror');
      await mkdir(folder);
      const version = '20260131-120000-0a1b2c3d';
      const bundle = { version, digest, jobId: 'job-1', pages, sizeBytes, ref, repair: 'launchers search' };
      await Promise.all([
        writeFile(join(folder, 'username'), 'docs'),
        writeFile(join(folder, 'password'), secretWord),
        served.mount(formatPublishedBundle({ ...bundle, link: undefined })),
      ]);
      await served.start('--mirror-credentials', folder, '--allow-private-mirror', '--allow-http-mirror');
      const { active } = await served.until('the copy is served', (status) => status.active !== null);
      assert.equal(active?.digest, digest);
      const guide = await (await fetch(`${served.site}/guide/`)).text();
      const [, src = ''] = /<script defer src="([^"]+)"><\/script><\/head>/.exec(guide) ?? [];
      assert.equal(src, '../_sx/search/search.js');
      for (const address of [src, '../_sx/search/index.js']) {
        const answer = await fetch(new URL(address, `${served.site}/guide/`));
        assert.equal(answer.status, 200);
        assert.match(answer.headers.get('content-type') ?? '', /^text\/javascript/);
      }
    } finally {
      await served.remove();
    }
  });
});
