// A stored bundle in memory, as a pack with the bytes of hidden files would give it.

import { hash } from 'node:crypto';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { countPages, digestOf, sizeOf, sortFiles } from '#bundle/store/digest.ts';
import type { PackSink } from '#bundle/store/pack.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';

export type MemorySite = Readonly<Record<string, string | Buffer>>;

export function memoryBundle(site: MemorySite): StoredBundle {
  const chunks: Buffer[] = [];
  let offset = 0;
  const files = Object.entries(site).map(([path, content]) => {
    const bytes = Buffer.from(content);
    const file = { path, offset, size: bytes.length, sha256: hash('sha256', bytes, 'hex') };
    chunks.push(bytes);
    offset += bytes.length;
    return file;
  });
  const sorted = sortFiles(files);
  const index = {
    digest: digestOf(sorted),
    files: sorted,
    pages: countPages(sorted),
    sizeBytes: sizeOf(sorted),
    notes: [],
  };
  const pack = Buffer.concat(chunks);
  const readIntoSync: StoredBundle['readIntoSync'] = (file, into) => {
    pack.copy(into, 0, file.offset, file.offset + file.size);
  };
  return {
    index,
    activation: undefined,
    readIntoSync,
    proven: async () => {},
    untilProven: () => undefined,
    readInto: async (file, into) => readIntoSync(file, into),
    readStart: async (file, into) => readIntoSync({ ...file, size: into.length }, into),
    close: async () => {},
  };
}

export function archivedFiles(bundle: StoredBundle): readonly ArchivedFile[] {
  return bundle.index.files.map((file) => ({
    path: file.path,
    size: file.size,
    read: () => {
      const bytes = Buffer.alloc(file.size);
      bundle.readIntoSync(file, bytes);
      return [bytes];
    },
  }));
}

/** A pack whose bytes a test may read. */
export function memoryPack(): PackSink & { readonly bytes: () => Buffer } {
  const chunks: Buffer[] = [];
  let position = 0;
  return {
    get position() {
      return position;
    },
    append: (chunk) => {
      chunks.push(Buffer.from(chunk));
      position += chunk.length;
    },
    bytes: () => Buffer.concat(chunks),
  };
}
