// The thread's side of made files: finds those of a bundle on disk, or makes them and stores them in the bundle's folder, with the
// position of the line in each page. Owns the budget: one page at a time in memory, a share of one core, a limit on disk.
// Invariant: a page's position and hash are of bytes whose hash was checked. After a restart made files are used only if their
// pack and their list have the hashes that were stored with them.

import { createHash, hash } from 'node:crypto';
import { join } from 'node:path';
import { type BundleFile, type BundleIndex, isHeld } from '#bundle/bundle-index.ts';
import type { MakeFiles } from '#bundle/made-files.ts';
import { createPackWriter, type PackWriter } from '#bundle/store/pack.ts';
import { systemDisk } from '#bundle/store/store-disk.ts';
import { packName } from '#bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import {
  type ExtensionCounts,
  type LinedPage,
  type MadeCounts,
  type MadeFeature,
  type MadeRow,
  noCounts,
  packAdditions,
} from '../content/additions.ts';
import { addressOfTwin, twinFileOf } from '../content/markdown-twins.ts';
import { shareOfCore } from './core-share.ts';
import { formatMade, type MadeDocument, parseMade } from './made-document.ts';
import {
  featureWords,
  type LoadMaker,
  type MadeTask,
  ownSearchFolder,
  type PreparedFiles,
} from './made-task.ts';
import { markdownLine, mayTakeLine, placeLine, searchLine } from './page-line.ts';
import {
  hashOfPack,
  keepAddition,
  madeNames,
  orRemoveAddition,
  removeAddition,
  variantNames,
} from './stored-addition.ts';
import { readStoredIndex, readVerified } from './stored-files.ts';

/** By feature. */
export type FileMakers = Readonly<Record<MadeFeature, LoadMaker>>;

/**
 * @param makers of the files; those of the task's features are loaded
 * @throws {PublishableError} after the removal of what was begun
 */
export function prepareFiles(task: MadeTask, makers: FileMakers, clock: Clock): Promise<PreparedFiles> {
  return orRemoveAddition(task.folder, madeNames, 'made files', async () => {
    const { index, overheadBytes } = await readStoredIndex(task, 'files');
    const hasSearch = index.files.some(({ path }) => path.startsWith(ownSearchFolder));
    const features = task.features.filter((one) => one !== 'search' || !hasSearch);
    if (features.length === 0) {
      await removeAddition(task.folder, madeNames);
      return { features, additions: undefined, counts: noCounts, isFound: false };
    }
    const left = { ...task, features, maxBytes: task.maxBytes - overheadBytes };
    const found = await findFiles(left, index);
    const { rows, counts } = found ?? (await makeAll(left, index, makers, clock));
    return { features, additions: packAdditions(rows), counts, isFound: found !== undefined };
  });
}

/** Those that an earlier run stored, if their hash is right and they are what would be made now. */
async function findFiles(task: MadeTask, index: BundleIndex): Promise<MadeDocument | undefined> {
  const text = await systemDisk.readText(join(task.folder, madeNames.list));
  const document = text === undefined ? undefined : parseMade(text, task, index);
  if (text === undefined || document === undefined) return undefined;
  if (document.rows.packBytes + Buffer.byteLength(text) > task.maxBytes) return undefined;
  return (await hashOfPack(task.folder, madeNames)) === document.packSha256 ? document : undefined;
}

async function makeAll(
  task: MadeTask,
  index: BundleIndex,
  makers: FileMakers,
  clock: Clock,
): Promise<MadeDocument> {
  const { folder, maxBytes, cpuPercent } = task;
  // Variants of an earlier run are of other bytes, and would count towards the limit.
  await removeAddition(folder, variantNames);
  await removeAddition(folder, madeNames);
  const bundle = await openPack(join(folder, packName), index, undefined);
  const pack = createPackWriter(join(folder, madeNames.nextPack));
  const rest = shareOfCore(cpuPercent, clock);
  try {
    const made = await makeFiles(task, bundle, makers, { pack, rest });
    const { pages, lines, counts } = await placeLines(task, bundle, made, rest);
    await pack.commit();
    const rows = { pages, files: made.files, lines, packBytes: pack.position };
    const document: MadeDocument = {
      rows,
      counts: {
        search: { ...made.counts.search, pages: counts.search },
        markdown: { ...made.counts.markdown, pages: counts.markdown },
      },
      packSha256: made.packSha256,
    };
    const text = formatMade(task, document);
    if (pack.position + Buffer.byteLength(text) > maxBytes) throw tooLarge(task);
    await keepAddition(folder, madeNames, text);
    return document;
  } finally {
    pack.abandon();
    await bundle.close();
  }
}

