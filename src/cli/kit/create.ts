// `kit create`: bundles and other parts as one signed file. Archives are read by a server's rules first, and the kit is
// checked before it gets its name. Invariant: the same inputs, time and sequence give the same bytes.

import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packedFiles } from '#bundle/archive/packed-files.ts';
import { createCountingSink } from '#bundle/store/pack.ts';
import { removeQuietly } from '#bundle/store/store-disk.ts';
import type { StoredBundle } from '#bundle/store/stored-bundle.ts';
import { type AddedBundle, addDelta, addWhole, readKitBundle } from '#mirror/kit/kit-bundle.ts';
import { createKitContents } from '#mirror/kit/kit-contents.ts';
import { type KitHead, kitBlobs } from '#mirror/kit/kit-reader.ts';
import { composeKit } from '#mirror/kit/kit-writer.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { commandLimitsOf, openArchive, type SizeLimits } from '../bundle/reading.ts';
import { CliError } from '../cli-error.ts';
import type { CliContext } from '../context.ts';
import { sizeWords } from '../output/amounts.ts';
import { namedPath, newPartialName } from '../output/destination.ts';
import { openBase } from './bases.ts';
import type { KitAnswer } from './documents.ts';
import { readSignKey } from './keys.ts';
import { type OpenKit, openKit } from './kit-file.ts';
import { requirePlace, writeKit } from './kit-output.ts';
import { addChart, addImage, addSbom, type PartContext } from './new-parts.ts';
import { kitFields, kitLines, outputFields } from './summary.ts';
import { checkKit } from './verify.ts';

export interface CreateValues extends SizeLimits {
  readonly to: string;
  readonly signKey: string;
  readonly signPasswordFile: string | undefined;
  readonly bundle: readonly string[];
  readonly bundleVersion: readonly string[];
  readonly base: readonly string[];
  readonly image: string | undefined;
  readonly chart: readonly string[];
  readonly sbom: string | undefined;
  readonly name: string;
  readonly sequence: number | undefined;
  /** Epoch ms. */
  readonly createdTime: number | undefined;
  readonly partSize: number | undefined;
  readonly replace: boolean;
}

export async function createKit(
  values: CreateValues,
  _args: readonly string[],
  context: CliContext,
): Promise<KitAnswer<'CreatedKit'>> {
  const { progress, signal, clock } = context;
  const path = values.to;
  const place = { path, partSize: values.partSize, replace: values.replace };
  await requirePlace(place);
  const key = await readSignKey(values.signKey, values.signPasswordFile, context);
  const createdMs = values.createdTime ?? clock.now();
  const createdSeconds = Math.floor(createdMs / 1000);
  const sequence = values.sequence ?? createdSeconds;
  const contents = createKitContents();
  const releases: (() => Promise<void>)[] = [];
  try {
    const parts: PartContext = { contents, values, context, keep: (release) => void releases.push(release) };
    await addBundles(parts, values, await newPartialName(path));
    if (values.image !== undefined) await addImage(values.image, parts);
    for (const chart of values.chart) await addChart(chart, parts);
    if (values.sbom !== undefined) await addSbom(values.sbom, parts);
    const createdTime = formatInstant(createdMs);
    const finished = contents.finish({ name: values.name, sequence, createdTime });
    const kit = composeKit(finished.document, finished.contents, createdSeconds, key);
    progress.phase('Writing the kit');
    const onProgress = (written: number): void =>
      progress.advance(
        (100 * written) / kit.frame.size,
        `${sizeWords(written)} of ${sizeWords(kit.frame.size)}`,
      );
    const check = async (partials: readonly string[]): Promise<void> => {
      const written = await openKit(partials, 'exactly');
      try {
        const head = await checkKit(written.source, key, context);
        await proveWhole(head, written, values, context);
      } finally {
        await written.close();
      }
    };
    const paths = await writeKit(kit, place, onProgress, check, signal);
    const head = { document: finished.document, keyId: key.id, frame: kit.frame };
    return {
      outcome: 'done',
      kind: 'CreatedKit',
      fields: { ...kitFields(head), ...outputFields(finished.document), paths },
      lines: [...paths.map((one) => `Written:  ${one}`), ...kitLines(head)],
    };
  } finally {
    progress.end();
    for (const release of releases) await release();
  }
}

