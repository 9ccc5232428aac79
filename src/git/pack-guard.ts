// Reads a pack before the git client does: the client inflates each object whole, in memory that no limit of a thread
// counts. So a pack of kilobytes could take gigabytes. Refuses objects, and results of deltas, that are larger than the
// bound. Pure. Invariant: no more than one object of that size is held.

import { inflateSync } from 'node:zlib';

export class PackRefused extends Error {
  readonly why: 'ObjectTooLarge' | 'TooManyObjects' | 'DamagedPack';

  constructor(why: PackRefused['why']) {
    super(why);
    this.why = why;
  }
}

export interface PackLimits {
  readonly maxObjectBytes: number;
  readonly maxObjects: number;
}

/** @throws {PackRefused} */
export function checkPack(pack: Uint8Array, limits: PackLimits): void {
  const view = new DataView(pack.buffer, pack.byteOffset, pack.byteLength);
  if (pack.byteLength < 32 || view.getUint32(0) !== 0x5041434b) throw new PackRefused('DamagedPack');
  const count = view.getUint32(8);
  if (count > limits.maxObjects) throw new PackRefused('TooManyObjects');
  let at = 12;
  for (let object = 0; object < count; object += 1) at = checkObject(pack, at, limits.maxObjectBytes);
}

const offsetDelta = 6;
const referenceDelta = 7;

/** @returns where the next object starts */
function checkObject(pack: Uint8Array, start: number, maxBytes: number): number {
  const first = byteAt(pack, start);
  const type = (first >> 4) & 7;
  const size = readSize(pack, start, 4);
  refuseSize(size.value, maxBytes);
  let at = size.end;
  if (type === offsetDelta) {
    while (byteAt(pack, at) >= 0x80) at += 1;
    at += 1;
  } else if (type === referenceDelta) at += 20;
  const { data, used } = inflate(pack, at, size.value);
  if (type === offsetDelta || type === referenceDelta) {
    const base = readSize(data, 0, 7);
    refuseSize(base.value, maxBytes);
    refuseSize(readSize(data, base.end, 7).value, maxBytes);
  }
  return at + used;
}

function inflate(
  pack: Uint8Array,
  at: number,
  size: number,
): { readonly data: Uint8Array; readonly used: number } {
  try {
    // One byte more than declared: an object that holds more fails here.
    const maxOutputLength = Math.max(1, size);
    const { buffer, engine } = inflateWithInfo(pack.subarray(at), maxOutputLength);
    if (buffer.byteLength !== size) throw new PackRefused('DamagedPack');
    return { data: buffer, used: engine.bytesWritten };
  } catch (cause) {
    throw cause instanceof PackRefused ? cause : new PackRefused('DamagedPack');
  }
}

interface Inflated {
  readonly buffer: Uint8Array;
  readonly engine: { readonly bytesWritten: number };
}

function inflateWithInfo(input: Uint8Array, maxOutputLength: number): Inflated {
  const result: unknown = inflateSync(input, { maxOutputLength, info: true });
  if (!isInflated(result)) throw new PackRefused('DamagedPack');
  return result;
}

function isInflated(value: unknown): value is Inflated {
  return typeof value === 'object' && value !== null && 'buffer' in value && 'engine' in value;
}

/** A size in git's variable length: `firstBits` of the first byte count, and seven of each that follows. */
function readSize(
  bytes: Uint8Array,
  start: number,
  firstBits: number,
): { readonly value: number; readonly end: number } {
  let byte = byteAt(bytes, start);
  let value = byte & (2 ** firstBits - 1);
  let factor = 2 ** firstBits;
  let end = start + 1;
  while (byte >= 0x80) {
    if (end - start > 7) throw new PackRefused('ObjectTooLarge');
    byte = byteAt(bytes, end);
    value += (byte & 0x7f) * factor;
    factor *= 128;
    end += 1;
  }
  return { value, end };
}

function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new PackRefused('DamagedPack');
  return byte;
}

function refuseSize(size: number, maxBytes: number): void {
  if (size > maxBytes) throw new PackRefused('ObjectTooLarge');
}
