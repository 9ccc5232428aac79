// The files of a pack, for the archive writer. Invariant: all files of the index, those included that a server does not
// show, because only so the digest stays the same.

import type { StoredBundle } from '../store/stored-bundle.ts';
import type { ArchivedFile } from './archive-writer.ts';

const pieceBytes = 1024 * 1024;

/** @param bundle its pack holds the bytes of hidden files too */
export function packedFiles(bundle: StoredBundle): readonly ArchivedFile[] {
  return bundle.index.files.map(({ path, offset, size }) => ({
    path,
    size,
    read: async function* () {
      for (let at = 0; at < size; at += pieceBytes) {
        const piece = Buffer.allocUnsafe(Math.min(pieceBytes, size - at));
        await bundle.readInto({ offset: offset + at, size: piece.length }, piece);
        yield piece;
      }
    },
  }));
}
