// A site that works from a disk and below any prefix: a plan of its files. Reads one text at a time, and only texts of up to 8 MiB.
// Refuses scripts that a `file:` address cannot run, and the files that only they ask for. Invariant: the same files give the same
// files, and a portable site changes nothing.

import { hash } from 'node:crypto';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { createJsonStart } from '#bundle/archive/json-start.ts';
import type { BundleFile } from '#bundle/bundle-index.ts';
import { contentTypeOfFile } from '#bundle/content-type.ts';
import { searchBoxEdits } from '#bundle/repair/search-box-rule.ts';
import { countPages, digestOf, sizeOf } from '#bundle/store/digest.ts';
import { applyEdits } from '#platform/html/source-edits.ts';
import { isStream } from '../references/next-payload.ts';
import { compare } from '../site-scope.ts';
import { type PageOutcome, pageEdits } from './page-edits.ts';
import { readerScript } from './reader-script.ts';
import { addressesOf, type PortableSite } from './relocation.ts';
import { frameworkFile } from './script-rule.ts';
import { createSiteFiles, relativeAddress } from './site-files.ts';
import { maxSpriteBytes, readSprite, type SpriteSymbol } from './sprites.ts';
import { manifestEdits, type OnAddress, styleEdits } from './text-edits.ts';

/** No text that is larger is read. */
export const maxPortableBytes: number = 8 * 1024 * 1024;
export const readerScriptPath = '_sx/portable.js';

/** Its `read` is called once for the plan, and again when the file is written. */
export interface PortableFile extends ArchivedFile, Pick<BundleFile, 'sha256' | 'isData' | 'type'> {}

export interface PortableOptions {
  /** Path below which the links of the site expect it, such as `/docs`. */
  readonly basePath?: string | undefined;
  /** Public host: addresses that name it are of the site. */
  readonly domain?: string | undefined;
}

export interface PortablePlan {
  /** Sorted by path. */
  readonly files: readonly PortableFile[];
  readonly isChanged: boolean;
  readonly digest: string;
  readonly pages: number;
  readonly sizeBytes: number;
  /** Texts with another content. */
  readonly changed: number;
  /** Script elements that went. */
  readonly scripts: number;
  /** Files of those, which no page asks for any more. */
  readonly dropped: number;
  /** Addresses of the site that lead to no file, and the first pages that have one. */
  readonly lost: { readonly count: number; readonly examples: readonly string[] };
  /** Texts that are too large to be read. */
  readonly unread: readonly string[];
}

interface SearchedSite extends PortableSite {
  /** Of the pictures whose parts pages use; grows while pages are read. */
  readonly symbols: Map<string, SpriteSymbol>;
  /** Whether a classic script holds the index of a search. */
  readonly hasSearch: boolean;
}

/** Of Sphinx, mdBook, Javadoc, rustdoc, Doxygen, ExDoc, and MkDocs Material with its plugin for use without a server. */
const classicIndex =
  /(?:^|\/)(?:search_?index[^/]*|(?:member|type|package|module|tag)-search-index|search-index[^/]*|search_?data[^/]*)\.js$/;

type TextKind = 'page' | 'picture' | 'style' | 'manifest' | 'payload';

interface TextOutcome extends Omit<PageOutcome, 'edits'> {
  readonly text: string;
}

/**
 * @param onFile after each file, with how many are done of how many
 * @throws the signal's reason, and what a file's `read` throws
 */
