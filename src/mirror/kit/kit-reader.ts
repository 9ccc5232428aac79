// Reads a kit. Its list says every header, offset and length, so each byte is compared or hashed: an entry that is unlisted,
// missing, longer, of another type or in another place is a difference. Refuses to parse a list before its signature is
// checked, unless the caller only shows it. Invariant: memory is bounded by the list's limit and one piece.

import { createHash } from 'node:crypto';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { BlobReader, Descriptor } from '../carrier.ts';
import { digestOfBytes } from '../image.ts';
import {
  blobPath,
  indexPath,
  type KitDocument,
  kitDocumentPath,
  longestDocument,
  parseDocument,
  signaturePath,
} from './kit-document.ts';
import { type KitError, type KitErrorCode, kitDamaged } from './kit-error.ts';
import { endMark, type FramedEntry, type FramedKit, frameEntry, frameKit } from './kit-frame.ts';
import { type IndexEntry, parseKitIndex } from './layout.ts';
import { signatureKeyId, type VerifyKey, verifyBytes } from './minisign.ts';

/** A kit's bytes, whether they lie in one file or in parts. */
export interface KitSource {
  readonly size: number;
  /** Exactly these bytes. @throws where there are fewer */
  read(position: number, length: number): Promise<Buffer>;
}

export interface KitHead {
  readonly document: KitDocument;
  /** Of the list: names this kit and no other. */
  readonly documentDigest: string;
  /** The key that the signature names; unchecked where none was given. */
  readonly keyId: string;
  readonly frame: FramedKit;
}

const blockBytes = 512;
const longestSignature = 4096;
/** Manifests are read whole. */
const longestManifest = 4 * 1024 * 1024;
const pieceBytes = 1024 * 1024;

/**
 * List and signature, and whether the kit has the length that follows from them.
 *
 * @param key `undefined`: for showing the list only
 * @throws {KitError} `SignatureInvalid`, `KitDamaged`, `KitFormatUnknown`; what the source throws
 */
export async function readKitHead(source: KitSource, key: VerifyKey | undefined): Promise<KitHead> {
  await requireKit(source);
  const document = await readFirst(source, kitDocumentPath, longestDocument, 0);
  const signature = await readFirst(source, signaturePath, longestSignature, document.end);
  const text = signature.content.toString('latin1');
  if (key !== undefined) verifyBytes(document.content, text, key);
  const list = parseDocument(document.content);
  const frame = frameKit(document.content.length, signature.content.length, list.files);
  if (source.size < frame.size) throw kitDamaged('it is cut off, or a part of it is missing');
  if (source.size > frame.size) throw kitDamaged('it goes on after its end');
  return {
    document: list,
    documentDigest: digestOfBytes(document.content),
    keyId: signatureKeyId(text),
    frame,
  };
}

/** Beginnings of other files that people have at hand. */
const otherFiles: readonly (readonly [start: string, what: string])[] = [
  ['1f8b', 'a gzip file, such as the tar.gz of a site'],
  ['28b52ffd', 'a zstd file, such as the tar.zst of a site'],
  ['504b0304', 'a zip file'],
];

/** A copy again would not help. @throws {KitError} `NotAKit` */
async function requireKit(source: KitSource): Promise<void> {
  const header = await source.read(0, Math.min(source.size, blockBytes));
  const [, what] = otherFiles.find(([start]) => header.toString('hex').startsWith(start)) ?? [];
  if (what !== undefined) throw notAKit(what);
  const name = header.toString('latin1', 0, 100).replace(/\0.*$/s, '');
  if (name !== kitDocumentPath && isTarHeader(header)) throw notAKit('a tar archive, such as that of a site');
}

