// The archive: the same bytes for the same files, readable by tar, and complete or absent.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { CrawledFile } from '#export-service/crawler/contract.ts';
import { packSite } from '#export-service/crawler/pack.ts';
import * as fc from '../../../support/properties.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const never = new AbortController().signal;

function fileOf(path: string, bytes: Uint8Array | string): CrawledFile {
  const body = Buffer.from(bytes);
  const sha256 = createHash('sha256').update(body).digest('hex');
  return { path, sizeBytes: body.byteLength, sha256, read: () => Readable.from([body]) };
}

async function* broken(): AsyncGenerator<Uint8Array> {
  yield Buffer.from('x');
  throw new Error('gone');
}

const long = `${'folder/'.repeat(40)}page.html`;
const site: readonly CrawledFile[] = [
  fileOf('index.html', '<p>home'),
  fileOf('a b/é.html', 'accents'),
  fileOf(long, 'deep'),
  fileOf('empty.txt', ''),
  fileOf('assets/app.js', 'x'.repeat(300_000)),
];

test('tar lists and extracts every file unchanged, also with long and accented names', async (t) => {
  const folder = temporaryFolder(t);
  const archive = join(folder, 'site.tar.gz');
  await packSite({ files: site }, archive, never);
  const listed = execFileSync('tar', ['tzf', archive, '--quoting-style=literal'])
    .toString()
    .trim()
    .split('\n');
  assert.deepEqual(listed, site.map(({ path }) => path).sort());
  mkdirSync(join(folder, 'out'));
  execFileSync('tar', ['xzf', archive, '-C', join(folder, 'out')]);
  for (const file of site) {
    assert.deepEqual(
      readFileSync(join(folder, 'out', file.path)),
      Buffer.concat(await Array.fromAsync(file.read())),
    );
  }
});

test('neither the order of the files nor the day changes a byte, and size and hash are correct', async (t) => {
  const folder = temporaryFolder(t);
  const one = await packSite({ files: site }, join(folder, 'one'), never);
  const other = await packSite({ files: site.toReversed() }, join(folder, 'other'), never);
  assert.deepEqual(other, one);
  const bytes = readFileSync(join(folder, 'one'));
  assert.deepEqual(readFileSync(join(folder, 'other')), bytes);
  assert.equal(bytes.byteLength, one.sizeBytes);
  assert.equal(createHash('sha256').update(bytes).digest('hex'), one.sha256);
});

test('the archive contains no time, system or owner', async (t) => {
  const archive = join(temporaryFolder(t), 'site.tar.gz');
  await packSite({ files: site }, archive, never);
  assert.deepEqual([...readFileSync(archive).subarray(0, 10)], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);
  const lines = execFileSync('tar', ['tvzf', archive, '--numeric-owner', '--utc'])
    .toString()
    .trim()
    .split('\n');
  for (const line of lines) assert.match(line, /^-rw-r--r-- 0\/0 +\d+ 1970-01-01 00:00 /);
});

test('an archive replaces an older archive of its name, and leaves no partial archive', async (t) => {
  const folder = temporaryFolder(t);
  const archive = join(folder, 'site.tar.gz');
  writeFileSync(archive, 'old');
  writeFileSync(`${archive}.partial`, 'left by a crash');
  await packSite({ files: site }, archive, never);
  assert.deepEqual(readdirSync(folder), ['site.tar.gz']);
  execFileSync('gzip', ['-t', archive]);
});

test('a file that cannot be read fails the pack with its error, and leaves no file', async (t) => {
  const folder = temporaryFolder(t);
  const gone = { ...fileOf('b.html', 'x'), read: () => broken() };
  const packing = packSite({ files: [...site, gone] }, join(folder, 'site.tar.gz'), never);
  await assert.rejects(packing, /gone/);
  assert.deepEqual(readdirSync(folder), []);
});

test('a missing folder fails the pack', async (t) => {
  const missing = join(temporaryFolder(t), 'missing', 'site.tar.gz');
  await assert.rejects(packSite({ files: site }, missing, never), { code: 'ENOENT' });
});

test('an abort ends the pack with the signal’s reason, and leaves no file', async (t) => {
  const folder = temporaryFolder(t);
  const caller = new AbortController();
  const stopping: CrawledFile = {
    ...fileOf('m.html', 'x'),
    read: async function* () {
      caller.abort();
      yield Buffer.from('x');
    },
  };
  const packing = packSite({ files: [...site, stopping] }, join(folder, 'site.tar.gz'), caller.signal);
  await assert.rejects(packing, { name: 'AbortError' });
  assert.ok(!existsSync(join(folder, 'site.tar.gz')));
  assert.deepEqual(readdirSync(folder), []);
});

test('for any files the archive unpacks to its end mark and names each file', async (t) => {
  const folder = temporaryFolder(t);
  const path = fc.stringMatching(/^[a-zé]{1,120}(\/[a-z.]{1,90}){0,3}$/);
  const files = fc.uniqueArray(fc.tuple(path, fc.uint8Array({ maxLength: 1500 })), {
    selector: ([name]) => name,
    maxLength: 8,
  });
  await fc.assertAsync(
    fc.asyncProperty(files, async (entries) => {
      const archive = join(folder, 'any.tar.gz');
      await packSite({ files: entries.map(([name, bytes]) => fileOf(name, bytes)) }, archive, never);
      const tar = gunzipSync(readFileSync(archive));
      assert.equal(tar.byteLength % 512, 0);
      assert.ok(tar.subarray(-1024).every((byte) => byte === 0));
      for (const [name] of entries) assert.ok(tar.includes(Buffer.from(name.slice(-80))));
    }),
    { numRuns: 40 },
  );
});
