// The worker's side of coding a bundle: looks for coded forms on disk, else makes them file by file and keeps them
// beside the bundle. Owns the budget: a share of one core; one file at a time in memory; no more room on disk than
// ordered. Invariant: a form is made only of bytes whose hash was checked, kept only where it saves a tenth, and
// used after a restart only if its pack and its list have the hashes that were stored with them.

import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { BundleFile, BundleIndex } from '../../bundle/bundle-index.ts';
import { isHiddenFile } from '../../bundle/store/hidden-files.ts';
import { parseIndex } from '../../bundle/store/index-document.ts';
import { createPackWriter } from '../../bundle/store/pack.ts';
import { type StoreDisk, systemDisk } from '../../bundle/store/store-disk.ts';
import { indexName, packName } from '../../bundle/store/store-layout.ts';
import { openPack, type StoredBundle } from '../../bundle/store/stored-bundle.ts';
import type { Clock } from '../../runtime/clock.ts';
import { PublishableError, publishableCode } from '../../wire/publishable-error.ts';
import { type CodedNumbers, createVariantNumbers, setForm } from '../content/variant-table.ts';
import { type ContentCoding, isWorthCoding } from '../http/content-coding.ts';
import { contentTypeOf } from '../http/content-type.ts';
import { fingerprintOf } from '../http/entity-tag.ts';
import { shareOfCore } from './core-share.ts';
import { formatVariants, parseVariants, type VariantDocument } from './variant-document.ts';
import type { VariantOrder, VariantReport } from './variant-message.ts';

export interface VariantEdge {
  readonly clock: Clock;
  readonly report: (report: VariantReport) => void;
  /** From {@link compressorsOf}. */
  readonly compressors: string;
}

/** The builds of what compresses: forms that others made are made again, so that replicas of one program send the same. */
export function compressorsOf({ zlib, brotli }: Readonly<Record<string, string | undefined>>): string {
  return `zlib ${zlib} brotli ${brotli}`;
}

/** Names in a bundle's folder: the coded bodies, where they are, and both on their way in. */
export const variantPackName = 'variants';
const documentName = 'variants-index';
const nextPackName = '.variants-next';
const nextDocumentName = '.variants-index-next';

const blockBytes = 1024 * 1024;

class VariantError extends PublishableError {}

/** Does the order and reports how it went. Never rejects. */
export async function runVariantMaking(order: VariantOrder, edge: VariantEdge): Promise<void> {
  try {
    const { index, overheadBytes } = await readIndex(order);
    const left = { ...order, maxBytes: Math.max(0, order.maxBytes - overheadBytes) };
    const found = await findVariants(left, index, edge);
    const made = found ?? (await makeVariants(left, index, edge));
    const numbers = createVariantNumbers(index.files.length);
    for (const [ordinal, coding, offset, size, fingerprint] of made.forms) {
      setForm(numbers, ordinal, coding, { offset, size, fingerprint });
    }
    edge.report({ type: 'done', numbers, isPartial: made.isPartial, isFound: found !== undefined });
  } catch (error) {
    await removeAll(order.folder, systemDisk).catch(() => {});
    const isOurs = error instanceof PublishableError;
    const code = isOurs ? error.code : publishableCode(error);
    const message = isOurs
      ? error.message
      : `coded forms could not be kept (${code}); check the store's volume`;
    edge.report({ type: 'failed', code, message });
  }
}

/** @returns the index, and what the bundle takes on disk beside its files' own size; less than none where names share one */
async function readIndex({ folder, digest }: VariantOrder): Promise<{
  readonly index: BundleIndex;
  readonly overheadBytes: number;
}> {
  const text = await systemDisk.readText(join(folder, indexName));
  const document = text === undefined ? undefined : parseIndex(text);
  if (text === undefined || document === undefined || document.index.digest !== digest) {
    throw new VariantError('BundleGone', 'the bundle is no longer in the store; its forms are not made');
  }
  const { index, packBytes } = document;
  return { index, overheadBytes: packBytes - index.sizeBytes + Buffer.byteLength(text) };
}

