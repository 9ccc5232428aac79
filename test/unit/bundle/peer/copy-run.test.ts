// Copies between stores over real sockets, with deadlines that the test ends: what a slow, silent or lying peer
// leaves behind is nothing.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { noBytes } from '#bundle/bundle-index.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { maxIndexBytes, readCopyIndex } from '#bundle/peer/copy-index.ts';
import { runPeerCopy } from '#bundle/peer/copy-run.ts';
import { maxTypeEntries, maxTypeKinds } from '#bundle/site-types.ts';
import { digestOf } from '#bundle/store/digest.ts';
import { formatIndex, parseIndex } from '#bundle/store/index-document.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import { bundleFolder } from '#bundle/store/store-layout.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type Storage, type StorageAnswer, startStorage } from '../../../support/storage-server.ts';
import { putBundle } from '../../../support/store-builder.ts';

let folder: string;
let storeDir: string;
let digest: string;
let index: string;
let pack: Buffer;
let peer: Storage;
let answer: StorageAnswer;
let clock: Clock;
/** Ends every deadline given so far. */
let passDeadlines: () => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'copy-run-'));
  const theirs = join(folder, 'theirs');
  await openBundleStore(theirs, { keep: 1 });
  ({ digest } = await putBundle(theirs, { 'index.html': 'home', 'a/b.css': 'b'.repeat(5000) }));
  index = await readFile(join(bundleFolder(theirs, digest), 'index'), 'utf8');
  pack = await readFile(join(bundleFolder(theirs, digest), 'pack'));
  storeDir = join(folder, 'ours');
  await openBundleStore(storeDir, { keep: 1 });
  peer = await startStorage((request, response, count) => answer(request, response, count));
  const deadlines: AbortController[] = [];
  passDeadlines = () => {
    for (const one of deadlines) one.abort(new DOMException('too long', 'TimeoutError'));
  };
  clock = {
    ...systemClock,
    deadline: () => {
      const one = new AbortController();
      deadlines.push(one);
      return one.signal;
    },
  };
});
afterEach(async () => {
  await peer.close();
  await rm(folder, { recursive: true, force: true });
});

function take(): Promise<BundleIndex> {
  return runPeerCopy(
    {
      task: 'copy',
      origin: peer.origin,
      digest,
      storeDir,
      workDir: join(storeDir, '.incoming-one'),
      limits: defaultLimits,
      userAgent: 'test',
    },
    { clock, onProgress: () => {} },
  );
}

const assertFails = (code: string): Promise<void> =>
  assert.rejects(take(), (error: unknown) => error instanceof PublishableError && error.code === code);
const whole: StorageAnswer = (request, response) =>
  response.end(request.url?.endsWith('/index') ? index : pack);
const isLeft = (): Promise<string[]> => readdir(storeDir);

test('a whole copy is verified, committed and opened like any other', async () => {
  answer = whole;
  await take();
  const stored = await (await openBundleStore(storeDir, { keep: 1 })).open(digest);
  assert.deepEqual(
    stored?.index.files.map(({ path }) => path),
    ['a/b.css', 'index.html'],
  );
  await stored?.close();
  assert.deepEqual(await isLeft(), ['bundles']);
});

test('a copy that drips past its deadline is given up', async () => {
  answer = (request, response) => {
    if (request.url?.endsWith('/index')) return response.end(index);
    response.writeHead(200);
    response.write(pack.subarray(0, 10), () => passDeadlines());
    return response;
  };
  await assertFails('PeerLost');
  assert.deepEqual(await isLeft(), ['bundles']);
});

test('a copy that drips is given up by what came of it, however much time its index asks for', async () => {
  let now = 0;
  clock = { ...clock, monotonic: () => now };
  answer = (request, response) => {
    if (request.url?.endsWith('/index')) return response.end(index);
    response.writeHead(200);
    response.write(pack.subarray(0, 10), () => {
      now = 60_000;
      response.write(pack.subarray(10, 11));
    });
    return response;
  };
  await assertFails('PeerLost');
  assert.deepEqual(await isLeft(), ['bundles']);
});

test('what is not asked for, too large or not whole is refused, and nothing of it stays', async () => {
  const wrong = Buffer.from(pack);
  wrong.writeUInt8(wrong.readUInt8(3) ^ 1, 3);
  for (const [theirIndex, theirPack] of [
    [index, wrong],
    [index, pack.subarray(1)],
    [index, Buffer.concat([pack, Buffer.alloc(1)])],
    [index.replace('a/b.css', 'a/c.css'), pack],
    ['', pack],
  ] as const) {
    answer = (request, response) => response.end(request.url?.endsWith('/index') ? theirIndex : theirPack);
    await assertFails('CopyRefused');
    assert.deepEqual(await isLeft(), ['bundles']);
    assert.deepEqual(await readdir(join(storeDir, 'bundles')), []);
  }
});

test('503 is busy, another status and a redirect are no copy', async () => {
  const target = 'http://169.254.169.254/latest/meta-data';
  for (const [status, code] of [
    [503, 'PeerBusy'],
    [404, 'PeerLost'],
    [302, 'PeerLost'],
  ] as const) {
    answer = (_request, response) => response.writeHead(status, { location: target }).end();
    await assertFails(code);
  }
});

test('if a whole copy is stored already, its own index is returned, because its files may lie in another order', async () => {
  const earlier = await putBundle(storeDir, { 'a/b.css': 'b'.repeat(5000), 'index.html': 'home' });
  const theirs = parseIndex(index)?.index;
  assert.equal(earlier.digest, digest);
  assert.notDeepEqual(earlier.files, theirs?.files);
  answer = whole;
  assert.deepEqual(await take(), earlier);
});

