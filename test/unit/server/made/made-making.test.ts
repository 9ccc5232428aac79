// The thread's side of made files without the thread: pages with their line, budgets that hold, a restart that believes what is
// whole and makes again what is not.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { brotliDecompressSync } from 'node:zlib';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import type { MakeFiles } from '#bundle/made-files.ts';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { extendIndex, noCounts } from '#server/content/additions.ts';
import { createExtendedPack } from '#server/content/extended-pack.ts';
import { readVariantTable } from '#server/content/variant-table.ts';
import { prepareFiles } from '#server/made/made-making.ts';
import type { MadeTask, PreparedFiles } from '#server/made/made-task.ts';
import { prepareVariants } from '#server/variants/variant-making.ts';
import { listPages, madeByLists } from '../../../support/list-pages.ts';
import { putBundle, readText } from '../../../support/store-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let store: string;
beforeEach((t) => {
  store = temporaryFolder(t);
});

const page = (name: string): string =>
  `<!doctype html><head><title>${name}</title></head><body>${`<p>${name}</p>`.repeat(100)}`;
const line = '<script defer src="/docs/_sx/search/search.js"></script>';
const withLine = (name: string): string => page(name).replace('</head>', `${line}</head>`);
const site = {
  '404.html': page('lost'),
  'a.html': page('a'),
  'b.css': 'p { margin: 0 }\n'.repeat(100),
  'notes/index.html': page('notes'),
  'part.html': '<p>part</p>',
};

interface Stored {
  readonly index: BundleIndex;
  readonly folder: string;
}

async function put(files: Readonly<Record<string, string>> = site): Promise<Stored> {
  const index = await putBundle(store, files);
  return { index, folder: bundleFolder(store, index.digest) };
}

function prepare(
  { index, folder }: Stored,
  task: Partial<MadeTask> = {},
  maker = listPages,
): Promise<PreparedFiles> {
  const usual = { folder, digest: index.digest, basePath: '/docs', cpuPercent: 100, maxBytes: 1_000_000 };
  const makers = { ...madeByLists, search: async () => maker };
  return prepareFiles({ ...usual, features: ['search'], ...task }, makers, systemClock);
}

async function openExtended({ index, folder }: Stored, { additions }: PreparedFiles): Promise<StoredBundle> {
  assert.ok(additions);
  const extending = extendIndex(index, additions);
  let step = extending.next();
  while (step.done !== true) step = extending.next();
  assert.ok(step.value);
  const [bundle, made] = await Promise.all(
    ['pack', 'made'].map((name) => openPack(join(folder, name), index, undefined)),
  );
  assert.ok(bundle && made);
  return createExtendedPack(bundle, made, step.value);
}

async function served(stored: Stored, prepared: PreparedFiles): Promise<Readonly<Record<string, string>>> {
  const pack = await openExtended(stored, prepared);
  return Object.fromEntries(pack.index.files.map((file) => [file.path, readText(pack, file)]));
}

test('pages that can take the line have it, with the hash of their bytes; made files lie among the others', async () => {
  const stored = await put();
  const prepared = await prepare(stored);
  assert.equal(prepared.isFound, false);
  const pack = await openExtended(stored, prepared);
  for (const file of pack.index.files) {
    assert.equal(createHash('sha256').update(readText(pack, file)).digest('hex'), file.sha256, file.path);
  }
  assert.deepEqual(await served(stored, prepared), {
    ...site,
    '404.html': withLine('lost'),
    'a.html': withLine('a'),
    'notes/index.html': withLine('notes'),
    '_sx/search/index.js': Object.keys(site).toSorted().join(),
    'llms.txt': 'made',
  });
});

test('a search without a file gives pages no line', async () => {
  const stored = await put();
  const nothing: MakeFiles = async function* () {};
  const prepared = await prepare(stored, {}, nothing);
  assert.deepEqual(prepared.counts.search, { files: 0, pages: 0, sizeBytes: 0 });
  assert.deepEqual(await served(stored, prepared), site);
  assert.equal((await prepare(stored, {}, nothing)).isFound, true);
});

test('a file that the site has is not replaced by a made one', async () => {
  const stored = await put({ ...site, 'llms.txt': 'by hand' });
  assert.equal((await served(stored, await prepare(stored)))['llms.txt'], 'by hand');
});

test('a bundle with a search of its own gets none, and what an earlier program made of it goes', async () => {
  const stored = await put({ ...site, '_sx/search/index.js': 'of its own' });
  await writeFile(join(stored.folder, 'made'), 'old');
  assert.deepEqual(await prepare(stored), {
    features: [],
    additions: undefined,
    counts: noCounts,
    isFound: false,
  });
  assert.deepEqual((await readdir(stored.folder)).toSorted(), ['index', 'pack']);
});

