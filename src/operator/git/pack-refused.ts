// Why a pack is not read, and the checks of bounds that its readers share. Owns the reasons; git-objects.ts words them.
// Invariant: no reason holds bytes of the pack.

export class PackRefused extends Error {
  readonly why: 'ObjectTooLarge' | 'TooManyObjects' | 'TooMuchWork' | 'DamagedPack';

  constructor(why: PackRefused['why']) {
    super(why);
    this.why = why;
  }
}

/** @throws {PackRefused} `DamagedPack` behind the end */
export function byteAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at];
  if (byte === undefined) throw new PackRefused('DamagedPack');
  return byte;
}

/** @throws {PackRefused} `ObjectTooLarge` */
export function refuseSize(size: number, maxBytes: number): void {
  if (size > maxBytes) throw new PackRefused('ObjectTooLarge');
}
