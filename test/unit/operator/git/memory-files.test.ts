// The files of the git client behave as a file system does, as far as the client asks, and end at their bound.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMemoryFiles } from '#operator/git/memory-files.ts';

const open = (maxBytes = 100, seen: string[] = []) =>
  createMemoryFiles({
    maxBytes,
    refuse: () => new Error('full'),
    check: (path) => void seen.push(path),
    made: {
      has: (path) => path === '/made',
      read: (path) => (path === '/made' ? Buffer.from('m') : undefined),
    },
  }).promises;

test('a file that is made when it is read is there, and is not listed', async () => {
  const files = open();
  assert.ok((await files.stat('/made')).isFile());
  assert.equal(await files.readFile('/made', 'utf8'), 'm');
  assert.deepEqual(await files.readdir('/'), []);
  await assert.rejects(files.readFile('/absent'), { code: 'ENOENT' });
});

test('a file is kept without a copy, listed in its folder, and gone after it is removed', async () => {
  const seen: string[] = [];
  const files = open(100, seen);
  await files.mkdir('/a');
  await files.mkdir('/a/b');
  const bytes = Buffer.from('text');
  await files.writeFile('/a//b/./c', bytes);
  await files.writeFile('/a/d', 'é');
  assert.equal(await files.readFile('/a/b/c'), bytes);
  assert.equal(await files.readFile('/a/d', { encoding: 'utf8' }), 'é');
  assert.deepEqual(await files.readdir('/a'), ['b', 'd']);
  assert.deepEqual(await files.readdir('/'), ['a']);
  assert.ok((await files.stat('/a')).isDirectory() && (await files.lstat('/a/d')).isFile());
  assert.equal((await files.stat('/a/d')).size, 2);
  await files.unlink('/a/b/c');
  await files.rmdir('/a/b');
  assert.deepEqual(await files.readdir('/a'), ['d']);
  assert.deepEqual(seen, ['/a/b/c', '/a/d']);
});

test('what is not there, or is of another kind, fails with the code of a file system', async () => {
  const files = open();
  await files.mkdir('/a');
  await files.writeFile('/a/f', 'x');
  const codes: readonly (readonly [string, () => Promise<unknown>])[] = [
    ['ENOENT', () => files.readFile('/none')],
    ['ENOENT', () => files.stat('/none')],
    ['ENOENT', () => files.writeFile('/none/f', '')],
    ['ENOENT', () => files.mkdir('/none/b')],
    ['ENOENT', () => files.unlink('/none')],
    ['EISDIR', () => files.readFile('/a')],
    ['EISDIR', () => files.writeFile('/a', '')],
    ['ENOTDIR', () => files.readdir('/a/f')],
    ['EEXIST', () => files.mkdir('/a')],
    ['ENOTEMPTY', () => files.rmdir('/a')],
    ['EPERM', () => files.symlink('/a', '/b')],
  ];
  for (const [code, work] of codes) await assert.rejects(work(), { code });
});

test('more bytes than the bound are refused, and removed bytes count no more', async () => {
  const files = open(10);
  await files.writeFile('/a', '12345678');
  await assert.rejects(files.writeFile('/b', '123'), { message: 'full' });
  const again = open(10);
  await again.writeFile('/a', '12345678');
  await again.writeFile('/a', '1234567890');
  await again.unlink('/a');
  await again.writeFile('/b', '1234567890');
});
