// The check of a stored bundle over packs of several blocks: files that end, begin or lie across the borders of what is
// read at a time, disks that give less than was asked for, and names that share their bytes.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, test } from 'node:test';
import type { BundleFile } from '#bundle/bundle-index.ts';
import { countPages, digestOf, sizeOf } from '#bundle/store/digest.ts';
import type { DamagedBytes } from '#bundle/store/pending-check.ts';
import { holdsPack } from '#bundle/store/store-check.ts';
import { type StoreDisk, systemDisk } from '#bundle/store/store-disk.ts';
import * as fc from '../../../support/properties.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

let folder: string;
beforeEach((t) => {
  folder = temporaryFolder(t);
});

/** Gives at most so many bytes for one read, and knows whether a read was under way when the file was closed. */
function shortReads(most: number): StoreDisk & { readonly closedEarly: () => boolean } {
  let underWay = 0;
  let isEarly = false;
  return {
    ...systemDisk,
    closedEarly: () => isEarly,
    openFile: async (path) => {
      const file = await systemDisk.openFile(path);
      return {
        stat: () => file.stat(),
        read: async (into, offset, length, position) => {
          underWay += 1;
          const read = await file.read(into, offset, Math.min(length, most), position);
          underWay -= 1;
          return read;
        },
        close: () => {
          isEarly ||= underWay > 0;
          return file.close();
        },
      };
    },
  };
}

/** Files of these sizes one after another, and with `linked` a second name for each. */
function packOf(sizes: readonly number[], linked: boolean) {
  const bytes = Buffer.alloc(
    sizes.reduce((sum, size) => sum + size, 0),
    'the bytes of a pack, which differ from block to block;',
  );
  let offset = 0;
  const files = sizes.flatMap((size, at): readonly BundleFile[] => {
    const file = { offset, size, sha256: hash('sha256', bytes.subarray(offset, offset + size), 'hex') };
    offset += size;
    const names = linked ? [`a${at}.html`, `b${at}.html`] : [`a${at}.html`];
    return names.map((path) => ({ path, ...file }));
  });
  const sums = { digest: digestOf(files), pages: countPages(files), sizeBytes: sizeOf(files), notes: [] };
  return { bytes, document: { index: { ...sums, files }, packBytes: bytes.length } };
}

const mebibyte = 1024 * 1024;
const sizes = fc.array(
  fc.oneof(
    fc.nat(2000),
    fc.integer({ min: mebibyte - 2, max: mebibyte + 2 }),
    fc.nat(Math.floor(2.5 * mebibyte)),
  ),
  { minLength: 1, maxLength: 5 },
);

test('a pack is accepted as it is, and refused with one byte changed anywhere', async () => {
  const mosts = fc.constantFrom(100_000, mebibyte - 1, mebibyte);
  await fc.assertAsync(
    fc.asyncProperty(sizes, fc.boolean(), mosts, fc.nat(), async (list, linked, most, seed) => {
      const { bytes, document } = packOf(list, linked);
      const disk = shortReads(most);
      await writeFile(join(folder, 'pack'), bytes);
      assert.ok(await holdsPack(folder, document, disk));
      if (bytes.length > 0) {
        const at = seed % bytes.length;
        bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
        await writeFile(join(folder, 'pack'), bytes);
        assert.ok(!(await holdsPack(folder, document, disk)), `byte ${at}`);
      }
      assert.ok(!disk.closedEarly(), 'the file is closed after the last read');
    }),
    { numRuns: 40 },
  );
});

test('what is called proven lies before the first file that is damaged, in steps of some megabytes', async () => {
  const { bytes, document } = packOf(
    Array.from({ length: 20 }, () => mebibyte),
    false,
  );
  const proven: number[] = [];
  const onProven = (position: number): void => void proven.push(position / mebibyte);
  await writeFile(join(folder, 'pack'), bytes);
  assert.ok(await holdsPack(folder, document, systemDisk, { onProven }));
  assert.deepEqual(proven.splice(0), [4, 8, 12, 16]);
  bytes.writeUInt8(bytes.readUInt8(9 * mebibyte) ^ 1, 9 * mebibyte);
  await writeFile(join(folder, 'pack'), bytes);
  assert.ok(!(await holdsPack(folder, document, systemDisk, { onProven })));
  assert.deepEqual(proven, [4, 8]);
});

