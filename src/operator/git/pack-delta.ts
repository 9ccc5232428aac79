// The deltas of a pack (gitformat-pack, "Deltified representation"): sizes of base and result, then copies from the base and
// new bytes. Pure. Refuses whatever does not make exactly the result that it announces.

import { byteAt, PackRefused, refuseSize } from './pack-refused.ts';

/** @throws {PackRefused} */
export function resultSizeOf(delta: Uint8Array): number {
  return readSize(delta, readSize(delta, 0).end).value;
}

/** @throws {PackRefused} `ObjectTooLarge`, `DamagedPack` */
export function applyPackDelta(delta: Uint8Array, base: Uint8Array, maxBytes: number): Uint8Array {
  const from = readSize(delta, 0);
  const to = readSize(delta, from.end);
  if (from.value !== base.byteLength) throw new PackRefused('DamagedPack');
  refuseSize(to.value, maxBytes);
  const result = new Uint8Array(to.value);
  let written = 0;
  const write = (bytes: Uint8Array, length: number): void => {
    if (bytes.byteLength !== length || written + length > result.byteLength)
      throw new PackRefused('DamagedPack');
    result.set(bytes, written);
    written += length;
  };
  for (let at = to.end; at < delta.byteLength; ) {
    const code = byteAt(delta, at);
    at += 1;
    if (code === 0) throw new PackRefused('DamagedPack');
    if (code < 0x80) {
      write(delta.subarray(at, at + code), code);
      at += code;
      continue;
    }
    // A bit for each of four bytes of the offset and three of the length that follow.
    let offset = 0;
    let length = 0;
    for (let bit = 0; bit < 7; bit += 1) {
      if ((code & (1 << bit)) === 0) continue;
      const byte = byteAt(delta, at);
      at += 1;
      if (bit < 4) offset += byte * 256 ** bit;
      else length += byte * 256 ** (bit - 4);
    }
    if (length === 0) length = 0x10000;
    write(base.subarray(offset, offset + length), length);
  }
  if (written !== result.byteLength) throw new PackRefused('DamagedPack');
  return result;
}

/** Seven bits of each byte, the lowest first. */
function readSize(bytes: Uint8Array, start: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let at = start, factor = 1; ; at += 1, factor *= 128) {
    if (factor > 2 ** 50) throw new PackRefused('ObjectTooLarge');
    const byte = byteAt(bytes, at);
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, end: at + 1 };
  }
}
