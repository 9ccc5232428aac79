import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createPackWriter } from '#bundle/store/pack.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import { makeSearchIndex } from '#site/search/search-files.ts';
import { planSearchable, type SearchablePlan } from '#site/search/searchable-site.ts';
import { type MemorySite, memoryBundle } from '../../../support/memory-bundle.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

async function planned(t: TestContext, bundle: StoredBundle): Promise<SearchablePlan> {
  const path = join(temporaryFolder(t), 'pack');
  const writer = createPackWriter(path);
  const pack = {
    sink: writer,
    open: async (index: StoredBundle['index']) => {
      writer.finish();
      return openPack(path, index, undefined);
    },
  };
  const plan = await planSearchable(bundle, makeSearchIndex, pack, new AbortController().signal);
  t.after(() => plan.close());
  return plan;
}

async function contentOf({ files }: SearchablePlan): Promise<Record<string, Buffer>> {
  const content: Record<string, Buffer> = {};
  for (const { path, size, read } of files) {
    const pieces: Uint8Array[] = [];
    for await (const piece of read()) pieces.push(Uint8Array.from(piece));
    content[path] = Buffer.concat(pieces);
    assert.equal(content[path].length, size, path);
  }
  return content;
}

const site: MemorySite = {
  'index.html': '<html lang="en"><head><title>Home</title></head><body>Text',
  'guide/deep/page.html': '<html><head><title>Page</title></head><body>Text',
  '404.html': '<html><head><title>None</title></head><body>Text',
  'fragment.html': 'no document',
  'wide.html': Buffer.from('\ufeff<html><head></head><body>', 'utf16le'),
  '.hidden/x.html': '<html><head></head>',
  'a.css': 'a{}',
};

test('each page loads the search by an address of its own, and other files keep their bytes', async (t) => {
  const plan = await planned(t, memoryBundle(site));
  const content = await contentOf(plan);
  assert.equal(
    content['index.html']?.toString(),
    '<html lang="en"><head><title>Home</title><script defer src="_sx/search/search.js"></script></head><body>Text',
  );
  assert.match(
    content['guide/deep/page.html']?.toString() ?? '',
    /src="\.\.\/\.\.\/_sx\/search\/search\.js"/,
  );
  for (const path of ['404.html', 'fragment.html', 'wide.html', '.hidden/x.html', 'a.css']) {
    assert.deepEqual(content[path], Buffer.from(site[path] ?? ''), path);
  }
  assert.deepEqual(plan.withoutLine, { count: 2, examples: ['fragment.html', 'wide.html'] });
  assert.deepEqual([plan.linedPages, plan.isChanged], [2, true]);
  assert.deepEqual(plan.languages, [{ language: 'en', pages: 4 }]);
});

test('the digest is that of the written files, and a second time changes nothing', async (t) => {
  const plan = await planned(t, memoryBundle(site));
  const again = memoryBundle(await contentOf(plan));
  assert.equal(plan.digest, again.index.digest);
  assert.equal(plan.sizeBytes, again.index.sizeBytes);
  assert.equal(plan.pages, again.index.pages);
  const second = await planned(t, again);
  assert.deepEqual([second.digest, second.isChanged, second.linedPages], [plan.digest, false, 2]);
});

test('a search that a site has is made again', async (t) => {
  const plan = await planned(t, memoryBundle({ ...site, '_sx/search/old.js': 'x' }));
  assert.deepEqual(
    Object.keys(await contentOf(plan)).filter((path) => path.endsWith('old.js')),
    [],
  );
  assert.equal(plan.isChanged, true);
});
