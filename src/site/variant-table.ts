// Where the coded forms of a bundle's files lie in their own pack: four numbers a file, in one block of memory
// that a worker hands over without a copy. Refuses: tables that are not of this bundle.

import { type ContentCoding, contentCodings } from './content-coding.ts';

/** A coded body in the pack of coded bodies. */
export interface CodedForm {
  readonly offset: number;
  readonly size: number;
}

export interface VariantTable {
  /** @param ordinal of the file in its bundle's index */
  find(ordinal: number, coding: ContentCoding): CodedForm | undefined;
  /** Files that have a form of that coding. */
  readonly counts: Readonly<Record<ContentCoding, number>>;
  readonly sizeBytes: number;
}

const numbersPerForm = 2;
const numbersPerFile = contentCodings.length * numbersPerForm;

/** An empty table to be filled by `setForm`. */
export function createVariantNumbers(files: number): Float64Array<ArrayBuffer> {
  return new Float64Array(files * numbersPerFile);
}

export function setForm(
  numbers: Float64Array,
  ordinal: number,
  coding: ContentCoding,
  form: CodedForm,
): void {
  const at = positionOf(ordinal, coding);
  numbers[at] = form.offset;
  numbers[at + 1] = form.size;
}

/** @returns `undefined` where the numbers do not belong to a bundle of so many files */
export function readVariantTable(numbers: Float64Array, files: number): VariantTable | undefined {
  if (numbers.length !== files * numbersPerFile) return undefined;
  const find = (ordinal: number, coding: ContentCoding): CodedForm | undefined => {
    const at = positionOf(ordinal, coding);
    const size = numbers[at + 1] ?? 0;
    return size === 0 ? undefined : { offset: numbers[at] ?? 0, size };
  };
  const counts = { br: 0, gzip: 0 };
  let sizeBytes = 0;
  for (let ordinal = 0; ordinal < files; ordinal += 1) {
    for (const coding of contentCodings) {
      const size = numbers[positionOf(ordinal, coding) + 1] ?? 0;
      if (size > 0) counts[coding] += 1;
      sizeBytes += size;
    }
  }
  return { find, counts, sizeBytes };
}

function positionOf(ordinal: number, coding: ContentCoding): number {
  return ordinal * numbersPerFile + (coding === 'br' ? 0 : numbersPerForm);
}
