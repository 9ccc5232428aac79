// The thread's side of precompressed variants: finds those of a bundle on disk, or makes them file by file and stores
// them in the bundle's folder. Owns the budget: a share of one core, one file at a time in memory, a limit on disk.
// Invariant: a variant is made only of bytes whose hash was checked, and kept only where it saves a tenth. After a
// restart it is used only if its pack and its list have the hashes that were stored with them.

import { createHash, hash } from 'node:crypto';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type BundleFile, type BundleIndex, isHeld } from '#bundle/bundle-index.ts';
import { contentTypeOfFile } from '#bundle/content-type.ts';
import { createPackWriter } from '#bundle/store/pack.ts';
import { systemDisk } from '#bundle/store/store-disk.ts';
import { packName } from '#bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { type Additions, type ExtendedIndex, extendIndex } from '../content/additions.ts';
import { createExtendedPack } from '../content/extended-pack.ts';
import { createVariantNumbers, setVariant } from '../content/variant-table.ts';
import { type ContentEncoding, isWorthCompressing } from '../http/content-encoding.ts';
import { bodyFingerprint } from '../http/entity-tag.ts';
import { shareOfCore } from '../made/core-share.ts';
import {
  hashOfPack,
  keepAddition,
  madeNames,
  orRemoveAddition,
  removeAddition,
  variantNames,
} from '../made/stored-addition.ts';
import { readStoredIndex, readVerified } from '../made/stored-files.ts';
import { formatVariants, parseVariants, type VariantDocument } from './variant-document.ts';
import type { PreparedVariants, VariantTask } from './variant-task.ts';

/** @throws {PublishableError} after the removal of what was begun */
export function prepareVariants(task: VariantTask, clock: Clock): Promise<PreparedVariants> {
  return orRemoveAddition(task.folder, variantNames, 'precompressed variants', async () => {
    const { index, overheadBytes } = await readStoredIndex(task, 'variants');
    const content = contentOf(index, task);
    // Of a run that served more. They count towards the limit of what is stored with a bundle.
    if (task.additions === undefined) await removeAddition(task.folder, madeNames);
    const usedBytes = overheadBytes + (await madeBytes(task));
    const left = { ...task, maxBytes: Math.max(0, task.maxBytes - usedBytes) };
    const found = await findVariants(left, content);
    const { variants, isPartial } = found ?? (await makeVariants(left, content, clock));
    const numbers = createVariantNumbers(content.index.files.length);
    for (const [ordinal, encoding, offset, size, fingerprint] of variants) {
      setVariant(numbers, ordinal, encoding, { offset, size, fingerprint });
    }
    return { numbers, isPartial, isFound: found !== undefined };
  });
}

/** What is served, and what variants of it are stored under. */
interface ServedContent {
  readonly index: BundleIndex;
  readonly name: string;
  readonly extended: ExtendedIndex | undefined;
}

function contentOf(index: BundleIndex, { digest, additions }: VariantTask): ServedContent {
  if (additions === undefined) return { index, name: digest, extended: undefined };
  const extending = extendIndex(index, additions);
  let step = extending.next();
  while (step.done !== true) step = extending.next();
  const extended = step.value;
  if (extended === undefined)
    throw new PublishableError('MadeFilesForeign', 'the made files are of another bundle');
  return { index: extended.index, name: nameOf(digest, additions), extended };
}

function nameOf(digest: string, { pages, files, hashes, paths }: Additions): string {
  const sum = createHash('sha256').update(digest);
  for (const part of [pages, files, hashes, Buffer.from(paths)]) sum.update(part);
  return sum.digest('hex');
}

/** On disk. */
async function madeBytes({ folder, additions }: VariantTask): Promise<number> {
  if (additions === undefined) return 0;
  const list = (await systemDisk.readText(join(folder, madeNames.list))) ?? '';
  return additions.packBytes + Buffer.byteLength(list);
}

/** Variants that an earlier run stored, if their hash is right and they are what would be made now. */
async function findVariants(
  task: VariantTask,
  { index, name }: ServedContent,
): Promise<VariantDocument | undefined> {
  const text = await systemDisk.readText(join(task.folder, variantNames.list));
  const document = text === undefined ? undefined : parseVariants(text, name, index.files.length);
  if (document?.encodings.join() !== task.encodings.join() || document.packBytes > task.maxBytes)
    return undefined;
  return (await hashOfPack(task.folder, variantNames)) === document.packSha256 ? document : undefined;
}

async function makeVariants(
  { folder, encodings, cpuPercent, maxBytes }: VariantTask,
  { index, name, extended }: ServedContent,
  clock: Clock,
): Promise<VariantDocument> {
  await removeAddition(folder, variantNames);
  const stored = await openPack(join(folder, packName), index, undefined);
  const bundle = extended === undefined ? stored : await openExtended(folder, stored, extended);
  const pack = createPackWriter(join(folder, variantNames.nextPack));
  const packHash = createHash('sha256');
  const variants: StoredVariant[] = [];
  /** Files of the same content share their variants. */
  const byContent = new Map<string, readonly ContentVariant[]>();
  const rest = shareOfCore(cpuPercent, clock);
  let isPartial = false;

  const compressFile = (file: BundleFile): readonly ContentVariant[] => {
    const body = readVerified(bundle, file);
    return encodings.flatMap((encoding) => {
      const compressed = compress(encoding, body);
      if (compressed.length > body.length * 0.9) return [];
      const offset = pack.position;
      if (offset + compressed.length > maxBytes) {
        isPartial = true;
        return [];
      }
      packHash.update(compressed);
      pack.append(compressed);
      const fingerprint = bodyFingerprint(hash('sha256', compressed, 'hex'));
      return [[encoding, offset, compressed.length, fingerprint] as const];
    });
  };

  try {
    for (const [ordinal, file] of index.files.entries()) {
      if (!isHeld(file) || !isWorthCompressing(contentTypeOfFile(file), file.size)) continue;
      const made = byContent.get(file.sha256) ?? compressFile(file);
      byContent.set(file.sha256, made);
      for (const variant of made) variants.push([ordinal, ...variant]);
      await rest();
    }
    await pack.commit();
    const document = {
      digest: name,
      packBytes: pack.position,
      packSha256: packHash.digest('hex'),
      isPartial,
      encodings: [...encodings],
      variants,
    };
    await keepAddition(folder, variantNames, formatVariants(document));
    return document;
  } finally {
    pack.abandon();
    await bundle.close();
    if (bundle !== stored) await stored.close();
  }
}

type StoredVariant = VariantDocument['variants'][number];
/** Without the ordinal. */
type ContentVariant = readonly [ContentEncoding, number, number, number];

async function openExtended(
  folder: string,
  stored: StoredBundle,
  extended: ExtendedIndex,
): Promise<StoredBundle> {
  const made = await openPack(join(folder, madeNames.pack), stored.index, undefined);
  return createExtendedPack(stored, made, extended);
}

/** Levels at the knee of time against size: brotli 11 takes forty times as long for a sixth fewer bytes. */
function compress(encoding: ContentEncoding, body: Buffer): Buffer {
  if (encoding === 'gzip') return gzipSync(body, { level: 6 });
  return brotliCompressSync(body, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 5,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    },
  });
}