test('pages get a link to their Markdown, which is the site’s own where it has some', async () => {
  const own = {
    ...site,
    'notes.md': 'own notes',
    'large.html': page('large'),
    'wide.html': `\ufeff${page('wide')}`,
  };
  const stored = await put({ ...own, 'part.html': '<p>part</p>' });
  for (const [features, script] of [
    [['markdown'], ''],
    [['search', 'markdown'], line],
  ] as const) {
    const prepared = await prepare(stored, { features });
    const files = await served(stored, prepared);
    const linked = (name: string, twin: string): string =>
      page(name).replace(
        '</head>',
        `<link rel="alternate" type="text/markdown" href="/docs/${twin}">${script}</head>`,
      );
    assert.equal(files['a.html'], linked('a', 'a.md'));
    assert.equal(files['notes/index.html'], linked('notes', 'notes.md'));
    assert.equal(files['notes.md'], 'own notes');
    assert.equal(files['a.md'], '# a.html\n');
    assert.equal(files['part.md'], '# part.html\n', 'a page that can take no line has its Markdown');
    assert.equal(files['part.html'], '<p>part</p>');
    assert.equal(files['404.html'], script === '' ? page('lost') : withLine('lost'));
    assert.equal(files['large.html'], script === '' ? page('large') : withLine('large'), 'without Markdown');
    const { markdown, search } = prepared.counts;
    const texts = ['a.md', 'part.md', 'wide.md'].map((path) => files[path] ?? '');
    const sizeBytes = texts.join('').length;
    assert.deepEqual(markdown, { files: 3, pages: 4, sizeBytes, leftOutPages: 1 });
    assert.equal(search.pages, script === '' ? 0 : 5);
    const again = await prepare(stored, { features });
    assert.deepEqual([again.isFound, again.counts], [true, prepared.counts]);
  }
  assert.equal((await prepare(stored)).isFound, false, 'made files of other features');
});

test('a site that has all its Markdown gets links to it, and no file', async () => {
  const own = { 'a.html': page('a'), 'a.md': 'own a' };
  const stored = await put(own);
  const nothing: MakeFiles = async function* () {};
  const makers = { ...madeByLists, markdown: async () => nothing };
  const { folder, index } = stored;
  const task = { folder, digest: index.digest, features: ['markdown'] as const, basePath: '', maxBytes: 1e6 };
  for (const isFound of [false, true]) {
    const prepared = await prepareFiles({ ...task, cpuPercent: 100 }, makers, systemClock);
    assert.equal(prepared.isFound, isFound);
    const linked = page('a').replace(
      '</head>',
      '<link rel="alternate" type="text/markdown" href="/a.md"></head>',
    );
    assert.deepEqual(await served(stored, prepared), { 'a.html': linked, 'a.md': 'own a' });
    assert.deepEqual(prepared.counts.markdown, { files: 0, pages: 1, sizeBytes: 0, leftOutPages: 0 });
  }
});

test('a bundle with a search of its own still gets Markdown', async () => {
  const stored = await put({ ...site, '_sx/search/index.js': 'of its own' });
  const prepared = await prepare(stored, { features: ['search', 'markdown'] });
  assert.deepEqual(prepared.features, ['markdown']);
  const files = await served(stored, prepared);
  assert.equal(files['_sx/search/index.js'], 'of its own');
  assert.equal(files['a.md'], '# a.html\n');
  assert.ok(!files['a.html']?.includes('<script'));
});

test('made files are found after a restart, unless one byte of them, the base path or the limit changed', async () => {
  const stored = await put();
  const first = await served(stored, await prepare(stored));
  const isFound = async (task: Partial<MadeTask> = {}): Promise<boolean> => {
    const prepared = await prepare(stored, task);
    if (task.basePath === undefined) assert.deepEqual(await served(stored, prepared), first);
    return prepared.isFound;
  };
  assert.equal(await isFound(), true);
  for (const name of ['made', 'made-index']) {
    const bytes = await readFile(join(stored.folder, name));
    bytes[5] = (bytes[5] ?? 0) ^ 1;
    await writeFile(join(stored.folder, name), bytes);
    assert.equal(await isFound(), false, name);
    assert.equal(await isFound(), true, name);
  }
  await writeFile(join(stored.folder, 'made'), '');
  assert.equal(await isFound(), false, 'a pack that became shorter');
  assert.equal(await isFound({ basePath: '' }), false);
  assert.equal(await isFound({ basePath: '' }), true);
});

test('made files beyond the limit of a bundle are refused, and nothing of them stays', async () => {
  const stored = await put();
  await prepare(stored);
  const sizes = await Promise.all(
    ['made', 'made-index', 'index'].map((name) => stat(join(stored.folder, name))),
  );
  const overhead = (await stat(join(stored.folder, 'pack'))).size - stored.index.sizeBytes;
  const needed = sizes.reduce((sum, { size }) => sum + size, overhead);
  assert.equal((await prepare(stored, { maxBytes: needed })).isFound, true);
  for (const maxBytes of [needed - 1, 0]) {
    await assert.rejects(prepare(stored, { maxBytes }), {
      code: 'MadeFilesTooLarge',
      message: /^the bundle with the search exceeds --max-bundle-size; raise it, or turn the search off$/,
    });
    assert.deepEqual((await readdir(stored.folder)).toSorted(), ['index', 'pack']);
  }
});

