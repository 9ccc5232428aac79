// A site with a search in it: the files of the search, and in each page the line that loads it, as a plan of files. Reads one page at a
// time, and keeps made files on disk. Refuses to change a page that cannot take the line. Invariants: the same files give the same files;
// a site that was made searchable stays as it is; so does a site without a page that a search may find.

import { hash } from 'node:crypto';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { packedFiles } from '#bundle/archive/packed-files.ts';
import type { BundleFile, BundleIndex, BundleNote } from '#bundle/bundle-index.ts';
import { contentTypeOfFile } from '#bundle/content-type.ts';
import { declarationBytes, isAsciiCompatible } from '#bundle/declared-charset.ts';
import type { MadeFile, MakeFiles } from '#bundle/made-files.ts';
import { notesAfterRepair } from '#bundle/repair/repaired-notes.ts';
import { countPages, digestOf, pageAddress, sizeOf, sortFiles } from '#bundle/store/digest.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import type { PackSink } from '#bundle/store/pack.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { findHeadEnd } from '#platform/html/head-end.ts';
import { relativeAddress } from '../portable/site-files.ts';
import { readSearchScript } from './file-writer.ts';
import { manifestPath, type SearchManifest, searchFolder, searchProgramPath } from './search-format.ts';

/** A larger page takes no line. */
const maxLinedBytes = 16 * 1024 * 1024;

/** Where made files are until they are written. */
export interface MadePack {
  readonly sink: PackSink;
  /** @param index of what was appended @returns its content, for the caller to close @throws the disk's error */
  open(index: BundleIndex): Promise<StoredBundle>;
}

export interface SearchableFile extends ArchivedFile, Omit<BundleFile, 'offset'> {}

export interface SearchablePlan {
  readonly files: readonly SearchableFile[];
  readonly isChanged: boolean;
  readonly digest: string;
  readonly pages: number;
  readonly sizeBytes: number;
  /** As an inspection of the files would have them. */
  readonly notes: readonly BundleNote[];
  /** Pages that load the search. */
  readonly linedPages: number;
  /** Pages that cannot take the line, and the first of them. */
  readonly withoutLine: { readonly count: number; readonly examples: readonly string[] };
  /** Pages that the search finds, by language. */
  readonly languages: readonly { readonly language: string; readonly pages: number }[];
  /** Of the files of the search. */
  readonly searchBytes: number;
  /** Releases the made files, which `files` reads. */
  close(): Promise<void>;
}

/** @throws the signal's reason, and what reading the bundle and writing the pack throw */
export async function planSearchable(
  bundle: StoredBundle,
  make: MakeFiles,
  pack: MadePack,
  signal: AbortSignal,
  onFile: (done: number, of: number) => void = () => {},
): Promise<SearchablePlan> {
  const own = bundle.index.files.filter(({ path }) => !path.startsWith(searchFolder));
  const site: StoredBundle = { ...bundle, index: { ...bundle.index, files: own } };
  const steps = 2 * own.length;
  const made = await collectMade(
    make(site, { signal, onFile: (done, of) => onFile((own.length * done) / of, steps) }),
    pack,
  );
  const content = await pack.open(made.index);
  if (made.languages.length === 0) {
    await content.close();
    return unchanged(bundle);
  }
  try {
    const lines = await planLines(site, signal, (done) => onFile(own.length + done, steps));
    const rows = sortFiles([...lines.rows, ...made.index.files]);
    const before = new Map(bundle.index.files.map(({ path, sha256 }) => [path, sha256]));
    return {
      files: [...lines.files, ...withRows(content, made.index.files)],
      isChanged: rows.length !== before.size || rows.some(({ path, sha256 }) => before.get(path) !== sha256),
      digest: digestOf(rows),
      pages: countPages(rows),
      sizeBytes: sizeOf(rows),
      notes: notesAfterRepair(bundle.index, rows),
      linedPages: lines.lined,
      withoutLine: { count: lines.without.length, examples: lines.without.slice(0, mostLineless) },
      languages: made.languages,
      searchBytes: made.index.sizeBytes,
      close: content.close,
    };
  } catch (error) {
    await content.close();
    throw error;
  }
}

const mostLineless = 5;

function unchanged(bundle: StoredBundle): SearchablePlan {
  const { digest, pages, sizeBytes, notes, files } = bundle.index;
  return {
    ...{ digest, pages, sizeBytes, notes, files: withRows(bundle, files), isChanged: false },
    ...{ linedPages: 0, withoutLine: { count: 0, examples: [] }, languages: [], searchBytes: 0 },
    close: async () => {},
  };
}

