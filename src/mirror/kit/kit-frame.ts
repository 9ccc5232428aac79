// Where each byte of a kit lies. A kit is an uncompressed ustar whose entries have one order, so its list alone says every
// header, offset and length. Invariant: two kits with the same list, signature and blobs are the same bytes.

import { tarEndMark, tarHeadersOf, tarPaddingOf } from '#bundle/archive/archive-writer.ts';
import { type KitFile, kitDocumentPath, signaturePath } from './kit-document.ts';

export interface FramedEntry {
  readonly path: string;
  readonly size: number;
  readonly header: Buffer;
  /** Of the header's first byte. */
  readonly offset: number;
  /** Of the content's first byte. */
  readonly contentAt: number;
  readonly padding: Buffer;
  /** Of the first byte after the padding. */
  readonly end: number;
}

export const endMark: Buffer = tarEndMark;

/** @param offset of the header */
export function frameEntry(path: string, size: number, offset: number): FramedEntry {
  const header = tarHeadersOf(path, size);
  const padding = tarPaddingOf(size);
  const contentAt = offset + header.length;
  return { path, size, header, offset, contentAt, padding, end: contentAt + size + padding.length };
}

export interface FramedKit {
  readonly document: FramedEntry;
  readonly signature: FramedEntry;
  readonly files: readonly FramedEntry[];
  /** Bytes of the whole kit, its end mark included. */
  readonly size: number;
}

export function frameKit(
  documentBytes: number,
  signatureBytes: number,
  files: readonly KitFile[],
): FramedKit {
  const document = frameEntry(kitDocumentPath, documentBytes, 0);
  const signature = frameEntry(signaturePath, signatureBytes, document.end);
  let at = signature.end;
  const framed = files.map(({ path, size }) => {
    const entry = frameEntry(path, size, at);
    at = entry.end;
    return entry;
  });
  return { document, signature, files: framed, size: at + endMark.length };
}