export async function planPortable(
  source: readonly PortableFile[],
  { basePath = '', domain }: PortableOptions,
  signal: AbortSignal,
  onFile: (done: number, of: number) => void = () => {},
): Promise<PortablePlan> {
  const prefix = new URL(`http://site.invalid/${basePath}`).pathname.replace(/^\/+|\/+$/g, '');
  const paths = new Set(source.map(({ path }) => path));
  const site: SearchedSite = {
    hasSearch: source.some(({ path }) => classicIndex.test(path)),
    files: createSiteFiles(paths),
    symbols: new Map(),
    basePath: prefix === '' ? '' : `/${prefix}`,
    domain: domain?.toLowerCase(),
  };
  const readSprites = createSpriteReader(source, site.symbols);
  const portableOf = async (text: string, kind: TextKind, path: string): Promise<TextOutcome> => {
    const outcome = portableText(text, kind, path, site);
    return (await readSprites(outcome.sprites)) ? portableText(text, kind, path, site) : outcome;
  };
  const use = createUse();
  const unread: string[] = [];
  const lostIn: string[] = [];
  const planned: PortableFile[] = [];
  const counts = { changed: 0, scripts: 0, lost: 0 };
  for (const file of source) {
    signal.throwIfAborted();
    const kind = kindOf(file, paths);
    if (kind !== undefined && file.size > maxPortableBytes) unread.push(file.path);
    const text = kind === undefined || file.size > maxPortableBytes ? undefined : await readText(file);
    const outcome =
      text === undefined || kind === undefined ? undefined : await portableOf(text, kind, file.path);
    if (kind === 'payload' && text !== undefined && isStream(text)) use.payloads.add(file.path);
    if (outcome !== undefined) {
      use.add(outcome);
      counts.scripts += outcome.scripts;
      counts.lost += outcome.lost;
      if (outcome.lost > 0 && lostIn.length < mostExamples) lostIn.push(file.path);
    }
    if (outcome === undefined || kind === undefined || outcome.text === text) planned.push(file);
    else {
      counts.changed += 1;
      planned.push(rewritten(file, outcome.text, kind, site));
    }
    onFile(planned.length, source.length);
  }
  const goes = use.goes();
  const kept = planned.filter(({ path }) => !goes(path));
  const files = (counts.scripts === 0 ? kept : withReaderScript(kept)).toSorted((a, b) =>
    compare(a.path, b.path),
  );
  return {
    files,
    isChanged: counts.changed > 0 || kept.length < source.length,
    digest: digestOf(files),
    pages: countPages(files),
    sizeBytes: sizeOf(files),
    changed: counts.changed,
    scripts: counts.scripts,
    dropped: source.length - kept.length,
    lost: { count: counts.lost, examples: lostIn },
    unread,
  };
}

const mostExamples = 5;
/** Of all pictures whose parts pages use. */
const maxSymbolBytes = 16 * 1024 * 1024;

/** @returns what reads the pictures that are not read yet, and says whether there were any */
function createSpriteReader(source: readonly PortableFile[], symbols: Map<string, SpriteSymbol>) {
  const files = new Map(source.map((file) => [file.path, file]));
  const known = new Set<string>();
  let bytes = 0;
  return async (paths: ReadonlySet<string>): Promise<boolean> => {
    const fresh = [...paths].filter((path) => !known.has(path));
    for (const path of fresh) {
      known.add(path);
      const file = files.get(path);
      if (file === undefined || file.size > maxSpriteBytes || bytes + file.size > maxSymbolBytes) continue;
      bytes += file.size;
      for (const [address, symbol] of readSprite(path, await readText(file))) symbols.set(address, symbol);
    }
    return fresh.length > 0;
  };
}

/** `undefined` for a file whose addresses are not changed. */
function kindOf(file: PortableFile, paths: ReadonlySet<string>): TextKind | undefined {
  const { path } = file;
  if (/(?:^|\/)(?:site\.|app\.)?manifest\.json$|\.webmanifest$/i.test(path)) return 'manifest';
  const media = contentTypeOfFile(file).split(';')[0];
  if (media === 'text/html' || media === 'application/xhtml+xml') return 'page';
  if (media === 'text/css') return 'style';
  if (media === 'image/svg+xml') return 'picture';
  return path.endsWith('.txt') && paths.has(path.replace(/txt$/, 'html')) ? 'payload' : undefined;
}

/** One character for each byte. */
async function readText(file: PortableFile): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of file.read()) pieces.push(piece);
  return Buffer.concat(pieces).toString('latin1');
}

