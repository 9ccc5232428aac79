// Collects what a new kit will hold: bundles, other parts and their blobs, each blob once. Owns their order, which does not
// depend on the order of the calls for blobs. Invariant: the list names every entry that is written behind it.

import type { Descriptor, OpenBytes } from '../carrier.ts';
import { digestOfBytes } from '../image.ts';
import {
  blobPath,
  indexPath,
  type KitBundle,
  type KitDocument,
  type KitPart,
  kitFormat,
  layoutPath,
} from './kit-document.ts';
import { only } from './kit-writer.ts';
import { formatKitIndex, type IndexEntry, layoutBytes } from './layout.ts';

type BlobName = Pick<Descriptor, 'digest' | 'size'>;

export interface KitContents {
  addBlob(blob: BlobName, open: OpenBytes): void;
  addBytes(bytes: Buffer): void;
  hasBundle(digest: string): boolean;
  /** Its manifest is added by the caller, as its blobs are. */
  addBundle(bundle: KitBundle, entry: IndexEntry): void;
  addPart(part: KitPart, entry: IndexEntry): void;
  finish(head: KitHeadFields): FinishedContents;
}

export type KitHeadFields = Pick<KitDocument, 'name' | 'sequence' | 'createdTime'>;

export interface FinishedContents {
  readonly document: KitDocument;
  /** By path in the kit. */
  readonly contents: ReadonlyMap<string, OpenBytes>;
}

export function createKitContents(): KitContents {
  const blobs = new Map<string, { readonly blob: BlobName; readonly open: OpenBytes }>();
  const bundles: KitBundle[] = [];
  const parts: KitPart[] = [];
  const entries: IndexEntry[] = [];
  const addBlob = (blob: BlobName, open: OpenBytes): void => {
    if (!blobs.has(blob.digest)) blobs.set(blob.digest, { blob, open });
  };
  return {
    addBlob,
    addBytes: (bytes) => addBlob({ digest: digestOfBytes(bytes), size: bytes.length }, () => only(bytes)),
    hasBundle: (digest) => bundles.some((one) => one.digest === digest),
    addBundle: (bundle, entry) => {
      bundles.push(bundle);
      entries.push(entry);
    },
    addPart: (part, entry) => {
      parts.push(part);
      entries.push(entry);
    },
    finish: ({ name, sequence, createdTime }) => {
      const index = formatKitIndex(entries);
      const sorted = [...blobs.values()].sort((a, b) => (a.blob.digest < b.blob.digest ? -1 : 1));
      const files = [
        fileOf(layoutPath, layoutBytes),
        fileOf(indexPath, index),
        ...sorted.map(({ blob: { digest, size } }) => ({
          path: blobPath(digest),
          sha256: hexOf(digest),
          size,
        })),
      ];
      const contents = new Map<string, OpenBytes>([
        [layoutPath, () => only(layoutBytes)],
        [indexPath, () => only(index)],
        ...sorted.map(({ blob, open }) => [blobPath(blob.digest), open] as const),
      ]);
      const document = { format: kitFormat, name, sequence, createdTime, bundles, parts, files } as const;
      return { document, contents };
    },
  };
}

const hexOf = (digest: string): string => digest.slice('sha256:'.length);

const fileOf = (path: typeof layoutPath | typeof indexPath, bytes: Buffer) => ({
  path,
  sha256: hexOf(digestOfBytes(bytes)),
  size: bytes.length,
});