test('a check of what is served goes on behind damaged files, and names each', async () => {
  const { bytes, document } = packOf(
    Array.from({ length: 20 }, () => mebibyte),
    false,
  );
  for (const at of [9 * mebibyte, 13 * mebibyte + 5]) bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
  await writeFile(join(folder, 'pack'), bytes);
  const steps: string[] = [];
  const onProven = (position: number): void => void steps.push(`proven to ${position / mebibyte}`);
  const onDamaged = ({ offset, size }: DamagedBytes): void =>
    void steps.push(`damaged at ${offset / mebibyte}: ${size / mebibyte}`);
  assert.ok(!(await holdsPack(folder, document, systemDisk, { onProven, onDamaged })));
  const [last = '', ...before] = steps.toReversed();
  assert.deepEqual(before.toReversed(), [
    ...['proven to 4', 'proven to 8', 'damaged at 9: 1', 'proven to 12', 'damaged at 13: 1', 'proven to 16'],
  ]);
  assert.equal(last, 'proven to 20');
});

test('a part of the disk that cannot be read costs the files in it, and the others of what is served are proven', async () => {
  const { bytes, document } = packOf(
    Array.from({ length: 12 }, () => mebibyte / 2),
    false,
  );
  await writeFile(join(folder, 'pack'), bytes);
  let bad: number | undefined = 2 * mebibyte + 5;
  const failing: StoreDisk = {
    ...systemDisk,
    openFile: async (path) => {
      const file = await systemDisk.openFile(path);
      return {
        stat: () => file.stat(),
        close: () => file.close(),
        read: async (into, offset, length, position) => {
          if (bad === undefined || (position <= bad && bad < position + length))
            throw Object.assign(new Error('EIO'), { code: 'EIO' });
          return file.read(into, offset, length, position);
        },
      };
    },
  };
  const damaged: number[] = [];
  const proven: number[] = [];
  const steps = {
    onDamaged: ({ offset }: DamagedBytes) => void damaged.push(offset / mebibyte),
    onProven: (position: number) => void proven.push(position / mebibyte),
  };
  assert.ok(!(await holdsPack(folder, document, failing, steps)));
  assert.deepEqual([damaged, proven.at(-1)], [[2], 6]);
  bad = undefined;
  await assert.rejects(holdsPack(folder, document, failing, steps), { code: 'EIO' });
  assert.equal(damaged.length, 9, 'a disk that fails everywhere is not tried for each file');
  await assert.rejects(holdsPack(folder, document, failing), { code: 'EIO' });
});

test('two names at one place with different hashes are refused, in whatever order', async () => {
  const { bytes, document } = packOf([mebibyte + 7], true);
  await writeFile(join(folder, 'pack'), bytes);
  const [first = assert.fail(), second = assert.fail()] = document.index.files;
  const wrong = { ...second, sha256: hash('sha256', 'other bytes', 'hex') };
  for (const files of [
    [first, wrong],
    [wrong, first],
  ]) {
    const changed = { ...document, index: { ...document.index, files } };
    assert.ok(!(await holdsPack(folder, changed, systemDisk)));
  }
});

test('a read ahead that fails is the check’s failure where its bytes are needed', async () => {
  const { bytes, document } = packOf([mebibyte, mebibyte], false);
  await writeFile(join(folder, 'pack'), bytes);
  const failing: StoreDisk = {
    ...systemDisk,
    openFile: async (path) => {
      const file = await systemDisk.openFile(path);
      const fail = (): never => {
        throw Object.assign(new Error('EIO'), { code: 'EIO' });
      };
      return {
        stat: () => file.stat(),
        close: () => file.close(),
        read: async (into, offset, length, position) =>
          position === 0 ? file.read(into, offset, length, position) : fail(),
      };
    },
  };
  await assert.rejects(holdsPack(folder, document, failing), { code: 'EIO' });
});