test('an index is held to the limits, and its notes are left behind', () => {
  const document = parseIndex(index) ?? assert.fail();
  const noted = formatIndex({
    ...document,
    index: { ...document.index, notes: [{ code: 'Lie', count: 1, example: 'x' }] },
  });
  assert.deepEqual(readCopyIndex(noted, digest, defaultLimits)?.index.notes, []);
  for (const limits of [
    { maxFiles: 1 },
    { maxFileBytes: 4999 },
    { maxTotalBytes: 5003 },
    { maxPathBytes: 3 },
  ]) {
    assert.equal(readCopyIndex(index, digest, { ...defaultLimits, ...limits }), undefined);
  }
  assert.equal(readCopyIndex(index, 'f'.repeat(64), defaultLimits), undefined);
});

test('a copy without the bytes of a file that is served is refused', () => {
  const files = ['.net.html', 'index.html'].map((path) => ({
    ...{ path, size: 1, sha256: 'ab'.repeat(32), offset: path === 'index.html' ? 0 : noBytes },
  }));
  const sums = { digest: digestOf(files), pages: 1, sizeBytes: 2, notes: [] };
  const read = (offsets: readonly number[], serveDotfiles: readonly string[]) => {
    const placed = files.map((file, at) => ({ ...file, offset: offsets[at] ?? 0 }));
    const text = formatIndex({
      index: { ...sums, files: placed },
      packBytes: offsets.filter((at) => at >= 0).length,
    });
    return readCopyIndex(text, sums.digest, defaultLimits, serveDotfiles)?.index.notes;
  };
  assert.deepEqual(read([noBytes, 0], []), [
    { code: 'NotServed', count: 1, example: '".net.html"', paths: ['".net.html"'] },
  ]);
  assert.equal(read([noBytes, 0], ['.net']), undefined);
  assert.deepEqual(read([0, 1], ['.net']), []);
  assert.equal(read([0, noBytes], []), undefined, 'a page is missing');
});

/** The text with something else in its second line, and the hash of that. */
function restated(change: (json: string) => string): string {
  const json = change(index.split('\n')[1] ?? '');
  return `static-export-index/2 ${createHash('sha256').update(json).digest('hex')}\n${json}\n`;
}

test('an index whose pack is larger than its files, or has gaps, is refused', () => {
  const { index: own, packBytes } = parseIndex(index) ?? assert.fail();
  const [first, second] = own.files;
  assert.ok(first !== undefined && second !== undefined);
  const apart = [first.offset === 0 ? second : first].map((file) => ({ ...file, offset: file.offset + 1 }));
  const others = own.files.filter(({ path }) => path !== apart[0]?.path);
  const files = [...apart, ...others].sort((a, b) => (a.path < b.path ? -1 : 1));
  for (const text of [
    formatIndex({ index: own, packBytes: packBytes + 1 }),
    formatIndex({ index: own, packBytes: defaultLimits.maxTotalBytes }),
    formatIndex({ index: { ...own, files }, packBytes: packBytes + 1 }),
  ]) {
    assert.notEqual(parseIndex(text), undefined);
    assert.equal(readCopyIndex(text, digest, defaultLimits), undefined);
  }
});

test('an index of another form is refused before it is parsed', () => {
  const changes: readonly ((json: string) => string)[] = [
    (json) => json.replace('{', `{"more":[${'[],'.repeat(120_000)}[]],`),
    (json) => json.replace(/\}$/, ',"more":[[],[],[]]}'),
    (json) => json.replace('"files":', '"files": '),
  ];
  assert.notEqual(
    readCopyIndex(
      restated((json) => json),
      digest,
      defaultLimits,
    ),
    undefined,
  );
  for (const change of changes) {
    const text = restated(change);
    assert.notEqual(parseIndex(text), undefined, 'true of itself');
    assert.equal(readCopyIndex(text, digest, defaultLimits), undefined);
  }
});

test('the longest valid index fits the limit on its size', () => {
  const longest = 'x'.repeat(defaultLimits.maxPathBytes);
  const most = { ...defaultLimits, maxFiles: 50, maxMetadataBytes: 50 * longest.length };
  const files = Array.from({ length: most.maxFiles }, (_, at) => ({
    path: `${at}`.padEnd(longest.length, 'x'),
    offset: Number.MAX_SAFE_INTEGER,
    size: Number.MAX_SAFE_INTEGER,
    sha256: 'f'.repeat(64),
  }));
  const { index: own } = parseIndex(index) ?? assert.fail();
  const text = formatIndex({ index: { ...own, files }, packBytes: Number.MAX_SAFE_INTEGER });
  assert.ok(Buffer.byteLength(text) <= maxIndexBytes(most));
});

test('a copy keeps the types of its files, as many as an export may have', () => {
  const count = 2 * maxTypeEntries;
  const files = Array.from({ length: count }, (_, at) => ({
    ...{ path: `f${`${at}`.padStart(6, '0')}`, offset: 0, size: 0, sha256: 'a'.repeat(64) },
    ...(at % 2 === 1 && { type: `image/${'x'.repeat(90)}${(at >> 1) % maxTypeKinds}` }),
  }));
  const own = { digest: digestOf(files), files, pages: 0, sizeBytes: 0, notes: [] };
  const text = formatIndex({ index: own, packBytes: 0 });
  assert.ok(Buffer.byteLength(text) <= maxIndexBytes({ ...defaultLimits, maxFiles: count }));
  assert.deepEqual(readCopyIndex(text, own.digest, defaultLimits)?.index.files, files);
});
