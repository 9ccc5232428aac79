// The thread's side of precompressed variants: finds those of a bundle on disk, or makes them file by file and stores
// them in the bundle's folder. Owns the budget: a share of one core, one file at a time in memory, a limit on disk.
// Invariant: a variant is made only of bytes whose hash was checked, and kept only where it saves a tenth. After a
// restart it is used only if its pack and its list have the hashes that were stored with them.

import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { type BundleFile, type BundleIndex, isHeld } from '#bundle/bundle-index.ts';
import { parseIndex } from '#bundle/store/index-document.ts';
import { createPackWriter } from '#bundle/store/pack.ts';
import { type StoreDisk, systemDisk } from '#bundle/store/store-disk.ts';
import { indexName, packName } from '#bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import type { Clock } from '#platform/runtime/clock.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { createVariantNumbers, setVariant } from '../content/variant-table.ts';
import { type ContentEncoding, isWorthCompressing } from '../http/content-encoding.ts';
import { contentTypeOf } from '../http/content-type.ts';
import { bodyFingerprint } from '../http/entity-tag.ts';
import { formatVariants, parseVariants, type VariantDocument } from './variant-document.ts';
import { type PreparedVariants, type VariantTask, variantPackName } from './variant-task.ts';

/** Names in a bundle's folder: the list of the variants, and it and their bodies before they are complete. */
const documentName = 'variants-index';
const nextPackName = '.variants-next';
const nextDocumentName = '.variants-index-next';

const pieceBytes = 1024 * 1024;
/** Short enough for a CPU quota's period. */
const sliceMs = 20;

/** @throws {PublishableError} after the removal of what was begun */
export async function prepareVariants(task: VariantTask, clock: Clock): Promise<PreparedVariants> {
  try {
    const { index, overheadBytes } = await readIndex(task);
    const left = { ...task, maxBytes: Math.max(0, task.maxBytes - overheadBytes) };
    const found = await findVariants(left, index);
    const { variants, isPartial } = found ?? (await makeVariants(left, index, clock));
    const numbers = createVariantNumbers(index.files.length);
    for (const [ordinal, encoding, offset, size, fingerprint] of variants) {
      setVariant(numbers, ordinal, encoding, { offset, size, fingerprint });
    }
    return { numbers, isPartial, isFound: found !== undefined };
  } catch (cause) {
    await removeAll(task.folder, systemDisk).catch(() => {});
    if (cause instanceof PublishableError) throw cause;
    const code = publishableCode(cause);
    const message = `precompressed variants could not be stored (${code}); check the store's volume`;
    throw new PublishableError(code, message, { cause });
  }
}

/** @returns the index, and what the bundle takes on disk in addition to its files' sizes; negative where names share one */
async function readIndex({ folder, digest }: VariantTask): Promise<{
  readonly index: BundleIndex;
  readonly overheadBytes: number;
}> {
  const text = await systemDisk.readText(join(folder, indexName));
  const document = text === undefined ? undefined : parseIndex(text);
  if (text === undefined || document === undefined || document.index.digest !== digest) {
    throw new PublishableError('BundleGone', 'the bundle is no longer in the store; no variants are made');
  }
  const { index, packBytes } = document;
  return { index, overheadBytes: packBytes - index.sizeBytes + Buffer.byteLength(text) };
}

/** Variants that an earlier run stored, if their hash is right and they are what would be made now. */
async function findVariants(task: VariantTask, index: BundleIndex): Promise<VariantDocument | undefined> {
  const text = await systemDisk.readText(join(task.folder, documentName));
  const document = text === undefined ? undefined : parseVariants(text, task.digest, index.files.length);
  if (document?.encodings.join() !== task.encodings.join() || document.packBytes > task.maxBytes)
    return undefined;
  const sha256 = await hashFile(join(task.folder, variantPackName)).catch(() => undefined);
  return sha256 === document.packSha256 ? document : undefined;
}

async function hashFile(path: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: pieceBytes })) sum.update(piece);
  return sum.digest('hex');
}

async function makeVariants(
  { folder, digest, encodings, cpuPercent, maxBytes }: VariantTask,
  index: BundleIndex,
  clock: Clock,
): Promise<VariantDocument> {
  await removeAll(folder, systemDisk);
  const bundle = await openPack(join(folder, packName), index, undefined);
  const pack = createPackWriter(join(folder, nextPackName));
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
      if (!isHeld(file) || !isWorthCompressing(contentTypeOf(file.path), file.size)) continue;
      const made = byContent.get(file.sha256) ?? compressFile(file);
      byContent.set(file.sha256, made);
      for (const variant of made) variants.push([ordinal, ...variant]);
      await rest();
    }
    await pack.commit();
    const document = {
      digest,
      packBytes: pack.position,
      packSha256: packHash.digest('hex'),
      isPartial,
      encodings: [...encodings],
      variants,
    };
    await keepVariants(folder, document, systemDisk);
    return document;
  } finally {
    pack.abandon();
    await bundle.close();
  }
}

type StoredVariant = VariantDocument['variants'][number];
/** Without the ordinal. */
type ContentVariant = readonly [ContentEncoding, number, number, number];

function readVerified(bundle: StoredBundle, file: BundleFile): Buffer {
  const body = Buffer.allocUnsafe(file.size);
  bundle.readIntoSync(file, body);
  if (hash('sha256', body, 'hex') === file.sha256) return body;
  throw new PublishableError(
    'BundleDamaged',
    'the stored bundle no longer is what was verified; check its disk',
  );
}

/** The pack is named before its list, so a kill in between costs making the variants again. */
async function keepVariants(folder: string, document: VariantDocument, disk: StoreDisk): Promise<void> {
  await disk.rename(join(folder, nextPackName), join(folder, variantPackName));
  await disk.writeText(join(folder, nextDocumentName), formatVariants(document));
  await disk.rename(join(folder, nextDocumentName), join(folder, documentName));
  await disk.syncFolder(folder);
}

async function removeAll(folder: string, disk: StoreDisk): Promise<void> {
  for (const name of [documentName, variantPackName, nextPackName, nextDocumentName]) {
    await disk.remove(join(folder, name));
  }
}

/**
 * A share of one core: after each slice of work, a rest that is as long as the share demands. The function that comes
 * back is to be awaited after each piece of the work.
 */
function shareOfCore(cpuPercent: number, clock: Clock): () => Promise<void> {
  let sliceStart = clock.monotonic();
  return async () => {
    const busyMs = clock.monotonic() - sliceStart;
    if (busyMs < sliceMs) return;
    await clock.after((busyMs * (100 - cpuPercent)) / cpuPercent);
    sliceStart = clock.monotonic();
  };
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
