// The whole way in a real worker thread: link in, committed bundle out, and nothing left behind when it fails.

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { type PrepareOptions, type PrepareRequest, prepareInWorker } from '#bundle/prepare/preparation.ts';
import { openBundleStore } from '#bundle/store/store.ts';
import { openPack } from '#bundle/store/stored-bundle.ts';
import { systemClock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { noise } from '../../../support/noise.ts';
import { type Storage, type StorageAnswer, startStorage } from '../../../support/storage-server.ts';
import { readText } from '../../../support/store-builder.ts';
import { tarOf } from '../../../support/tar-builder.ts';
import { zip } from '../../../support/zip-builder.ts';

const worker = new URL('../../../../src/bin/bundle-worker.ts', import.meta.url);
const files = { 'index.html': 'home', 'a.html': 'a'.repeat(5000), 'x.css': 'x' };
const archive = gzipSync(tarOf(files));

let dir = '';
const storages: Storage[] = [];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'preparation-'));
});
afterEach(async () => {
  for (const storage of storages.splice(0)) await storage.close();
  await rm(dir, { recursive: true, force: true });
});

async function requestOf(
  answer: StorageAnswer,
  fields: Partial<PrepareRequest> = {},
): Promise<PrepareRequest> {
  const storage = await startStorage(answer);
  storages.push(storage);
  return {
    link: storage.link(),
    storeDir: dir,
    expectedDigest: undefined,
    limits: defaultLimits,
    allowPrivateLinks: true,
    extraCaPem: undefined,
    userAgent: 'test',
    ...fields,
  };
}

const prepare = (request: PrepareRequest, options: Partial<PrepareOptions> = {}) =>
  prepareInWorker(worker, request, { signal: new AbortController().signal, ...options });

const fault = (kind: string, code: string) => (error: unknown) => {
  assert.ok(error instanceof PublishableError, String(error));
  assert.deepEqual([error.kind, error.code], [kind, code], error.message);
  return true;
};

test('a caller that serves the bundle gets the index of the stored copy', async () => {
  const taken: BundleIndex[] = [];
  let pauses = 0;
  const handOver = {
    pause: async () => {
      pauses += 1;
    },
    take: (index: BundleIndex) => taken.push(index),
  };
  const request = await requestOf((_request, response) => response.end(archive));
  const { digest } = await prepare(request, { handOver });
  const stored = await (await openBundleStore(dir, { keep: 2 })).open(digest);
  assert.deepEqual(taken, [stored?.index]);
  assert.equal(pauses, 1);
  await stored?.close();
  // Prepared once more, the first copy stays, with its files where they lie in it.
  const other = gzipSync(tarOf(Object.fromEntries(Object.entries(files).reverse())));
  const again = await requestOf((_request, response) => response.end(other));
  assert.equal((await prepare(again, { handOver })).digest, digest);
  assert.deepEqual(taken[1], taken[0]);
});

test('a caller that serves the bundle may open it before the promise resolves', async () => {
  const offered: string[] = [];
  const handOver = {
    pause: async () => {},
    take: () => offered.push('taken'),
    offer: async (index: BundleIndex, packPath: string) => {
      const bundle = await openPack(packPath, index, undefined);
      for (const file of index.files) offered.push(readText(bundle, file));
      await bundle.close();
    },
  };
  const request = await requestOf((_request, response) => response.end(archive));
  await prepare(request, { handOver });
  assert.deepEqual(offered, ['a'.repeat(5000), 'home', 'x', 'taken']);
});

test('a bundle is in the store, verified, when the promise resolves', async () => {
  const seen: number[] = [];
  const request = await requestOf((_request, response) => response.end(archive));
  const index = await prepare(request, { onProgress: ({ receivedBytes }) => seen.push(receivedBytes) });
  assert.equal(index.pages, 2);
  assert.ok(seen.some((bytes) => bytes > 0));
  assert.deepEqual(await readdir(dir), ['bundles']);
  const bundle = await (await openBundleStore(dir, { keep: 2 })).open(index.digest);
  const { files: _, ...summary } = bundle?.index ?? {};
  assert.deepEqual({ ...summary, files: [] }, index);
  for (const file of bundle?.index.files ?? []) {
    assert.equal(
      bundle && readText(bundle, file),
      Object.entries(files).find(([path]) => path === file.path)?.[1],
    );
  }
  await bundle?.close();
});

test('an inspection gives the same index and writes nothing', async () => {
  const inspected = await prepare(
    await requestOf((_request, response) => response.end(archive), { storeDir: undefined }),
  );
  const stored = await prepare(await requestOf((_request, response) => response.end(archive)));
  assert.deepEqual(inspected, stored);
});

test('a zip is spooled beside the store and leaves nothing of that', async () => {
  const bytes = zip(Object.entries(files).map(([name, content]) => ({ name, content })));
  const index = await prepare(await requestOf((_request, response) => response.end(bytes)));
  assert.deepEqual(await readdir(dir), ['bundles']);
  const fromTar = await prepare(await requestOf((_request, response) => response.end(archive)));
  assert.equal(fromTar.digest, index.digest);
});

test('the published digest is accepted, and nothing else is', async () => {
  const { digest } = await prepare(await requestOf((_request, response) => response.end(archive)));
  const same = await requestOf((_request, response) => response.end(archive), { expectedDigest: digest });
  assert.equal((await prepare(same)).digest, digest);
  const other = gzipSync(tarOf({ ...files, 'a.html': 'changed' }));
  const request = await requestOf((_request, response) => response.end(other), { expectedDigest: digest });
  await assert.rejects(prepare(request), fault('refused', 'DigestMismatch'));
  assert.deepEqual(await readdir(join(dir, 'bundles')), [digest]);
  assert.deepEqual(await readdir(dir), ['bundles']);
});