/** One after the other, so that the disk holds one unpacked bundle in addition to the bases. */
async function addBundles(
  { contents, context, keep }: PartContext,
  values: CreateValues,
  spool: string,
): Promise<void> {
  const { progress, signal } = context;
  const bases: StoredBundle[] = [];
  try {
    for (const base of values.base) bases.push(...(await openBase(base, undefined, values, context)));
    for (const [at, archive] of values.bundle.entries()) {
      const bundle = await openArchive(archive, values, context);
      try {
        const { index } = bundle;
        if (contents.hasBundle(index.digest)) {
          throw new CliError(
            'usage',
            'BundleTwice',
            'two of --bundle have the same content; name each content once',
          );
        }
        const added: AddedBundle = { bundle, files: packedFiles(bundle), version: values.bundleVersion[at] };
        const base = nearestBase(bundle, bases);
        progress.phase(base === undefined ? 'Compressing the bundle' : 'Comparing with the base');
        const onProgress = (read: number): void =>
          progress.advance(
            (100 * read) / index.sizeBytes,
            `${sizeWords(read)} of ${sizeWords(index.sizeBytes)}`,
          );
        const adding =
          base === undefined
            ? addWhole(added, contents, spool, signal)
            : addDelta(
                added,
                base,
                contents,
                { path: spool, limits: commandLimitsOf(values), onProgress },
                signal,
              );
        keep(await adding.catch((error: unknown) => throwSpoolFault(error, values.to)));
      } finally {
        progress.end();
        await bundle.close();
      }
    }
  } finally {
    for (const base of bases) await base.close();
    await rm(spool, { force: true });
  }
}

/** Each whole bundle as an importer reads it. Deltas were proven while their bases were open. */
async function proveWhole(
  head: KitHead,
  { source }: OpenKit,
  values: SizeLimits,
  { progress, random, signal }: CliContext,
): Promise<void> {
  progress.phase('Reading the bundles back');
  const blobs = kitBlobs(source, head, 'the kit');
  const workDir = join(tmpdir(), `static-export-${random.uuid()}`);
  try {
    for (const bundle of head.document.bundles.filter(({ kind }) => kind === 'whole')) {
      const sink = { limits: commandLimitsOf(values), pack: createCountingSink(), workDir };
      await readKitBundle(bundle, blobs, undefined, sink, signal);
    }
  } finally {
    await removeQuietly(workDir);
  }
}

/** Blobs are spooled beside the kit, so that a full disk is the one of `--to`. */
function throwSpoolFault(error: unknown, to: string): never {
  if (!(error instanceof PublishableError) || error.code !== 'SpoolFull') throw error;
  throw new CliError(
    'notWritten',
    'DestinationNotWritten',
    `${namedPath('--to', to)} could not be written: its disk is full`,
    { cause: error, next: ['Free space on the disk, or name a path on another one.'] },
  );
}

/** The base with the most equal bytes; the first one of equals. */
function nearestBase({ index }: StoredBundle, bases: readonly StoredBundle[]): StoredBundle | undefined {
  const hashes = new Map(index.files.map(({ sha256, size }) => [sha256, size]));
  const equal = (base: StoredBundle): number =>
    base.index.files.reduce((sum, { sha256 }) => sum + (hashes.get(sha256) ?? 0), 0);
  const ranked = bases.map((base) => ({ base, bytes: equal(base) }));
  return ranked.reduce<(typeof ranked)[number] | undefined>(
    (best, one) => (best === undefined || one.bytes > best.bytes ? one : best),
    undefined,
  )?.base;
}
