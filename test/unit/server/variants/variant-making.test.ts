// The thread's side of variants without the thread: variants that decode to the very bytes, budgets that hold, a restart that
// believes what is whole and makes again what is not.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { appendFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { digestOf } from '#bundle/store/digest.ts';
import { formatIndex } from '#bundle/store/index-document.ts';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { readVariantTable, type VariantTable } from '#server/content/variant-table.ts';
import { variantNames } from '#server/made/stored-addition.ts';
import { prepareVariants } from '#server/variants/variant-making.ts';
import type { PreparedVariants, VariantTask } from '#server/variants/variant-task.ts';
import { putBundle } from '../../../support/store-builder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';
import { bundleOf } from '../fixtures.ts';

let folder: string;
beforeEach((t) => {
  folder = temporaryFolder(t);
});

const page = (name: string): string => `<p>${name}</p>`.repeat(400);
/** Seven random bits a byte: gzip saves less than a tenth of it. */
const noise = (length: number): string =>
  Array.from({ length }, (_, at) =>
    String.fromCharCode((createHash('sha256').update(`${at}`).digest()[0] ?? 0) % 128),
  ).join('');
const content: Readonly<Record<string, string>> = {
  'a.html': page('a'),
  'copy-of-a.html': page('a'),
  'b.css': 'p { margin: 0 }\n'.repeat(100),
  'random.txt': noise(560),
  'logo.png': page('not really an image'),
  'tiny.html': 'tiny',
};

async function storeBundle(): Promise<BundleIndex> {
  const made = bundleOf(Object.keys(content), (path) => content[path] ?? '');
  const index = { ...made, digest: digestOf(made.files) };
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'pack'), made.files.map(({ path }) => content[path] ?? '').join(''));
  await writeFile(join(folder, 'index'), formatIndex({ index, packBytes: index.sizeBytes }));
  return index;
}

interface Run {
  readonly prepared: PreparedVariants;
  readonly restedMs: number;
}

/** A clock on which every look takes a millisecond, so that work has a length without taking any. */
async function run(digest: string, task: Partial<VariantTask> = {}): Promise<Run> {
  let now = 0;
  let restedMs = 0;
  const clock: Clock = {
    now: () => now,
    monotonic: () => {
      now += 30;
      return now;
    },
    after: async (ms) => {
      restedMs += ms;
    },
    deadline: () => new AbortController().signal,
  };
  const prepared = await prepareVariants(
    { folder, digest, encodings: ['br', 'gzip'], cpuPercent: 50, maxBytes: 1_000_000, ...task },
    clock,
  );
  return { prepared, restedMs };
}

function tableOf({ prepared }: Run, index: BundleIndex): VariantTable {
  const table = readVariantTable(prepared.numbers, index.files);
  assert.ok(table);
  return table;
}

async function decoded(table: VariantTable, index: BundleIndex, path: string): Promise<readonly string[]> {
  const ordinal = index.files.findIndex((file) => file.path === path);
  const pack = await readFile(join(folder, variantNames.pack));
  const body = (encoding: 'br' | 'gzip'): Buffer | undefined => {
    const form = table.find(ordinal, encoding);
    return form && pack.subarray(form.offset, form.offset + form.size);
  };
  const [br, gzip] = [body('br'), body('gzip')];
  return [
    ...(br === undefined ? [] : [brotliDecompressSync(br).toString()]),
    ...(gzip === undefined ? [] : [gunzipSync(gzip).toString()]),
  ];
}

test('a hidden file has no precompressed variant', async (t) => {
  const store = folder;
  t.after(() => rm(store, { recursive: true, force: true }));
  const files = { '.draft.html': page('5ecret'), 'index.html': page('home'), 'serve.js': page('5ecret') };
  const index = await putBundle(store, files);
  folder = bundleFolder(store, index.digest);
  assert.deepEqual(tableOf(await run(index.digest), index).counts, { br: 1, gzip: 1 });
});

test('variants decode to the bytes of their files; a file that gains nothing has none', async () => {
  const index = await storeBundle();
  const table = tableOf(await run(index.digest), index);
  for (const path of ['a.html', 'copy-of-a.html', 'b.css']) {
    assert.deepEqual(await decoded(table, index, path), [content[path], content[path]], path);
  }
  for (const path of ['logo.png', 'tiny.html']) assert.deepEqual(await decoded(table, index, path), [], path);
  const random = index.files.findIndex(({ path }) => path === 'random.txt');
  assert.equal(table.find(random, 'gzip'), undefined);
  assert.equal(table.counts.gzip, 3);
  const pack = await readFile(join(folder, variantNames.pack));
  const ordinals = ['a.html', 'copy-of-a.html'].map((path) =>
    index.files.findIndex((one) => one.path === path),
  );
  assert.deepEqual(table.find(ordinals[0] ?? -1, 'br'), table.find(ordinals[1] ?? -1, 'br'), 'kept once');
  assert.ok(pack.length < 1000);
});

