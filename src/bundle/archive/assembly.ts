// Turns files into an index; this half of reading does not depend on the kind of archive. Owns: names, collisions,
// limits of count and size, the hash of each file, the wrapping folder, the digest. Invariant: a file enters the index
// only after its last byte was hashed and written to the pack.

import { createHash, type Hash, hash } from 'node:crypto';
import { composedForm } from '../../wire/unicode-form.ts';
import type { BundleFile, BundleIndex, BundleNote } from '../bundle-index.ts';
import type { BundleLimits } from '../limits.ts';
import { printableName, refusal } from '../refusal.ts';
import { countPages, digestOf, sizeOf, sortFiles } from '../store/digest.ts';
import { isHiddenFile } from '../store/hidden-files.ts';
import type { PackSink } from '../store/pack.ts';
import { checkFolderPath, readFilePath } from './entry-path.ts';

/** One file that is being added. */
export interface IncomingFile {
  /** @throws {BundleError} `InvalidSize` when more comes than was declared */
  write(chunk: Uint8Array): void;
  /** @throws {BundleError} `InvalidSize` when less came than was declared */
  end(): void;
}

export interface Assembly {
  /** Files so far, for progress. */
  readonly files: number;
  /** @param size in bytes, as declared by the archive */
  beginFile(name: string, size: number): IncomingFile;
  /** Checks the name and ignores the rest: folders follow from files. */
  passFolder(name: string): void;
  /** A hard link: another name for an earlier file. */
  linkFile(name: string, target: string): void;
  /** Notes that the archive has more bytes for the name of this file, after the NUL that ends it. */
  noteCutName(name: string): void;
  /** @throws {BundleError} `EmptyBundle`, `UnicodeTwins` */
  finish(): BundleIndex;
}

type FileBody = Omit<BundleFile, 'path'>;

/**
 * Every method throws a rejected {@link BundleError} for an error in the archive.
 *
 * @param hasExactPaths the archive was written from a bundle, so that a top folder belongs to its paths
 */
export function createAssembly(limits: BundleLimits, pack: PackSink, hasExactPaths = false): Assembly {
  const files = new Map<string, FileBody>();
  const notes = createNotes();
  let entries = 0;
  let contentBytes = 0;
  let nameBytes = 0;

  const countEntry = (): void => {
    entries += 1;
    if (entries > limits.maxFiles) throw refusal('TooManyFiles');
  };
  const takePath = (name: string): string => {
    countEntry();
    const { path, isNormalised } = readFilePath(name, limits);
    nameBytes += Buffer.byteLength(path);
    if (nameBytes > limits.maxMetadataBytes) throw refusal('MetadataTooLarge');
    if (isNormalised) notes.add('PathNormalised', exampleOf(name, path));
    return path;
  };
  const put = (path: string, body: FileBody): void => {
    if (files.has(path)) notes.add('DuplicateReplaced', exampleOf(path, path));
    files.set(path, body);
  };

  return {
    get files() {
      return files.size;
    },
    beginFile: (name, size) => {
      const path = takePath(name);
      if (!Number.isSafeInteger(size) || size < 0) throw refusal('InvalidSize', { name });
      if (size > limits.maxFileBytes) throw refusal('FileTooLarge', { name });
      contentBytes += size;
      if (contentBytes > limits.maxTotalBytes) throw refusal('ContentTooLarge');
      const offset = pack.position;
      const hashing = createFileHash(size);
      let left = size;
      return {
        write: (chunk) => {
          left -= chunk.length;
          if (left < 0) throw refusal('InvalidSize', { name });
          hashing.take(chunk);
          pack.append(chunk);
        },
        end: () => {
          if (left !== 0) throw refusal('InvalidSize', { name });
          put(path, { offset, size, sha256: hashing.end() });
        },
      };
    },
    passFolder: (name) => {
      countEntry();
      checkFolderPath(name, limits);
    },
    linkFile: (name, target) => {
      const path = takePath(name);
      const body = files.get(readFilePath(target, limits).path);
      if (body === undefined) throw refusal('LinkTargetMissing', { name });
      contentBytes += body.size;
      if (contentBytes > limits.maxTotalBytes) throw refusal('ContentTooLarge');
      notes.add('HardLinkFollowed', exampleOf(name, path));
      put(path, body);
    },
    noteCutName: (name) => notes.add('NameEndsAtNul', exampleOf(name, readFilePath(name, limits).path)),
    finish: () => {
      if (files.size === 0) throw refusal('EmptyBundle');
      refuseTwins(files.keys());
      const folder = hasExactPaths ? undefined : wrappingFolder([...files.keys()]);
      if (folder !== undefined) notes.add('WrappingFolderRemoved', printableName(folder));
      const cut = folder === undefined ? 0 : folder.length + 1;
      const sorted = sortFiles([...files].map(([path, body]) => ({ path: path.slice(cut), ...body })));
      return {
        digest: digestOf(sorted),
        files: sorted,
        pages: countPages(sorted),
        sizeBytes: sizeOf(sorted),
        notes: notes.list(),
      };
    },
  };
}

/** Either form of an address leads to one file, so that the other one would never be seen. */
function refuseTwins(paths: Iterable<string>): void {
  const byForm = new Map<string, string>();
  for (const path of paths) {
    if (/^[\x20-\x7e]*$/.test(path) || isHiddenFile(path)) continue;
    const twin = byForm.get(composedForm(path));
    if (twin !== undefined) throw refusal('UnicodeTwins', { name: twin, twin: path });
    byForm.set(composedForm(path), path);
  }
}

/** SHA-256 in hex. Most files come in one piece, and a hash object for each costs the collector more than the hash. */
function createFileHash(size: number): { take(chunk: Uint8Array): void; end(): string } {
  let whole: string | undefined;
  let pieces: Hash | undefined;
  return {
    take: (chunk) => {
      if (pieces === undefined && chunk.length === size) {
        whole = hash('sha256', chunk, 'hex');
      } else {
        pieces ??= createHash('sha256');
        pieces.update(chunk);
      }
    },
    end: () => whole ?? (pieces ?? createHash('sha256')).digest('hex'),
  };
}

/**
 * The one top folder that wraps a whole site: everything is in it, and its own `index.html` is the home page.
 * Without that page the folder counts as a part of the addresses (`guides/a.html` alone) and stays.
 */
export function wrappingFolder(paths: readonly string[]): string | undefined {
  const first = paths[0] ?? '';
  const slash = first.indexOf('/');
  if (slash < 0) return undefined;
  const folder = first.slice(0, slash);
  const isAround = paths.every((path) => path.startsWith(`${folder}/`));
  return isAround && paths.includes(`${folder}/index.html`) ? folder : undefined;
}

/** Status shows examples. Hidden files, and files that a wrapping folder may turn out to hide, are left out. */
function exampleOf(name: string, path: string): string {
  const inFolder = path.slice(path.indexOf('/') + 1);
  return isHiddenFile(path) || isHiddenFile(inFolder) ? '' : printableName(name);
}

function createNotes(): { add(code: string, example: string): void; list(): readonly BundleNote[] } {
  const notes = new Map<string, BundleNote>();
  return {
    add: (code, example) => {
      const known = notes.get(code);
      notes.set(code, {
        code,
        count: (known?.count ?? 0) + 1,
        example: known?.example || example,
      });
    },
    list: () => [...notes.values()].sort((a, b) => (a.code < b.code ? -1 : 1)),
  };
}
