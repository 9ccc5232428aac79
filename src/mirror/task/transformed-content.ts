// A checked archive after the steps of a task, as the files that are copied and what an inspection of them would say. Refuses a result
// that servers would reject, and one of another digest than was published. Invariant: the same archive and the same steps give the
// same digest, so that work that was killed is repeated.

import { join } from 'node:path';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { packedFiles } from '#bundle/archive/packed-files.ts';
import type { BundleFile, BundleIndex } from '#bundle/bundle-index.ts';
import { type ProgressContext, throttleProgress } from '#bundle/bundle-task.ts';
import type { BundleLimits } from '#bundle/limits.ts';
import { refusal } from '#bundle/refusal.ts';
import { planRepair, type RepairPlan, requireRepairedSize } from '#bundle/repair/repair.ts';
import { sortFiles } from '#bundle/store/digest.ts';
import type { PackSink } from '#bundle/store/pack.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { searchStep } from '#bundle/transform.ts';
import type { PublishableError } from '#platform/wire/publishable-error.ts';
import type { CopyReport, Inspected, TransformTask } from './mirror-task.ts';
import { createScratchPack } from './scratch-pack.ts';

export interface TransformedContent {
  readonly inspected: Inspected;
  /** A disk's error is a failure of the copy. */
  readonly files: readonly ArchivedFile[] | { readonly fault: PublishableError };
  /** Releases what `files` reads. */
  close(): Promise<void>;
}

/** Where the files of a search are until they are copied. */
interface MadeFiles {
  readonly sink: PackSink;
  open(index: BundleIndex): Promise<StoredBundle>;
}

interface SearchableContent extends Pick<Inspected, 'digest' | 'pages' | 'sizeBytes' | 'notes'> {
  readonly files: readonly ArchivedFile[];
  readonly linedPages: number;
  readonly withoutLine: { readonly count: number };
  close(): Promise<void>;
}

/** Another product has the search, and the composition root passes it. @throws what reading the bundle and writing the files throw */
export type AddSearch = (
  bundle: StoredBundle,
  made: MadeFiles,
  signal: AbortSignal,
  onFile: (done: number) => void,
) => Promise<SearchableContent>;

interface TransformContext extends ProgressContext {
  readonly addSearch: AddSearch;
  readonly report: (report: CopyReport) => Promise<void>;
}

interface TransformPlace {
  readonly workDir: string;
  readonly limits: BundleLimits;
}

/** A disk that is full is a fault of the copy, whatever was being written. */
class DiskFault extends Error {
  readonly fault: PublishableError;
  constructor(fault: PublishableError) {
    super(fault.message, { cause: fault });
    this.fault = fault;
  }
}

/**
 * @param content is closed here where this throws, and by the result's `close` otherwise
 * @throws {PublishableError} `DigestMismatch`, and a limit that the result exceeds; what reading the bundle throws
 */
export async function transformContent(
  content: StoredBundle,
  { modes, addsSearch, expectedDigest }: TransformTask,
  place: TransformPlace,
  context: TransformContext,
  signal: AbortSignal,
): Promise<TransformedContent> {
  const closers = [content.close];
  const close = async (): Promise<void> => {
    for (const release of closers.splice(0)) await release();
  };
  const report = throttleProgress(context);
  const receivedBytes = content.index.sizeBytes;
  const onFile = (files: number): void => report({ receivedBytes, files: Math.floor(files) });
  try {
    const plan = modes && (await planRepair(content, modes, signal, onFile));
    if (plan !== undefined) requireRepairedSize(plan, place.limits);
    const rules = plan?.rules.map(({ rule, files }) => ({ rule, files })) ?? [];
    if (!addsSearch) {
      const { files, ...rest } = plan ?? { ...content.index, files: packedFiles(content) };
      requireDigest(rest, expectedDigest);
      return { files, inspected: { ...inspectedOf(rest), repaired: rules }, close };
    }
    const site = plan?.isChanged === true ? await packOf(plan, content.index, place) : content;
    if (site !== content) {
      // Its space on the disk is free for the files of the search.
      await close();
      closers.push(site.close);
    }
    const made = await createMadeFiles(site.index, place);
    await context.report({ stage: 'searching' });
    const searchable = await context.addSearch(site, made, signal, onFile).finally(made.abandon);
    closers.push(searchable.close);
    requireDigest(searchable, expectedDigest);
    requireRepairedSize(searchable, place.limits);
    const search = { rule: searchStep, files: searchable.linedPages, without: searchable.withoutLine.count };
    return {
      files: searchable.files,
      inspected: { ...inspectedOf(searchable), repaired: [...rules, search] },
      close,
    };
  } catch (error) {
    await close();
    if (!(error instanceof DiskFault)) throw error;
    return { inspected: inspectedOf(content.index), files: { fault: error.fault }, close };
  }
}

const inspectedOf = ({ digest, pages, sizeBytes, notes }: Inspected): Inspected => ({
  ...{ digest, pages, sizeBytes, notes },
});

function requireDigest({ digest }: Pick<Inspected, 'digest'>, expected: string | undefined): void {
  if (expected !== undefined && digest !== expected) throw refusal('DigestMismatch');
}

/** The search reads pages at random, so the repaired content lies in a pack of its own. @throws {DiskFault} */
async function packOf(
  { files, digest, pages, sizeBytes, notes }: RepairPlan,
  { report }: BundleIndex,
  { workDir }: TransformPlace,
): Promise<StoredBundle> {
  const scratch = await createScratchPack(join(workDir, 'repaired'));
  try {
    const rows: BundleFile[] = [];
    for (const { read, ...row } of files) {
      rows.push({ ...row, offset: scratch.sink.position });
      for await (const piece of read()) scratch.sink.append(piece);
    }
    const index = { digest, pages, sizeBytes, notes, files: sortFiles(rows) };
    return requireOpen(await scratch.open({ ...index, ...(report !== undefined && { report }) }));
  } finally {
    scratch.abandon();
  }
}

/** @throws {PublishableError} from its sink: `ContentTooLarge`, before the disk has more than the limit */
async function createMadeFiles(
  { sizeBytes }: BundleIndex,
  { workDir, limits }: TransformPlace,
): Promise<MadeFiles & { readonly abandon: () => void }> {
  const { sink, open, abandon } = await createScratchPack(join(workDir, 'search'));
  return {
    sink: {
      get position() {
        return sink.position;
      },
      append: (chunk) => {
        if (sizeBytes + sink.position + chunk.length > limits.maxTotalBytes) throw refusal('ContentTooLarge');
        sink.append(chunk);
      },
    },
    open: async (index) => requireOpen(await open(index)),
    abandon,
  };
}

function requireOpen(opened: StoredBundle | { readonly fault: PublishableError }): StoredBundle {
  if ('fault' in opened) throw new DiskFault(opened.fault);
  return opened;
}
