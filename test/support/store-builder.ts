// Puts a bundle into a store the way a preparation does, without an archive or a thread.

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createAssembly } from '#bundle/archive/assembly.ts';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { defaultLimits } from '#bundle/limits.ts';
import { commitBundle } from '#bundle/store/commit.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { createPackWriter } from '#bundle/store/pack.ts';
import { type StoreDisk, systemDisk } from '#bundle/store/store-disk.ts';
import type { PackedBytes, StoredBundle } from '#bundle/store/stored-bundle.ts';

/** @param files content by path */
export async function putBundle(
  storeDir: string,
  files: Readonly<Record<string, string | Buffer>>,
  disk: StoreDisk = systemDisk,
): Promise<BundleIndex> {
  const staged = join(storeDir, `.incoming-${process.hrtime.bigint()}`, 'bundle');
  await mkdir(staged, { recursive: true });
  const pack = createPackWriter(join(staged, 'pack'));
  const assembly = createAssembly(defaultLimits, pack);
  for (const [name, content] of Object.entries(files)) {
    const file = assembly.beginFile(name, Buffer.byteLength(content));
    file.write(Buffer.from(content));
    file.end();
  }
  const read = assembly.finish();
  const index = pack.compact(
    read,
    read.files.filter(({ path }) => !isHiddenFile(path)),
  );
  await pack.commit();
  await commitBundle(storeDir, staged, index, pack.position, disk);
  return index;
}

/** The text of one file, as the stored bundle gives it. */
export function readText(bundle: StoredBundle, file: PackedBytes): string {
  const bytes = Buffer.alloc(file.size);
  bundle.readIntoSync(file, bytes);
  return bytes.toString();
}
