// The memory of a reading is bounded by its buffers, not by the archive.

import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createGzip } from 'node:zlib';
import { readArchive } from '#bundle/archive/archive-reader.ts';
import { createAssembly } from '#bundle/archive/assembly.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { createCountingSink } from '#bundle/store/pack.ts';
import { noise } from '../../../support/noise.ts';
import { body, endMark, header } from '../../../support/tar-builder.ts';

const mib = 1024 * 1024;
const fileCount = 160;

/** 160 files of 1 MiB that do not compress, made as they are asked for. */
async function* largeTar(seen: () => void): AsyncGenerator<Buffer> {
  const noisy = body(noise(mib));
  for (let at = 0; at < fileCount; at += 1) {
    seen();
    yield header({ name: `f${at}.html`, size: mib });
    yield noisy;
  }
  yield endMark;
}

async function* gzipped(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const gzip = createGzip({ level: 0 });
  const feeding = (async () => {
    for await (const chunk of source) {
      if (!gzip.write(chunk)) await new Promise((resolve) => gzip.once('drain', resolve));
    }
    gzip.end();
  })();
  for await (const chunk of gzip) if (chunk instanceof Buffer) yield chunk;
  await feeding;
}

test('160 MiB of tar.gz are read within 64 MiB of buffers', { timeout: 60_000 }, async () => {
  let peak = 0;
  const before = process.memoryUsage().arrayBuffers;
  const source = gzipped(
    largeTar(() => {
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
    }),
  );
  const assembly = createAssembly(defaultLimits, createCountingSink());
  await readArchive(source, assembly, defaultLimits, join(tmpdir(), 'never-spooled'));
  const index = assembly.finish();
  assert.equal(index.sizeBytes, fileCount * mib);
  assert.equal(index.pages, fileCount);
  assert.ok(peak < 64 * mib, `${Math.round(peak / mib)} MiB`);
});