const tooLarge = ({ features }: Pick<MadeTask, 'features'>): PublishableError => {
  const what = features.length === 1 ? featureWords(features) : 'one of them';
  return new PublishableError(
    'MadeFilesTooLarge',
    `the bundle with ${featureWords(features)} exceeds --max-bundle-size; raise it, or turn ${what} off`,
  );
};

interface Making {
  readonly pack: PackWriter;
  /** To be awaited after each piece of the work. */
  readonly rest: () => Promise<void>;
}

interface FilesMade {
  readonly files: readonly MadeRow[];
  readonly counts: ExtensionCounts;
  readonly packSha256: string;
}

async function makeFiles(
  task: MadeTask,
  bundle: StoredBundle,
  makers: FileMakers,
  { pack, rest }: Making,
): Promise<FilesMade> {
  const taken = new Set(bundle.index.files.map(({ path }) => path));
  const sum = createHash('sha256');
  const files: MadeRow[] = [];
  let counts = noCounts;
  let leftOutPages = 0;
  const onLeftOut = (): void => {
    leftOutPages += 1;
  };
  // The thread ends where it is not wanted any longer.
  const { signal } = new AbortController();
  const makeWith = async (make: MakeFiles): Promise<MadeCounts> => {
    const before = { files: files.length, position: pack.position };
    leftOutPages = 0;
    for await (const { path, bytes } of make(bundle, { signal, rest, onLeftOut })) {
      // What the site has of its own stays.
      if (taken.has(path)) continue;
      taken.add(path);
      if (pack.position + bytes.length > task.maxBytes) throw tooLarge(task);
      files.push({ path, offset: pack.position, size: bytes.length, sha256: hash('sha256', bytes, 'hex') });
      sum.update(bytes);
      pack.append(bytes);
      await rest();
    }
    return { files: files.length - before.files, pages: 0, sizeBytes: pack.position - before.position };
  };
  for (const feature of task.features) {
    const made = await makeWith(await makers[feature](task.basePath));
    counts = { ...counts, [feature]: feature === 'markdown' ? { ...made, leftOutPages } : made };
  }
  const byPath = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { files: byPath, counts, packSha256: sum.digest('hex') };
}

interface PlacedLines {
  readonly pages: readonly LinedPage[];
  readonly lines: string;
  /** Pages that load the search, and pages that have Markdown, with a line or without. */
  readonly counts: Readonly<Record<MadeFeature, number>>;
}

async function placeLines(
  { features, basePath }: MadeTask,
  bundle: StoredBundle,
  { files: made, counts: { search } }: FilesMade,
  rest: Making['rest'],
): Promise<PlacedLines> {
  // Without a file of the search there is nothing to find.
  const script = search.files > 0 ? searchLine(basePath) : '';
  const hasMarkdown = features.includes('markdown');
  const held = hasMarkdown ? [...bundle.index.files.filter(isHeld), ...made] : [];
  const files = new Map<string, BundleFile>(held.map((file) => [file.path, file]));
  const fileAt = (path: string): BundleFile | undefined => files.get(path);
  const texts = createTexts();
  const pages: LinedPage[] = [];
  const counts = { search: 0, markdown: 0 };
  for (const [ordinal, file] of bundle.index.files.entries()) {
    if (!isHeld(file)) continue;
    const twin = hasMarkdown ? twinFileOf(file, fileAt) : undefined;
    if (twin !== undefined) counts.markdown += 1;
    const link = twin === undefined ? '' : markdownLine(addressOfTwin(twin.path, basePath));
    if (!mayTakeLine(file) || link + script === '') continue;
    const body = readVerified(bundle, file);
    const line = placeLine(file, body, { link, script });
    if (line !== undefined) {
      const { at, text, hasScript } = line;
      const sum = createHash('sha256').update(body.subarray(0, at)).update(text).update(body.subarray(at));
      const lineAt = texts.add(text);
      pages.push({ ordinal, at, lineAt, lineSize: text.length, sha256: sum.digest('hex') });
      if (hasScript) counts.search += 1;
    }
    await rest();
  }
  return { pages, lines: texts.all(), counts };
}

/** Texts one after another, each once. */
function createTexts() {
  const places = new Map<string, number>();
  let end = 0;
  return {
    add: (text: string): number => {
      const known = places.get(text);
      if (known !== undefined) return known;
      places.set(text, end);
      end += text.length;
      return end - text.length;
    },
    all: (): string => [...places.keys()].join(''),
  };
}
