// Turns files into an index; this half of reading does not depend on the kind of archive. Owns: names, collisions,
// limits of count and size, the hash of each file, the digest, and what the notes say. Invariant: a file enters the index
// only after its last byte was hashed and written to the pack.

import { createHash, type Hash, hash } from 'node:crypto';
import { composedForm } from '#platform/wire/unicode-form.ts';
import type { BundleFile, BundleIndex, BundleNote } from '../bundle-index.ts';
import { createDocumentCapture, siteReportPath, siteTypesPath } from '../export-documents.ts';
import type { BundleLimits } from '../limits.ts';
import { printableName, refusal } from '../refusal.ts';
import { parseSiteReport } from '../site-report.ts';
import { parseSiteTypes } from '../site-types.ts';
import { notesOfContent, notesOfReport } from '../store/content-notes.ts';
import { countPages, digestOf, pageAddress, sizeOf, sortFiles } from '../store/digest.ts';
import { isHiddenFile } from '../store/hidden-files.ts';
import type { PackSink } from '../store/pack.ts';
import { checkFolderPath, readFilePath } from './entry-path.ts';
import { createHiddenLinks } from './hidden-links.ts';
import { createJsonStart } from './json-start.ts';
import { wrappingFolder } from './wrapping-folder.ts';

/** One file that is being added. */
export interface IncomingFile {
  /** @throws {PublishableError} `InvalidSize` when more comes than was declared */
  write(chunk: Uint8Array): void;
  /** @throws {PublishableError} `InvalidSize` when less came than was declared */
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
  /** @throws {PublishableError} `EmptyBundle`, `UnicodeTwins` */
  finish(): BundleIndex;
}

export interface AssemblyOptions {
  /** The archive was written from a bundle, so that a top folder belongs to its paths. */
  readonly hasExactPaths?: boolean;
  /** See `isHiddenFile`. */
  readonly serveDotfiles?: readonly string[] | undefined;
  /** Published by an earlier version, perhaps: it kept a wrapping folder with hidden files beside it. */
  readonly expectedDigest?: string | undefined;
}

/** The name may be that of a page: that is decided once all names are known. */
type FileBody = Omit<BundleFile, 'path' | 'isData' | 'type'> & { readonly isJson: boolean };

/** Every method throws a rejected {@link BundleError} for an error in the archive. */
export function createAssembly(
  limits: BundleLimits,
  pack: PackSink,
  { hasExactPaths = false, serveDotfiles, expectedDigest }: AssemblyOptions = {},
): Assembly {
  const files = new Map<string, FileBody>();
  const notes = createNotes();
  const links = createHiddenLinks();
  const documents = createDocumentCapture();
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
  /** @param folder with its slash; what lies outside of it is hidden, and left out */
  const indexWithin = (folder: string): BundleIndex => {
    const inside = [...files].filter(([path]) => path.startsWith(folder));
    const typesText = documents.bytesOf(`${folder}${siteTypesPath}`);
    const types = typesText && parseSiteTypes(typesText);
    const sorted = sortFiles(
      inside.map(([name, body]) => {
        const path = name.slice(folder.length);
        return fileOf(path, body, types?.get(path));
      }),
    );
    const content = notesOfContent(sorted, { serveDotfiles, isLinked: links.inFolder(folder) });
    const reportText = documents.bytesOf(`${folder}${siteReportPath}`);
    const report = reportText && parseSiteReport(reportText);
    const removed = { code: 'WrappingFolderRemoved', count: 1, example: printableName(folder.slice(0, -1)) };
    return {
      digest: digestOf(sorted),
      files: sorted,
      pages: countPages(sorted, serveDotfiles),
      sizeBytes: sizeOf(sorted),
      notes: sortNotes([
        ...notes.list(),
        ...content,
        ...(report === undefined ? [] : notesOfReport(report)),
        ...(folder === '' ? [] : [removed]),
      ]),
      ...(report !== undefined && { report }),
    };
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
      const readLinks = links.read(path);
      const start = createJsonStart();
      const document = documents.begin(path, size);
      let left = size;
      return {
        write: (chunk) => {
          left -= chunk.length;
          if (left < 0) throw refusal('InvalidSize', { name });
          hashing.take(chunk);
          readLinks?.(chunk);
          start.take(chunk);
          document?.(chunk);
          pack.append(chunk);
        },
        end: () => {
          if (left !== 0) throw refusal('InvalidSize', { name });
          put(path, { offset, size, sha256: hashing.end(), isJson: start.isJson() });
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
      // Only a file with bytes of its own is read as a document.
      documents.begin(path, Number.POSITIVE_INFINITY);
      put(path, body);
    },
    noteCutName: (name) => notes.add('NameEndsAtNul', exampleOf(name, readFilePath(name, limits).path)),
    finish: () => {
      if (files.size === 0) throw refusal('EmptyBundle');
      refuseTwins(files.keys());
      const folder = hasExactPaths ? undefined : wrappingFolder([...files.keys()]);
      if (folder === undefined) return indexWithin('');
      const index = indexWithin(`${folder}/`);
      if (expectedDigest === undefined || index.digest === expectedDigest) return index;
      const whole = indexWithin('');
      return whole.digest === expectedDigest ? whole : index;
    },
  };
}

function fileOf(path: string, { isJson, ...body }: FileBody, type: string | undefined): BundleFile {
  if (isJson && pageAddress(path) !== undefined) return { path, ...body, isData: true };
  return { path, ...body, ...(type !== undefined && { type }) };
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
    list: () => [...notes.values()],
  };
}

function sortNotes(notes: readonly BundleNote[]): readonly BundleNote[] {
  return notes.toSorted((a, b) => (a.code < b.code ? -1 : 1));
}
