// A pack holds what its index names and nothing else, in whatever order entries came and replaced each other.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAssembly } from '#bundle/archive/assembly.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { readCopyIndex } from '#bundle/peer/copy-index.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { formatIndex } from '#bundle/store/index-document.ts';
import { createPackWriter } from '#bundle/store/pack.ts';
import * as fc from '../../../support/properties.ts';

interface Entry {
  readonly name: string;
  readonly size: number;
  /** Another name for this one. */
  readonly linkTo: string | undefined;
}

const names = fc.constantFrom('a.html', 'b"],["c.html', 'c,1,2.html', 'd/e.html', 'é.html');
const sizes = fc.oneof(fc.nat(3000), fc.constantFrom(0, 1, 1_048_575, 1_048_576, 2_500_000));
const entries = fc.array(
  fc.record<Entry>({ name: names, size: sizes, linkTo: fc.option(names, { nil: undefined, freq: 4 }) }),
  { minLength: 1, maxLength: 9 },
);

/** Content of an entry by its place, so that each differs from the one it replaces. */
const contentOf = (at: number, size: number): Buffer => Buffer.alloc(size, `entry ${at} `);

test('replaced entries are taken out, every file keeps its bytes, and a copy of the pack is taken', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'pack-'));
  let count = 0;
  try {
    await fc.assertAsync(
      fc.asyncProperty(entries, async (list) => {
        count += 1;
        const path = join(dir, `pack-${count}`);
        const pack = createPackWriter(path);
        const assembly = createAssembly(defaultLimits, pack);
        const known = new Set<string>();
        for (const [at, { name, size, linkTo }] of list.entries()) {
          if (linkTo !== undefined && known.has(linkTo)) {
            assembly.linkFile(name, linkTo);
          } else {
            const file = assembly.beginFile(name, size);
            file.write(contentOf(at, size));
            file.end();
          }
          known.add(name);
        }
        const before = assembly.finish();
        const index = pack.compact(
          before,
          before.files.filter((file) => !isHiddenFile(file.path)),
        );
        await pack.commit();
        assert.equal(index.digest, before.digest);
        const bytes = await readFile(path);
        assert.equal(bytes.length, pack.position);
        for (const { path: name, offset, size, sha256 } of index.files) {
          const own = createHash('sha256')
            .update(bytes.subarray(offset, offset + size))
            .digest('hex');
          assert.equal(own, sha256, name);
        }
        const text = formatIndex({ index, packBytes: pack.position });
        const copied = readCopyIndex(text, index.digest, defaultLimits);
        assert.deepEqual(copied?.index.files, index.files);
      }),
      { numRuns: 60 },
    );
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
