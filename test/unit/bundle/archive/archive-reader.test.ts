// Where a zip lies while it is read: nowhere that a death of ours could leave it.

import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { readArchive } from '#bundle/archive/archive-reader.ts';
import { createAssembly } from '#bundle/archive/assembly.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { createCountingSink } from '#bundle/store/pack.ts';
import { zip } from '../../../support/zip-builder.ts';

test('a zip has no name on the disk from its first byte on, and is read all the same', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'archive-reader-'));
  try {
    const bytes = zip([{ name: 'index.html', content: 'home '.repeat(1000) }]);
    const names: (readonly string[])[] = [];
    const source = async function* () {
      for (const [from, to] of [
        [0, 600],
        [600, 700],
        [700, bytes.length],
      ]) {
        yield bytes.subarray(from, to);
        names.push(await readdir(join(folder, 'work')).catch(() => []));
      }
    };
    const assembly = createAssembly(defaultLimits, createCountingSink());
    await readArchive(source(), assembly, defaultLimits, join(folder, 'work', 'spool'));
    assert.equal(assembly.finish().pages, 1);
    assert.deepEqual(names, [[], [], []]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