test('a variant has a tag of its bytes, the same in every run and for every file of the same content', async () => {
  const index = await storeBundle();
  const pack = async (): Promise<Buffer> => readFile(join(folder, variantNames.pack));
  const made = tableOf(await run(index.digest), index);
  const found = tableOf(await run(index.digest), index);
  for (const [ordinal, file] of index.files.entries()) {
    for (const encoding of ['br', 'gzip'] as const) {
      const form = made.find(ordinal, encoding);
      assert.deepEqual(found.find(ordinal, encoding), form);
      if (form === undefined) continue;
      const body = (await pack()).subarray(form.offset, form.offset + form.size);
      const fingerprint = createHash('sha256').update(body).digest('hex').slice(0, 13);
      assert.equal(form.tag, `"${file.sha256.slice(0, 32)}-${encoding}-${fingerprint}"`);
    }
  }
});

test('one encoding alone', async () => {
  const index = await storeBundle();
  assert.deepEqual(tableOf(await run(index.digest, { encodings: ['gzip'] }), index).counts, {
    br: 0,
    gzip: 3,
  });
});

test('stored variants are trusted by their hash, and a damaged one is never served', async () => {
  const index = await storeBundle();
  const isFound = async (task: Partial<VariantTask> = {}): Promise<boolean> => {
    const { prepared } = await run(index.digest, task);
    return prepared.isFound;
  };
  assert.equal(await isFound(), false);
  assert.equal(await isFound(), true);
  assert.equal(await isFound({ encodings: ['gzip'] }), false);
  assert.equal(await isFound(), false);
  await appendFile(join(folder, variantNames.pack), 'x');
  assert.equal(await isFound(), false, 'a longer pack');
  const pack = await readFile(join(folder, variantNames.pack));
  pack[10] = (pack[10] ?? 0) ^ 1;
  await writeFile(join(folder, variantNames.pack), pack);
  assert.equal(await isFound(), false, 'a changed byte');
  const remade = tableOf(await run(index.digest), index);
  assert.deepEqual(await decoded(remade, index, 'a.html'), [content['a.html'], content['a.html']]);
  const list = await readFile(join(folder, 'variants-index'), 'utf8');
  await writeFile(join(folder, 'variants-index'), list.slice(0, -5));
  assert.equal(await isFound(), false, 'a torn list');
  await rm(join(folder, variantNames.pack));
  assert.equal(await isFound(), false, 'a lost pack');
  assert.equal(await isFound(), true);
});

test('precompression rests as long as its share of the core demands', async () => {
  const index = await storeBundle();
  const half = await run(index.digest, { cpuPercent: 50 });
  await rm(join(folder, 'variants-index'));
  const tenth = await run(index.digest, { cpuPercent: 10 });
  assert.ok(half.restedMs > 0);
  assert.equal(tenth.restedMs, half.restedMs * 9);
});

test('variants beyond the limit on disk are left out and reported', async () => {
  const index = await storeBundle();
  const { size: beside } = await stat(join(folder, 'index'));
  const { prepared } = await run(index.digest, { maxBytes: beside + 60 });
  assert.equal(prepared.isPartial, true);
  const { size } = await stat(join(folder, variantNames.pack));
  assert.ok(size <= 60, `${size}`);
  assert.ok((readVariantTable(prepared.numbers, index.files)?.sizeBytes ?? 0) > 0);
});

test('a damaged bundle gets no variants, and none of their files stays', async () => {
  const index = await storeBundle();
  const pack = await readFile(join(folder, 'pack'));
  pack[3] = (pack[3] ?? 0) ^ 1;
  await writeFile(join(folder, 'pack'), pack);
  await assert.rejects(run(index.digest), { code: 'BundleDamaged' });
  assert.deepEqual((await readdir(folder)).toSorted(), ['index', 'pack']);
});

test('replaced entries in the pack and the index count towards the limit of variants, so that no bundle exceeds its limit', async () => {
  const index = await storeBundle();
  await appendFile(join(folder, 'pack'), Buffer.alloc(5000));
  const text = formatIndex({ index, packBytes: index.sizeBytes + 5000 });
  await writeFile(join(folder, 'index'), text);
  const formBytes = async (maxBytes: number): Promise<number> => {
    tableOf(await run(index.digest, { maxBytes }), index);
    return (await stat(join(folder, variantNames.pack))).size;
  };
  const wanted = await formBytes(1_000_000);
  const overhead = 5000 + Buffer.byteLength(text);
  assert.equal(await formBytes(overhead + wanted), wanted);
  assert.ok((await formBytes(overhead + wanted - 1)) < wanted);
  assert.equal(await formBytes(overhead), 0);
});

test('a missing or other bundle is reported, and no variants are made', async () => {
  await storeBundle();
  await assert.rejects(run('0'.repeat(64)), { code: 'BundleGone' });
  await rm(folder, { recursive: true });
  await assert.rejects(run('0'.repeat(64)), { code: 'BundleGone' });
});
