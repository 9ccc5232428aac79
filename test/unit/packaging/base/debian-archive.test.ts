// Archives of Debian come from a mirror that no one vouches for: only bytes that the lock names are read.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { fetchArchive, shortControl } from '../../../../packaging/base/debian-archive.ts';

const bytes = Buffer.from('an archive');
const sha256 = createHash('sha256').update(bytes).digest('hex');
const archive = { path: 'debian/pool/main/g/glibc/libc6_2.41-12%2bdeb13u5_amd64.deb', bytes: 10, sha256 };
const day = '2026-11-30';
function* zeros(): Generator<Buffer> {
  for (;;) yield Buffer.alloc(65_536);
}
let server: Server;
let mirror: string;

before(async () => {
  server = createServer((request, response) => {
    const url = request.url ?? '';
    if (url.startsWith('/gone/')) response.statusCode = 404;
    if (url.startsWith('/busy/')) response.statusCode = 503;
    if (url.startsWith('/endless/')) return void pipeline(Readable.from(zeros()), response, () => {});
    response.end(url.startsWith('/wrong/') ? 'other bytes' : url.endsWith(archive.path) ? bytes : '');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  mirror = `http://127.0.0.1:${port}`;
});
after(() => server.close());

test('an archive is fetched from the mirror and compared with its sum', async () => {
  assert.deepEqual(await fetchArchive(`${mirror}/debian`, archive, day), bytes);
});

const faults: readonly [string, string, RegExp][] = [
  [
    'that replaced it',
    '/gone/debian',
    /does not have it any more\. Name a mirror of 2026-11-30: --debian-mirror.*npm run release:base/,
  ],
  ['that sends other bytes', '/wrong/debian', /sent other bytes than the lock names/],
  ['that is busy', '/busy/debian', /answers 503\. Try again/],
];
for (const [name, path, expected] of faults) {
  test(`a mirror ${name} is an error with a remedy`, async () => {
    await assert.rejects(fetchArchive(mirror + path, archive, day), expected);
  });
}

test('a mirror that sends without an end is left', async () => {
  await assert.rejects(fetchArchive(`${mirror}/endless/debian`, archive, day), /sent other bytes/);
});

test('a mirror that does not answer is an error with a remedy', async () => {
  await assert.rejects(
    fetchArchive('http://127.0.0.1:1/debian', archive, day),
    /does not answer.*--debian-mirror/,
  );
});

test('scanners get the lines that say what a package is', () => {
  const control = 'Package: libc6\nSource: glibc\nVersion: 2\nDepends: a\nDescription: b\n Package: c\n';
  assert.equal(shortControl(control), 'Package: libc6\nSource: glibc\nVersion: 2\n');
});