function isTarHeader(header: Buffer): boolean {
  if (header.length < blockBytes) return false;
  const sum = header.reduce((all, byte, at) => all + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  return sum === Number.parseInt(header.toString('latin1', 148, 156), 8);
}

const notAKit = (what: string): KitError =>
  new PublishableError<KitErrorCode>('NotAKit', `the file is not a kit: it is ${what}`, {
    kind: 'refused',
    remedy: 'static-export bundle verify ARCHIVE  # checks the archive of a site',
  });

/** One of the two entries whose sizes no list gives. */
async function readFirst(source: KitSource, path: string, longest: number, offset: number) {
  if (source.size < offset + blockBytes) throw kitDamaged('it is cut off');
  const header = await source.read(offset, blockBytes);
  // The size counts only where the whole header is the one that follows from it.
  const size = Number.parseInt(header.toString('latin1', 124, 135), 8);
  const isSize = Number.isSafeInteger(size) && size >= 0 && size <= longest;
  const entry = isSize ? frameEntry(path, size, offset) : undefined;
  if (entry === undefined || !entry.header.equals(header))
    throw kitDamaged(`${path} is not where it must be`);
  if (source.size < entry.end) throw kitDamaged('it is cut off');
  const bytes = await source.read(entry.contentAt, size + entry.padding.length);
  if (!bytes.subarray(size).equals(entry.padding)) throw kitDamaged(`bytes behind ${path} are not zeros`);
  return { content: bytes.subarray(0, size), end: entry.end };
}

/**
 * Compares and hashes every byte behind list and signature.
 *
 * @param onProgress gets the bytes that were checked so far
 * @throws {KitError} `KitDamaged`; what the source throws; the signal's reason
 */
export async function checkContents(
  source: KitSource,
  { document, frame }: KitHead,
  onProgress: (checkedBytes: number) => void,
  signal: AbortSignal,
): Promise<void> {
  for (const [at, entry] of frame.files.entries()) {
    const { path, contentAt, size, end, padding } = entry;
    signal.throwIfAborted();
    if (!(await source.read(entry.offset, entry.header.length)).equals(entry.header)) {
      throw kitDamaged(await differenceAt(source, entry));
    }
    const hash = createHash('sha256');
    for (let from = contentAt; from < contentAt + size; ) {
      const piece = await source.read(from, Math.min(pieceBytes, contentAt + size - from));
      signal.throwIfAborted();
      hash.update(piece);
      from += piece.length;
      onProgress(from);
    }
    if (hash.digest('hex') !== document.files[at]?.sha256)
      throw kitDamaged(`${path} does not have its SHA-256`);
    if (!(await source.read(contentAt + size, padding.length)).equals(padding)) {
      throw kitDamaged(`bytes behind ${path} are not zeros`);
    }
    onProgress(end);
  }
  const rest = await source.read(frame.size - endMark.length, endMark.length);
  if (!rest.equals(endMark)) throw kitDamaged('its end mark is missing, or an entry is not in its list');
}

/** For a message: what a tar program would see there. */
async function differenceAt(source: KitSource, { path, offset }: FramedEntry): Promise<string> {
  const header = await source.read(offset, blockBytes);
  const type = header.toString('latin1', 156, 157);
  const name = header.toString('latin1', 0, 100).replace(/\0.*$/s, '');
  if (type !== '0' && /^[1-7gxLKSVM]$/.test(type))
    return `an entry of another type than a file is where ${path} must be`;
  if (name === path) return `the header of ${path} differs`;
  return `another entry is where ${path} must be`;
}

export interface KitBlobs extends BlobReader {
  /** The entries of the layout's index. */
  readIndex(): Promise<readonly IndexEntry[]>;
}

/**
 * The blobs of a kit as a carrier gives them. Each call throws {KitError} instead of {MirrorError} for what is damaged.
 *
 * @param name for messages
 */
export function kitBlobs(source: KitSource, { frame }: KitHead, name: string): KitBlobs {
  const entries = new Map(frame.files.map((entry) => [entry.path, entry]));
  return {
    name,
    readManifest: async (reference) => {
      // A kit names manifests by their digests alone.
      const entry = reference.startsWith('sha256:') ? entries.get(blobPath(reference)) : undefined;
      if (entry === undefined || entry.size > longestManifest) return undefined;
      const bytes = await source.read(entry.contentAt, entry.size);
      if (digestOfBytes(bytes) !== reference) throw blobDamaged();
      return bytes;
    },
    readBlob: async function* ({ digest, size }: Descriptor, signal) {
      const entry = entries.get(blobPath(digest));
      if (entry === undefined) throw new PublishableError('BlobMissing', `A blob is missing in ${name}.`);
      if (entry.size !== size) throw blobDamaged();
      const hash = createHash('sha256');
      for (let at = 0; at < size; ) {
        signal.throwIfAborted();
        const piece = await source.read(entry.contentAt + at, Math.min(pieceBytes, size - at));
        hash.update(piece);
        at += piece.length;
        yield piece;
      }
      // The file may have changed since it was checked.
      if (`sha256:${hash.digest('hex')}` !== digest) throw blobDamaged();
    },
    readIndex: async () => {
      const entry = entries.get(indexPath);
      const isRead = entry !== undefined && entry.size <= longestManifest;
      const index = isRead ? parseKitIndex(await source.read(entry.contentAt, entry.size)) : undefined;
      if (index === undefined) throw kitDamaged('index.json is not the index of a layout');
      return index;
    },
    close: async () => {},
  };
}

const blobDamaged = () => kitDamaged('a blob changed while it was read');