function rewritten(file: PortableFile, text: string, kind: TextKind, site: SearchedSite): PortableFile {
  const bytes = Buffer.from(text, 'latin1');
  return {
    ...file,
    size: bytes.length,
    sha256: hash('sha256', bytes, 'hex'),
    read: async function* () {
      const again = portableText(await readText(file), kind, file.path, site);
      yield Buffer.from(again.text, 'latin1');
    },
  };
}

function portableText(text: string, kind: TextKind, path: string, site: SearchedSite): TextOutcome {
  const addresses = addressesOf(path, site);
  const kept = new Set<string>();
  let lost = 0;
  const onAddress: OnAddress = ({ target, isLost }) => {
    if (isLost) lost += 1;
    else if (target !== undefined) kept.add(target);
  };
  switch (kind) {
    case 'page':
    case 'picture': {
      if (kind === 'page' && holdsJson(text)) return { ...unchanged, text };
      const script = kind === 'page' ? relativeAddress(path, readerScriptPath) : undefined;
      const { edits, ...outcome } = pageEdits(text, addresses, script, site.symbols);
      const portable = applyEdits(text, edits);
      if (kind === 'picture') return { ...outcome, text: portable };
      return { ...outcome, text: applyEdits(portable, searchBoxEdits(portable, site.hasSearch)) };
    }
    case 'style':
    case 'manifest': {
      const edits = (kind === 'style' ? styleEdits : manifestEdits)(text, addresses, onAddress);
      return { ...unchanged, kept, lost, text: applyEdits(text, edits) };
    }
    case 'payload':
      return { ...unchanged, text };
    default:
      return kind satisfies never;
  }
}

const unchanged: Omit<TextOutcome, 'text'> = {
  kept: new Set(),
  dropped: new Set(),
  scripts: 0,
  lost: 0,
  sprites: new Set(),
};

/** An export writes JSON for its own scripts under the names of pages. */
function holdsJson(text: string): boolean {
  const start = createJsonStart();
  start.take(Buffer.from(text.slice(0, 512), 'latin1'));
  return start.isJson();
}

function withReaderScript(files: readonly PortableFile[]): readonly PortableFile[] {
  const bytes = Buffer.from(readerScript);
  const sha256 = hash('sha256', bytes, 'hex');
  const file: PortableFile = { path: readerScriptPath, size: bytes.length, sha256, read: () => [bytes] };
  return [...files.filter(({ path }) => path !== readerScriptPath), file];
}

const isScript = (path: string): boolean => /\.m?js(?:\.map|\.LICENSE\.txt)?$/.test(path);

/** The folders around a file, the nearest first, without the root. */
function foldersOf(path: string): readonly string[] {
  const names = path.split('/').slice(0, -1);
  return names.map((_, at) => names.slice(0, names.length - at).join('/'));
}

/** What pages still ask for, and what went with their scripts. */
function createUse() {
  const kept = new Set<string>();
  const dropped = new Set<string>();
  const payloads = new Set<string>();
  return {
    payloads,
    add: (outcome: Pick<TextOutcome, 'kept' | 'dropped'>): void => {
      for (const path of outcome.kept) kept.add(path);
      for (const path of outcome.dropped) dropped.add(path);
    },
    /**
     * With a script goes what its folder holds: the rest of a framework's code is named in code alone. A folder that a script which
     * stays is in keeps the others.
     */
    goes: (): ((path: string) => boolean) => {
      const gone = [...dropped].filter((path) => !kept.has(path));
      const used = new Set([...kept].filter(isScript).flatMap(foldersOf));
      const nearest = gone.filter(isScript).flatMap((path) => foldersOf(path).slice(0, 1));
      const emptied = new Set(nearest.filter((folder) => !used.has(folder)));
      return (path) => {
        if (kept.has(path) || gone.length === 0) return false;
        if (dropped.has(path) || payloads.has(path) || frameworkFile.test(path)) return true;
        return isScript(path) && foldersOf(path).some((folder) => emptied.has(folder));
      };
    },
  };
}