test('a maker that makes no file for long rests as much as its share of a core demands', async () => {
  const { index, folder } = await put();
  let now = 0;
  let restedMs = 0;
  const clock = {
    ...systemClock,
    monotonic: () => now,
    after: async (ms: number) => {
      restedMs += ms;
    },
  };
  const pages = 50;
  const reading: MakeFiles = async function* (bundle, { rest }) {
    for (let at = 0; at < pages; at += 1) {
      now += 100;
      await rest?.();
    }
    yield* listPages(bundle, { signal: new AbortController().signal });
  };
  const task = { folder, digest: index.digest, basePath: '', cpuPercent: 25, maxBytes: 1_000_000 };
  const makers = { ...madeByLists, search: async () => reading };
  await prepareFiles({ ...task, features: ['search'] }, makers, clock);
  assert.equal(restedMs, pages * 300);
});

test('a damaged page, a lost bundle and a maker that fails are reported, and nothing of the work stays', async () => {
  const stored = await put();
  const failing: MakeFiles = async function* (bundle, context) {
    yield* listPages(bundle, context);
    throw new Error('no memory');
  };
  await assert.rejects(prepare(stored, {}, failing), /made files could not be stored/);
  await assert.rejects(prepare(stored, { digest: '0'.repeat(64) }), { code: 'BundleGone' });
  const pack = await readFile(join(stored.folder, 'pack'));
  pack[3] = (pack[3] ?? 0) ^ 1;
  await writeFile(join(stored.folder, 'pack'), pack);
  await assert.rejects(prepare(stored), { code: 'BundleDamaged' });
  assert.deepEqual((await readdir(stored.folder)).toSorted(), ['index', 'pack']);
});

test('variants are of what is served: pages with their line, and made files', async () => {
  const stored = await put();
  const long: MakeFiles = async function* () {
    yield { path: '_sx/search/index.js', bytes: Buffer.from('word '.repeat(500)) };
  };
  const prepared = await prepare(stored, {}, long);
  const { folder, index } = stored;
  const task = {
    ...{ folder, digest: index.digest, encodings: ['br'] as const, cpuPercent: 100, maxBytes: 1_000_000 },
    additions: prepared.additions,
  };
  const variants = await prepareVariants(task, systemClock);
  const pack = await openExtended(stored, prepared);
  const table = readVariantTable(variants.numbers, pack.index.files);
  const bodies = await readFile(join(folder, 'variants'));
  const decoded = pack.index.files.flatMap(({ path }, ordinal) => {
    const form = table?.find(ordinal, 'br');
    if (form === undefined) return [];
    const body = bodies.subarray(form.offset, form.offset + form.size);
    return [[path, brotliDecompressSync(body).toString()] as const];
  });
  assert.deepEqual(Object.fromEntries(decoded), {
    '404.html': withLine('lost'),
    'a.html': withLine('a'),
    'b.css': site['b.css'],
    'notes/index.html': withLine('notes'),
    '_sx/search/index.js': 'word '.repeat(500),
  });
  assert.equal((await prepareVariants(task, systemClock)).isFound, true);
  assert.equal((await prepare(stored, {}, long)).isFound, true, 'variants leave made files alone');
  const listBytes = (await stat(join(folder, 'made-index'))).size;
  const { size } = await stat(join(folder, 'variants'));
  const overhead =
    (await stat(join(folder, 'index'))).size + listBytes + (prepared.additions?.packBytes ?? 0);
  const isPartial = async (maxBytes: number): Promise<boolean> =>
    (await prepareVariants({ ...task, maxBytes }, systemClock)).isPartial;
  assert.equal(await isPartial(overhead + size), false);
  assert.equal(await isPartial(overhead + size - 1), true, 'made files and variants share one limit');
});

test('variants of a bundle that is served without made files take the room of those that an earlier run left', async () => {
  const stored = await put();
  await prepare(stored);
  const { folder, index } = stored;
  const task = {
    folder,
    digest: index.digest,
    encodings: ['br'] as const,
    cpuPercent: 100,
    maxBytes: 1_000_000,
  };
  assert.equal((await prepareVariants(task, systemClock)).isFound, false);
  assert.deepEqual((await readdir(folder)).toSorted(), ['index', 'pack', 'variants', 'variants-index']);
  await prepare(stored);
  assert.deepEqual((await readdir(folder)).toSorted(), ['index', 'made', 'made-index', 'pack'], 'and back');
});