test('kind, code and message of an error cross the thread, and no file stays', async () => {
  const cases: readonly (readonly [StorageAnswer, string, string])[] = [
    [(_request, response) => response.end('<html>'), 'retry', 'HtmlInsteadOfArchive'],
    [(_request, response) => response.end(archive.subarray(0, -20)), 'refused', 'TruncatedArchive'],
    [(_request, response) => response.writeHead(403).end(), 'stall', 'LinkRefused'],
    [(_request, response) => response.writeHead(500).end(), 'retry', 'StorageUnavailable'],
  ];
  for (const [answer, kind, code] of cases) {
    await assert.rejects(prepare(await requestOf(answer)), fault(kind, code));
    assert.deepEqual(await readdir(dir), []);
  }
});

const bad = tarOf({ 'index.html': 'home', '../x.html': noise(4000) });
const kinds = {
  tar: bad,
  gzip: gzipSync(bad),
  zstd: zstdCompressSync(bad),
  other: Buffer.from('x'.repeat(4000)),
};
for (const [kind, bytes] of Object.entries(kinds)) {
  // Less than the 30 s after which silence ends a download.
  test(`a verdict does not wait for a storage that has gone silent: ${kind}`, {
    timeout: 25_000,
  }, async () => {
    const request = await requestOf((_request, response) => {
      response.writeHead(200, { 'content-length': 10_000_000 }).write(bytes);
      if (kind === 'tar') response.write(Buffer.alloc(200_000));
    });
    const isArchive = kind !== 'other';
    const expected = isArchive ? fault('refused', 'ParentPath') : fault('retry', 'UnknownArchiveType');
    await assert.rejects(prepare(request), expected);
  });
}

test('a link to an internal address is refused unless that is allowed', async () => {
  const request = await requestOf((_request, response) => response.end(archive), {
    allowPrivateLinks: false,
  });
  await assert.rejects(prepare(request), fault('retry', 'PrivateLink'));
  assert.equal(storages[0]?.requests.length, 0);
});

test('a broken download without an ETag is started again, three times in all', async () => {
  const breaking: StorageAnswer = (_request, response) => {
    response.writeHead(200, { 'content-length': archive.length });
    response.write(archive.subarray(0, 40), () => response.destroy());
  };
  const healing = await requestOf((request, response, count) => {
    if (count < 3) breaking(request, response, count);
    else response.end(archive);
  });
  assert.equal((await prepare(healing)).pages, 2);
  assert.equal(storages[0]?.requests.length, 3);
  await assert.rejects(prepare(await requestOf(breaking)), fault('retry', 'DownloadInterrupted'));
  assert.equal(storages[1]?.requests.length, 3);
});

test('an abort ends thread, download and temporary files, with the caller’s reason', async () => {
  const caller = new AbortController();
  const reason = new Error('no longer wanted');
  const closed = Promise.withResolvers<void>();
  const request = await requestOf((_request, response) => {
    response.on('close', closed.resolve);
    response.write(archive.subarray(0, 40));
  });
  const preparing = prepare(request, { signal: caller.signal, onProgress: () => caller.abort(reason) });
  await assert.rejects(preparing, reason);
  await closed.promise;
  assert.deepEqual(await readdir(dir), []);
  await assert.rejects(prepare(request, { signal: caller.signal }), reason);
});

test('a deadline of the caller is a transient error', async () => {
  const late = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
  const request = await requestOf((_request, response) => response.end(archive));
  await assert.rejects(prepare(request, { signal: late }), fault('retry', 'PreparationTimeout'));
});

test('a store that cannot be written is transient', async () => {
  const storeDir = join(dir, 'file');
  await writeFile(storeDir, '');
  const request = await requestOf((_request, response) => response.end(archive), { storeDir });
  await assert.rejects(prepare(request), fault('retry', 'StoreUnavailable'));
});

test('a bad copy of the same bundle is replaced', async () => {
  const request = await requestOf((_request, response) => response.end(archive));
  const { digest } = await prepare(request);
  await rm(join(dir, 'bundles', digest), { recursive: true });
  await mkdir(join(dir, 'bundles', digest));
  await writeFile(join(dir, 'bundles', digest, 'pack'), 'half');
  await prepare(request);
  const bundle = await (await openBundleStore(dir, { keep: 2 })).open(digest);
  assert.equal(bundle?.index.digest, digest);
  await bundle?.close();
});

for (const [name, code] of [
  ['dies', 'throw new Error("defect")'],
  ['ends without a word', ''],
  ['says something else', 'require("node:worker_threads").parentPort.postMessage({ type: "hello" })'],
] as const) {
  test(`a thread that ${name} is a transient error`, async () => {
    const program = new URL(
      `data:text/javascript,${encodeURIComponent(code.replace(/require\((.*?)\)/, '(await import($1))'))}`,
    );
    const request = await requestOf((_request, response) => response.end(archive));
    const preparing = prepareInWorker(program, request, { signal: new AbortController().signal });
    await assert.rejects(preparing, fault('retry', 'PreparationFailed'));
  });
}

test('a thread that reports no progress for 15 minutes is ended', async () => {
  const program = new URL('data:text/javascript,setInterval(() => {}, 1000)');
  const request = await requestOf((_request, response) => response.end(archive));
  const clock = {
    ...systemClock,
    after: (ms: number, signal?: AbortSignal) => systemClock.after(ms === 15 * 60_000 ? 20 : ms, signal),
  };
  const preparing = prepareInWorker(program, request, { signal: new AbortController().signal, clock });
  await assert.rejects(preparing, fault('retry', 'PreparationTimeout'));
});
