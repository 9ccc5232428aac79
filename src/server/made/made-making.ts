// The thread's side of made files: finds those of a bundle on disk, or makes them and stores them in the bundle's folder, with the
// position of the line in each page. Owns the budget: one page at a time in memory, a share of one core, a limit on disk.
// Invariant: a page's position and hash are of bytes whose hash was checked. After a restart made files are used only if their
// pack and their list have the hashes that were stored with them.

import { createHash, hash } from 'node:crypto';
import { join } from 'node:path';
import { type BundleIndex, isHeld } from '#bundle/bundle-index.ts';
import type { MakeFiles } from '#bundle/made-files.ts';
import { createPackWriter, type PackWriter } from '#bundle/store/pack.ts';
import { systemDisk } from '#bundle/store/store-disk.ts';
import { packName } from '#bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type AdditionRows, type LinedPage, type MadeRow, packAdditions } from '../content/additions.ts';
import { shareOfCore } from './core-share.ts';
import { formatMade, type MadeDocument, parseMade } from './made-document.ts';
import { type MadeTask, ownSearchFolder, type PreparedFiles } from './made-task.ts';
import { findLinePosition, mayTakeLine, searchLine } from './page-line.ts';
import {
  hashOfPack,
  keepAddition,
  madeNames,
  orRemoveAddition,
  removeAddition,
  variantNames,
} from './stored-addition.ts';
import { readStoredIndex, readVerified } from './stored-files.ts';

/**
 * @param makers whose files are made, in this order
 * @throws {PublishableError} after the removal of what was begun
 */
export function prepareFiles(
  task: MadeTask,
  makers: readonly MakeFiles[],
  clock: Clock,
): Promise<PreparedFiles> {
  return orRemoveAddition(task.folder, madeNames, 'made files', async () => {
    const { index, overheadBytes } = await readStoredIndex(task, 'files');
    if (index.files.some(({ path }) => path.startsWith(ownSearchFolder))) {
      await removeAddition(task.folder, madeNames);
      return { additions: undefined, isFound: false };
    }
    const maxBytes = task.maxBytes - overheadBytes;
    const found = await findFiles({ ...task, maxBytes }, index);
    const rows = found ?? (await makeAll({ ...task, maxBytes }, index, makers, clock));
    return { additions: packAdditions(rows), isFound: found !== undefined };
  });
}

/** Those that an earlier run stored, if their hash is right and they are what would be made now. */
async function findFiles(task: MadeTask, index: BundleIndex): Promise<AdditionRows | undefined> {
  const text = await systemDisk.readText(join(task.folder, madeNames.list));
  const document = text === undefined ? undefined : parseMade(text, task, index);
  if (text === undefined || document === undefined) return undefined;
  if (document.rows.packBytes + Buffer.byteLength(text) > task.maxBytes) return undefined;
  return (await hashOfPack(task.folder, madeNames)) === document.packSha256 ? document.rows : undefined;
}

async function makeAll(
  task: MadeTask,
  index: BundleIndex,
  makers: readonly MakeFiles[],
  clock: Clock,
): Promise<AdditionRows> {
  const { folder, maxBytes, cpuPercent } = task;
  // Variants of an earlier run are of other bytes, and would count towards the limit.
  await removeAddition(folder, variantNames);
  await removeAddition(folder, madeNames);
  const bundle = await openPack(join(folder, packName), index, undefined);
  const pack = createPackWriter(join(folder, madeNames.nextPack));
  const rest = shareOfCore(cpuPercent, clock);
  try {
    const made = await makeFiles(bundle, makers, { pack, maxBytes, rest });
    const lines = searchLine(task.basePath);
    const pages = await placeLines(bundle, lines, rest);
    await pack.commit();
    const rows = { pages, files: made.files, lines, packBytes: pack.position };
    const document: MadeDocument = { rows, packSha256: made.packSha256 };
    const text = formatMade(task, document);
    if (pack.position + Buffer.byteLength(text) > maxBytes) throw tooLarge();
    await keepAddition(folder, madeNames, text);
    return rows;
  } finally {
    pack.abandon();
    await bundle.close();
  }
}

const tooLarge = (): PublishableError =>
  new PublishableError(
    'MadeFilesTooLarge',
    'the bundle and the files of its search exceed --max-bundle-size; raise it, or turn the search off',
  );

interface Making {
  readonly pack: PackWriter;
  readonly maxBytes: number;
  /** To be awaited after each piece of the work. */
  readonly rest: () => Promise<void>;
}

async function makeFiles(
  bundle: StoredBundle,
  makers: readonly MakeFiles[],
  { pack, maxBytes, rest }: Making,
): Promise<{ readonly files: readonly MadeRow[]; readonly packSha256: string }> {
  const taken = new Set(bundle.index.files.map(({ path }) => path));
  const sum = createHash('sha256');
  const files: MadeRow[] = [];
  // The thread ends where it is not wanted any longer.
  const { signal } = new AbortController();
  for (const make of makers) {
    for await (const { path, bytes } of make(bundle, { signal, rest })) {
      // What the site has of its own stays.
      if (taken.has(path)) continue;
      taken.add(path);
      if (pack.position + bytes.length > maxBytes) throw tooLarge();
      files.push({ path, offset: pack.position, size: bytes.length, sha256: hash('sha256', bytes, 'hex') });
      sum.update(bytes);
      pack.append(bytes);
      await rest();
    }
  }
  const byPath = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return { files: byPath, packSha256: sum.digest('hex') };
}

async function placeLines(
  bundle: StoredBundle,
  line: string,
  rest: Making['rest'],
): Promise<readonly LinedPage[]> {
  const pages: LinedPage[] = [];
  for (const [ordinal, file] of bundle.index.files.entries()) {
    if (!isHeld(file) || !mayTakeLine(file)) continue;
    const body = readVerified(bundle, file);
    const at = findLinePosition(file, body);
    if (at !== undefined) {
      const sum = createHash('sha256').update(body.subarray(0, at)).update(line).update(body.subarray(at));
      pages.push({ ordinal, at, lineAt: 0, lineSize: line.length, sha256: sum.digest('hex') });
    }
    await rest();
  }
  return pages;
}
