// Pages of a real pack, read by the thread.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createPackWriter } from '#bundle/store/pack.ts';
import { type PageHashes, readPageHashes } from '#conversations/page-hashes.ts';

const program = new URL('../../../src/bin/site-worker.ts', import.meta.url);
const { signal } = new AbortController();
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

async function hashesOf(files: Readonly<Record<string, string>>): Promise<PageHashes> {
  const folder = mkdtempSync(join(tmpdir(), 'page-hashes-'));
  try {
    const packPath = join(folder, 'pack');
    const pack = createPackWriter(packPath);
    const listed = Object.entries(files).map(([path, content]) => {
      const bytes = Buffer.from(content);
      const file = { path, offset: pack.position, size: bytes.length, sha256: sha256(content) };
      pack.append(bytes);
      return file;
    });
    pack.finish();
    const index = { digest: sha256('content'), files: listed, pages: 1, sizeBytes: 1, notes: [] };
    return await readPageHashes(program, { packPath, index }, { signal, onProgress: () => {} });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const guide = (asset: string, text: string): string =>
  `<script src="/assets/${asset}.js"></script><main><h1>Guide</h1><p>${text} and some more words</p></main>`;

test('of two builds, the pages with other words have other hashes', async () => {
  const before = await hashesOf({
    'assets/a.js': 'a',
    'guide/index.html': guide('a', 'One way'),
    'index.html': guide('a', 'Home'),
  });
  const after = await hashesOf({
    'assets/b.js': 'b',
    'guide/index.html': guide('b', 'Two ways'),
    'index.html': guide('b', 'Home'),
  });
  assert.deepEqual([...before.keys()], ['guide/index.html', 'index.html']);
  assert.notEqual(after.get('guide/index.html'), before.get('guide/index.html'));
  assert.equal(after.get('index.html'), before.get('index.html'));
});

test('a page without text, and one of more than 8 MiB, has the hash of its file', async () => {
  const drawn = '<div id="root"></div>';
  const large = `<main>${'word '.repeat(2_000_000)}</main>`;
  const hashes = await hashesOf({ 'drawn.html': drawn, 'large.htm': large });
  assert.deepEqual(Object.fromEntries(hashes), { 'drawn.html': sha256(drawn), 'large.htm': sha256(large) });
});

test('hundreds of pages are read while the caller hears how many were', async () => {
  const files = Array.from({ length: 450 }, (_, at) => [`p${at}.html`, guide('a', `Page ${at}`)] as const);
  const hashes = await hashesOf(Object.fromEntries(files));
  assert.equal(new Set(hashes.values()).size, 450);
});

test('a thread that cannot read the pack says so', async () => {
  const index = { digest: sha256('content'), files: [], pages: 0, sizeBytes: 0, notes: [] };
  const reading = readPageHashes(
    program,
    { packPath: '/nonexistent/pack', index },
    { signal, onProgress: () => {} },
  );
  await assert.rejects(reading, /ENOENT|TaskFailed|pack/);
});