/** Coded forms that a former run stored, if their hash is right and they are what would be made now. */
async function findVariants(
  order: VariantOrder,
  index: BundleIndex,
  { compressors }: VariantEdge,
): Promise<VariantDocument | undefined> {
  const text = await systemDisk.readText(join(order.folder, documentName));
  const document = text === undefined ? undefined : parseVariants(text, order.digest, index.files.length);
  const isWanted = document?.codings.join() === order.codings.join() && document.compressors === compressors;
  if (document === undefined || !isWanted || document.packBytes > order.maxBytes) return undefined;
  const sha256 = await hashFile(join(order.folder, variantPackName)).catch(() => undefined);
  return sha256 === document.packSha256 ? document : undefined;
}

async function hashFile(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const hash = createHash('sha256');
    const block = Buffer.allocUnsafeSlow(blockBytes);
    for (;;) {
      const { bytesRead } = await file.read(block, 0, blockBytes);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(block.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

async function makeVariants(
  order: VariantOrder,
  index: BundleIndex,
  { clock, compressors }: VariantEdge,
): Promise<VariantDocument> {
  const { folder, digest, codings } = order;
  await removeAll(folder, systemDisk);
  const bundle = await openPack(join(folder, packName), index, undefined);
  const pack = createPackWriter(join(folder, nextPackName));
  try {
    const packHash = createHash('sha256');
    const coder = createCoder(order, bundle, (body) => {
      packHash.update(body);
      const offset = pack.position;
      pack.append(body);
      const fingerprint = fingerprintOf(createHash('sha256').update(body).digest('hex'));
      return { offset, size: body.length, fingerprint };
    });
    await codeAll(index, coder, order.cpuPercent, clock);
    await pack.commit();
    const { forms, isPartial } = coder.result();
    const packSha256 = packHash.digest('hex');
    const document = {
      digest,
      packBytes: pack.position,
      packSha256,
      isPartial,
      codings: [...codings],
      compressors,
      forms,
    };
    await keepVariants(folder, document, systemDisk);
    return document;
  } finally {
    pack.abandon();
    await bundle.close();
  }
}

/** The pack is named before the list that speaks of it; a kill in between costs making them again. */
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

async function codeAll(index: BundleIndex, coder: Coder, cpuPercent: number, clock: Clock): Promise<void> {
  const rest = shareOfCore(cpuPercent, clock);
  for (const [ordinal, file] of index.files.entries()) {
    if (isHiddenFile(file.path) || !isWorthCoding(contentTypeOf(file.path), file.size)) continue;
    coder.code(ordinal, file);
    await rest();
  }
}

interface Coder {
  code(ordinal: number, file: BundleFile): void;
  result(): Pick<VariantDocument, 'forms' | 'isPartial'>;
}

type Form = VariantDocument['forms'][number];
/** Without the ordinal. */
type MadeForm = readonly [ContentCoding, number, number, number];

/** Files of the same content share their forms. */
function createCoder(order: VariantOrder, bundle: StoredBundle, keep: (body: Buffer) => CodedNumbers): Coder {
  const forms: Form[] = [];
  const byContent = new Map<string, readonly MadeForm[]>();
  let keptBytes = 0;
  let isPartial = false;

  const codeContent = (file: BundleFile): readonly MadeForm[] => {
    const body = bundle.readSync(file);
    if (createHash('sha256').update(body).digest('hex') !== file.sha256) {
      throw new VariantError(
        'BundleDamaged',
        'the stored bundle no longer is what was verified; check its disk',
      );
    }
    return order.codings.flatMap((coding) => {
      const coded = compress(coding, body);
      if (coded.length > body.length * 0.9) return [];
      if (keptBytes + coded.length > order.maxBytes) {
        isPartial = true;
        return [];
      }
      keptBytes += coded.length;
      const { offset, size, fingerprint } = keep(coded);
      return [[coding, offset, size, fingerprint] as const];
    });
  };

  return {
    code: (ordinal, file) => {
      const made = byContent.get(file.sha256) ?? codeContent(file);
      byContent.set(file.sha256, made);
      for (const form of made) forms.push([ordinal, ...form]);
    },
    result: () => ({ forms, isPartial }),
  };
}

/** Levels at the knee of time against size: brotli 11 takes forty times as long for a sixth fewer bytes. */
function compress(coding: ContentCoding, body: Buffer): Buffer {
  if (coding === 'gzip') return gzipSync(body, { level: 6 });
  return brotliCompressSync(body, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: 5,
      [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
      [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
    },
  });
}
