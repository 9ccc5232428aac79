// Archives whose bytes depend on names and contents alone: sorted entries, one time, one owner, one mode. Owns how a release
// packs. Refuses nothing: what goes in is decided by its caller.

import { createReadStream, createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { createGzip, gunzipSync } from 'node:zlib';
import { extract, pack } from 'tar-stream';

export interface PackedFile {
  readonly name: string;
  readonly bytes: Buffer;
}

const fixed = (seconds: number) => ({ mtime: new Date(seconds * 1000), mode: 0o644, uid: 0, gid: 0 });

/**
 * @param files in the order that the archive gets: Helm wants `Chart.yaml` first
 * @param seconds of each entry, since 1970
 */
export async function packGzip(files: readonly PackedFile[], seconds: number): Promise<Buffer> {
  const archive = pack();
  for (const { name, bytes } of files) archive.entry({ name, ...fixed(seconds) }, bytes);
  archive.finalize();
  // Its header names no time and no system.
  return buffer(archive.pipe(createGzip({ level: 9 })));
}

/** The regular files of a gzipped tar, whole. */
export async function unpackGzip(bytes: Buffer): Promise<readonly PackedFile[]> {
  const entries = extract();
  entries.end(gunzipSync(bytes));
  const files: PackedFile[] = [];
  for await (const entry of entries) {
    const content = await buffer(entry);
    if (entry.header.type === 'file') files.push({ name: entry.header.name, bytes: content });
  }
  return files;
}

/**
 * Writes a tar of files that are too large to hold.
 * @param names relative to `folder`, in the order that the archive gets
 */
export async function packFolder(
  folder: string,
  names: readonly string[],
  seconds: number,
  to: string,
): Promise<void> {
  const archive = pack();
  const written = pipeline(archive, createWriteStream(to));
  for (const name of names) {
    const file = join(folder, name);
    const { size } = await stat(file);
    await pipeline(createReadStream(file), archive.entry({ name, size, ...fixed(seconds) }));
  }
  archive.finalize();
  await written;
}
