// A site that is repaired or made portable in the real thread: what its pack holds, its progress, and its end by a signal.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { ruleModes } from '#bundle/repair/rule-modes.ts';
import { createPackWriter } from '#bundle/store/pack.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import { type RemakeProgress, remakeInThread } from '#site/remake/remaking.ts';
import { archivedFiles, type MemorySite, memoryBundle } from '../../../support/memory-bundle.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const program = new URL('../../../../src/bin/site-worker.ts', import.meta.url);

async function packOf(site: MemorySite, folder: string) {
  const bundle = memoryBundle(site);
  const packPath = join(folder, 'pack');
  const writer = createPackWriter(packPath);
  const rows = new Map(bundle.index.files.map((file) => [file.path, file]));
  const files: BundleIndex['files'][number][] = [];
  for (const { path, read } of archivedFiles(bundle)) {
    const row = rows.get(path);
    if (row === undefined) continue;
    files.push({ ...row, offset: writer.position });
    for await (const piece of read()) writer.append(piece);
  }
  writer.finish();
  return { packPath, index: { ...bundle.index, files }, toPath: join(folder, 'made') };
}

async function textsOf(packPath: string, index: BundleIndex): Promise<Readonly<Record<string, string>>> {
  const pack = await openPack(packPath, index, undefined);
  const texts: Record<string, string> = {};
  for (const file of index.files) {
    const bytes = Buffer.alloc(file.size);
    await pack.readInto(file, bytes);
    texts[file.path] = bytes.toString();
  }
  await pack.close();
  return texts;
}

const watching = (seen: RemakeProgress[]) => ({
  signal: new AbortController().signal,
  onProgress: (at: RemakeProgress) => void seen.push(at),
});

test('a repaired site comes as a pack with the index of its content, and its progress to the end', async (t) => {
  const site = {
    'index.html': '<link rel="canonical" href="https://undefined/">',
    'serve.js': 'x',
    '.hidden': 'kept',
    'a.txt': 'a',
  };
  const task = await packOf(site, temporaryFolder(t));
  const seen: RemakeProgress[] = [];
  const modes = ruleModes([{ name: 'canonical', mode: { word: 'strip' } }]);
  const { outcome, index } = await remakeInThread(
    program,
    { task: 'repair-site', ...task, modes },
    watching(seen),
  );
  const repaired = { '.hidden': 'kept', 'a.txt': 'a', 'index.html': '' };
  assert.deepEqual(await textsOf(task.toPath, index), repaired);
  assert.deepEqual(
    index.files,
    memoryBundle(repaired).index.files.map((file, at) => ({ ...file, offset: index.files[at]?.offset })),
  );
  assert.equal(index.digest, memoryBundle(repaired).index.digest);
  assert.deepEqual([outcome.digest, outcome.isChanged], [index.digest, true]);
  assert.deepEqual(seen.at(-1), { files: 3, of: 3 });
});

test('without a place for its pack, a repair writes nothing', async (t) => {
  const task = await packOf({ 'index.html': 'x', 'serve.js': 'x' }, temporaryFolder(t));
  const dry = { ...task, toPath: undefined, modes: ruleModes([]) };
  const { index } = await remakeInThread(program, { task: 'repair-site', ...dry }, watching([]));
  assert.equal(index.digest, memoryBundle({ 'index.html': 'x' }).index.digest);
  assert.equal(existsSync(task.toPath), false);
});

test('a portable site comes as a pack', async (t) => {
  const site = { 'index.html': '<a href="/docs/a">a</a>', 'a.html': 'a' };
  const task = await packOf(site, temporaryFolder(t));
  const portable = { ...task, basePath: '/docs', domain: undefined };
  const { index } = await remakeInThread(program, { task: 'make-portable', ...portable }, watching([]));
  assert.equal((await textsOf(task.toPath, index))['index.html'], '<a href="a.html">a</a>');
});

test('a signal ends the thread in the middle of its work', async (t) => {
  const pages = Array.from({ length: 400 }, (_, at) => [`${at}.html`, '<a href="x">'.repeat(2000)]);
  const task = await packOf(Object.fromEntries(pages), temporaryFolder(t));
  const stop = new AbortController();
  const ended = remakeInThread(
    program,
    { task: 'repair-site', ...task, modes: ruleModes([]) },
    { signal: stop.signal, onProgress: () => stop.abort(new Error('stopped by hand')) },
  );
  await assert.rejects(ended, /stopped by hand/);
});
