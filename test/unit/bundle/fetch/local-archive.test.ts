// Archives of this machine: read only where that is allowed, and within the bound.

import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { type LocalArchiveOptions, readLocalArchive } from '#bundle/fetch/local-archive.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { requireLink } from '../../../support/storage-server.ts';

const archive = Buffer.alloc(3 * 1024 * 1024, 'archive');
let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'local-archive-'));
  path = join(folder, 'a b.tar.gz');
  await writeFile(path, archive);
});
afterEach(() => rm(folder, { recursive: true }));

async function read(name: string, options: Partial<LocalArchiveOptions> = {}): Promise<Buffer> {
  const link = requireLink(pathToFileURL(name).href);
  const limits = { maxArchiveBytes: archive.length };
  return Buffer.concat(
    await Array.fromAsync(readLocalArchive(link, { limits, allowFileLinks: true, ...options })),
  );
}

test('a file is read whole, and its size is reported before', async () => {
  const told: number[] = [];
  const admit = async (bytes: number): Promise<void> => {
    told.push(bytes);
  };
  assert.deepEqual(await read(path, { admit }), archive);
  assert.deepEqual(told, [archive.length]);
});

test('a file link that is not allowed is refused without reading the file', async () => {
  for (const name of [path, `${path}x`]) {
    await assert.rejects(read(name, { allowFileLinks: false }), { kind: 'refused', code: 'FileLink' });
  }
});

test('a missing file and a folder have a code of their own, with the remedy and without the path', async () => {
  const isSilent = (kind: string, code: string) => (error: unknown) => {
    assert.ok(error instanceof PublishableError);
    assert.deepEqual([error.kind, error.code], [kind, code]);
    return !error.message.includes(folder);
  };
  await assert.rejects(read(`${path}x`), isSilent('retry', 'FileUnreadable'));
  await assert.rejects(read(`${path}x`), {
    message: 'the file of the link does not exist or cannot be read (ENOENT); check its path and its mount',
  });
  await assert.rejects(read(folder), isSilent('retry', 'FileIsFolder'));
  await assert.rejects(read(folder), { message: /is a folder; name the archive in it/ });
});

test('more than the bound is refused', async () => {
  const limits = { maxArchiveBytes: archive.length - 1 };
  await assert.rejects(read(path, { limits }), { kind: 'refused', code: 'ArchiveTooLarge' });
});

test('what is not admitted is not read', async () => {
  const full = new PublishableError('StoreFull', 'no room', { kind: 'retry' });
  await assert.rejects(read(path, { admit: () => Promise.reject(full) }), full);
});
