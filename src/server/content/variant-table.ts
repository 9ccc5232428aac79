// Where the precompressed variants of a bundle's files lie in their own pack, and what their bytes are called: six numbers a
// file, in one block of memory that a worker hands over without a copy. Refuses: tables that are not of this bundle.

import type { BundleFile } from '#bundle/bundle-index.ts';
import { type ContentEncoding, contentEncodings } from '../http/content-encoding.ts';
import { entityTagOf, variantTagOf } from '../http/entity-tag.ts';

/** A precompressed body in the pack of precompressed bodies. */
export interface Variant {
  readonly offset: number;
  readonly size: number;
  /** Names these very bytes. */
  readonly tag: string;
}

/** As it is handed over: the tag follows from it and the file's own hash. */
export interface VariantNumbers {
  readonly offset: number;
  readonly size: number;
  readonly fingerprint: number;
}

export interface VariantTable {
  /** @param ordinal of the file in its bundle's index */
  find(ordinal: number, encoding: ContentEncoding): Variant | undefined;
  /** Files that have a form of that encoding. */
  readonly counts: Readonly<Record<ContentEncoding, number>>;
  readonly sizeBytes: number;
}

const numbersPerVariant = 3;
const numbersPerFile = contentEncodings.length * numbersPerVariant;

/** An empty table to be filled by `setVariant`. */
export function createVariantNumbers(files: number): Float64Array {
  // Shared memory: a thread hands it over without a copy.
  return new Float64Array(new SharedArrayBuffer(files * numbersPerFile * Float64Array.BYTES_PER_ELEMENT));
}

export function setVariant(
  numbers: Float64Array,
  ordinal: number,
  encoding: ContentEncoding,
  form: VariantNumbers,
): void {
  const at = positionOf(ordinal, encoding);
  numbers[at] = form.offset;
  numbers[at + 1] = form.size;
  numbers[at + 2] = form.fingerprint;
}

/** @returns `undefined` where the numbers do not belong to a bundle of so many files */
export function readVariantTable(
  numbers: Float64Array,
  files: readonly Pick<BundleFile, 'sha256' | 'type'>[],
): VariantTable | undefined {
  if (numbers.length !== files.length * numbersPerFile) return undefined;
  // Made when first asked for: most files of a large site are never asked for between two versions.
  const made = new Map<number, Variant>();
  const find = (ordinal: number, encoding: ContentEncoding): Variant | undefined => {
    const at = positionOf(ordinal, encoding);
    const size = numbers[at + 1] ?? 0;
    const file = files[ordinal];
    if (size === 0 || file === undefined) return undefined;
    const known = made.get(at);
    if (known !== undefined) return known;
    const tag = variantTagOf(entityTagOf(file), encoding, numbers[at + 2] ?? 0);
    const form = { offset: numbers[at] ?? 0, size, tag };
    made.set(at, form);
    return form;
  };
  const counts = { br: 0, gzip: 0 };
  let sizeBytes = 0;
  for (let ordinal = 0; ordinal < files.length; ordinal += 1) {
    for (const encoding of contentEncodings) {
      const size = numbers[positionOf(ordinal, encoding) + 1] ?? 0;
      if (size > 0) counts[encoding] += 1;
      sizeBytes += size;
    }
  }
  return { find, counts, sizeBytes };
}

function positionOf(ordinal: number, encoding: ContentEncoding): number {
  return ordinal * numbersPerFile + (encoding === 'br' ? 0 : numbersPerVariant);
}