function withRows(content: StoredBundle, rows: readonly BundleFile[]): readonly SearchableFile[] {
  const packed = new Map(packedFiles(content).map((file) => [file.path, file]));
  return rows.flatMap((row) => {
    const file = packed.get(row.path);
    return file === undefined ? [] : [{ ...row, ...file }];
  });
}

interface CollectedFiles {
  readonly index: BundleIndex;
  readonly languages: SearchablePlan['languages'];
}

async function collectMade(making: AsyncIterable<MadeFile>, { sink }: MadePack): Promise<CollectedFiles> {
  const rows: BundleFile[] = [];
  let languages: SearchablePlan['languages'] = [];
  for await (const { path, bytes } of making) {
    rows.push({ path, offset: sink.position, size: bytes.length, sha256: hash('sha256', bytes, 'hex') });
    sink.append(bytes);
    if (path === manifestPath) languages = languagesOf(bytes);
  }
  const files = sortFiles(rows);
  return {
    index: { digest: digestOf(files), files, pages: 0, sizeBytes: sizeOf(files), notes: [] },
    languages,
  };
}

function languagesOf(script: Uint8Array): SearchablePlan['languages'] {
  const manifest: SearchManifest = JSON.parse(
    readSearchScript(Buffer.from(script).toString()) ?? '{"languages":{}}',
  );
  return Object.entries(manifest.languages).map(([language, { pages }]) => ({ language, pages }));
}

interface PlannedLines {
  readonly rows: readonly BundleFile[];
  readonly files: readonly SearchableFile[];
  readonly lined: number;
  readonly without: readonly string[];
}

async function planLines(
  site: StoredBundle,
  signal: AbortSignal,
  onFile: (done: number) => void,
): Promise<PlannedLines> {
  const untouched = new Map(packedFiles(site).map((file) => [file.path, file]));
  const rows: BundleFile[] = [];
  const files: SearchableFile[] = [];
  const without: string[] = [];
  let lined = 0;
  for (const file of site.index.files) {
    signal.throwIfAborted();
    const { path, size } = file;
    const change = takesLine(file) ? await planLine(site, file) : 'not a page';
    const kept = untouched.get(path);
    if (typeof change === 'string') {
      rows.push(file);
      if (kept !== undefined) files.push({ ...file, ...kept });
    } else {
      const row = { ...file, size: size + change.line.length, sha256: change.sha256 };
      rows.push(row);
      files.push({ ...row, read: () => readLined(site, file, change) });
    }
    if (typeof change !== 'string' || change === 'has it') lined += 1;
    else if (change === 'takes none') without.push(path);
    onFile(rows.length);
  }
  return { rows, files, lined, without };
}

/** An error page is answered at every address, where a relative one leads nowhere. */
function takesLine(file: BundleFile): boolean {
  const isPage = pageAddress(file.path) !== undefined && file.isData !== true;
  return isPage && !isHiddenFile(file.path) && contentTypeOfFile(file).startsWith('text/html');
}

interface LineChange {
  readonly at: number;
  readonly line: Buffer;
  /** Of the page with the line. */
  readonly sha256: string;
}

async function planLine(site: StoredBundle, file: BundleFile): Promise<LineChange | 'has it' | 'takes none'> {
  if (file.size > maxLinedBytes) return 'takes none';
  const bytes = await bytesOf(site, file);
  if (!isAsciiCompatible(contentTypeOfFile(file), bytes.subarray(0, declarationBytes))) return 'takes none';
  const line = Buffer.from(`<script defer src="${relativeAddress(file.path, searchProgramPath)}"></script>`);
  const at = findHeadEnd(bytes.toString('latin1'));
  if (at === undefined) return 'takes none';
  if (bytes.subarray(Math.max(0, at - line.length), at).equals(line)) return 'has it';
  return { at, line, sha256: hash('sha256', withLine(bytes, at, line), 'hex') };
}

async function* readLined(
  site: StoredBundle,
  file: BundleFile,
  { at, line }: LineChange,
): AsyncGenerator<Uint8Array> {
  yield withLine(await bytesOf(site, file), at, line);
}

const withLine = (bytes: Buffer, at: number, line: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), line, bytes.subarray(at)]);

async function bytesOf(site: StoredBundle, file: BundleFile): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(file.size);
  await site.readInto(file, bytes);
  return bytes;
}
