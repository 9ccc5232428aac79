// Objects of received packs by their ids (gitformat-pack). In place of the git client's own reader, which keeps the result of
// each delta whose chain is long: an ordinary push of kilobytes took a gigabyte. Refuses
// objects and packs beyond the bounds. Invariant: in addition to packs and ids no more is held than a bounded cache and the objects
// of one step, and all that is resolved counts against one budget.

import { createHash } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import { applyPackDelta, resultSizeOf } from './pack-delta.ts';
import { byteAt, PackRefused, refuseSize } from './pack-refused.ts';

export interface PackLimits {
  readonly maxObjectBytes: number;
  /** Of all packs together. */
  readonly maxObjects: number;
  /** Bytes of all objects that are resolved, each as often as it is. */
  readonly maxResolvedBytes: number;
  /** Bytes of resolved objects that are kept for the next delta. */
  readonly maxKeptBytes: number;
}

const types = new Map([
  [1, 'commit'],
  [2, 'tree'],
  [3, 'blob'],
  [4, 'tag'],
] as const);
export type ObjectType = 'commit' | 'tree' | 'blob' | 'tag';

export interface GitObject {
  readonly type: ObjectType;
  readonly content: Uint8Array;
}

/** Where an object starts: in the pack of this number. As one number, because a pack may have half a million. */
type Place = number;
const packFactor = 2 ** 32;

/** What a read of an object costs, and what is kept of it in addition to its content: in bytes, of both budgets. */
const costOfObject = 256;

/** Of one pack, while their bases are not known. */
interface Deltas {
  readonly byBase: Map<Place | string, Place[]>;
  readonly places: Set<Place>;
}

interface Header {
  readonly size: number;
  /** Of the compressed bytes. */
  readonly dataStart: number;
  /** The type; of a delta the place or the id of its base. */
  readonly of: ObjectType | { readonly place: Place } | { readonly id: string };
}

export class PackStore {
  readonly #limits: PackLimits;
  readonly #packs: Uint8Array[] = [];
  readonly #places = new Map<string, Place>();
  readonly #kept = new Map<Place, GitObject>();
  #keptBytes = 0;
  #resolvedBytes = 0;

  constructor(limits: PackLimits) {
    this.#limits = limits;
  }

  /**
   * Resolves every object of the pack once, for its id.
   * @throws {PackRefused}
   */
  add(pack: Uint8Array): void {
    const view = new DataView(pack.buffer, pack.byteOffset, pack.byteLength);
    if (pack.byteLength < 32 || view.getUint32(0) !== 0x5041434b) throw new PackRefused('DamagedPack');
    const count = view.getUint32(8);
    if (count + this.#places.size > this.#limits.maxObjects) throw new PackRefused('TooManyObjects');
    const first = this.#packs.push(pack) * packFactor - packFactor;
    const deltas: Deltas = { byBase: new Map(), places: new Set() };
    let at = first + 12;
    for (let object = 0; object < count; object += 1) {
      const place = at;
      const { of, dataStart, size } = this.#headerAt(place);
      const { data, used } = this.#inflate(place, dataStart, size);
      if (typeof of === 'string') this.#note(place, { type: of, content: data });
      else {
        refuseSize(resultSizeOf(data), this.#limits.maxObjectBytes);
        const base = 'place' in of ? of.place : of.id;
        const siblings = deltas.byBase.get(base);
        if (siblings === undefined) deltas.byBase.set(base, [place]);
        else siblings.push(place);
        deltas.places.add(place);
      }
      at = first + dataStart + used;
    }
    this.#resolveAll(deltas);
  }

  has(id: string): boolean {
    return this.#places.has(id);
  }

  /** @returns `undefined` where no pack has it. @throws {PackRefused} `TooMuchWork` */
  read(id: string): GitObject | undefined {
    const place = this.#places.get(id);
    return place === undefined ? undefined : this.#resolve(place);
  }

  /** Each after its base, which may come later in the pack, and before other deltas: the base is kept then. */
  #resolveAll({ byBase, places }: Deltas): void {
    const ready: Place[] = [];
    const release = (base: Place | string): void => {
      for (const place of byBase.get(base) ?? []) ready.push(place);
      byBase.delete(base);
    };
    for (const base of [...byBase.keys()]) {
      if (typeof base === 'string' ? this.#places.has(base) : !places.has(base)) release(base);
    }
    for (let place = ready.pop(); place !== undefined; place = ready.pop()) {
      const object = this.#resolve(place);
      if (object === undefined) break;
      const id = this.#note(place, object);
      release(place);
      release(id);
    }
    if (byBase.size > 0) throw new PackRefused('DamagedPack');
  }

  /** @returns `undefined` where a base is not known */
  #resolve(place: Place): GitObject | undefined {
    const deltas: Place[] = [];
    let object: GitObject | undefined;
    for (let at = place; object === undefined; ) {
      object = this.#takeKept(at);
      if (object !== undefined) break;
      const { of, dataStart, size } = this.#headerAt(at);
      if (typeof of === 'string') {
        object = { type: of, content: this.#inflate(at, dataStart, size).data };
        break;
      }
      deltas.push(at);
      const base = 'place' in of ? of.place : this.#places.get(of.id);
      if (base === undefined) return undefined;
      at = base;
    }
    for (const at of deltas.toReversed()) {
      const { dataStart, size } = this.#headerAt(at);
      const delta = this.#inflate(at, dataStart, size).data;
      const content = applyPackDelta(delta, object.content, this.#limits.maxObjectBytes);
      this.#spend(content.byteLength);
      object = { type: object.type, content };
    }
    return object;
  }

  #headerAt(place: Place): Header {
    this.#spend(costOfObject);
    const pack = this.#packOf(place);
    const start = place % packFactor;
    const first = byteAt(pack, start);
    let size = first & 15;
    let at = start + 1;
    for (let byte = first, factor = 16; byte >= 0x80; factor *= 128, at += 1) {
      if (factor > 2 ** 50) throw new PackRefused('ObjectTooLarge');
      byte = byteAt(pack, at);
      size += (byte & 0x7f) * factor;
    }
    refuseSize(size, this.#limits.maxObjectBytes);
    const number = (first >> 4) & 7;
    if (number === 6) {
      // Bytes of seven bits, the highest first; each but the last counts one more.
      let back = -1;
      for (let byte = 0x80; byte >= 0x80; at += 1) {
        byte = byteAt(pack, at);
        back = (back + 1) * 128 + (byte & 0x7f);
        if (back > start) throw new PackRefused('DamagedPack');
      }
      if (back === 0) throw new PackRefused('DamagedPack');
      return { size, dataStart: at, of: { place: place - back } };
    }
    if (number === 7) {
      const id = Buffer.from(pack.subarray(at, at + 20)).toString('hex');
      return { size, dataStart: at + 20, of: { id } };
    }
    const type = [...types].find(([code]) => code === number)?.[1];
    if (type === undefined) throw new PackRefused('DamagedPack');
    return { size, dataStart: at, of: type };
  }

  #packOf(place: Place): Uint8Array {
    return this.#packs[Math.floor(place / packFactor)] ?? new Uint8Array();
  }

  #inflate(
    place: Place,
    dataStart: number,
    size: number,
  ): { readonly data: Uint8Array; readonly used: number } {
    this.#spend(size);
    try {
      // One byte more than declared: an object that holds more fails here.
      const input = this.#packOf(place).subarray(dataStart);
      const { buffer, engine } = inflateWithInfo(input, Math.max(1, size));
      if (buffer.byteLength !== size) throw new PackRefused('DamagedPack');
      return { data: buffer, used: engine.bytesWritten };
    } catch (cause) {
      throw cause instanceof PackRefused ? cause : new PackRefused('DamagedPack');
    }
  }

  /** Used last, so that it is dropped last: many deltas have one base. */
  #takeKept(place: Place): GitObject | undefined {
    const object = this.#kept.get(place);
    if (object !== undefined) {
      this.#kept.delete(place);
      this.#kept.set(place, object);
    }
    return object;
  }

  #note(place: Place, object: GitObject): string {
    const { type, content } = object;
    const id = createHash('sha1').update(`${type} ${content.byteLength}\0`).update(content).digest('hex');
    this.#places.set(id, place);
    this.#kept.set(place, object);
    this.#keptBytes += content.byteLength + costOfObject;
    for (const [oldest, kept] of this.#kept) {
      if (this.#keptBytes <= this.#limits.maxKeptBytes) break;
      this.#kept.delete(oldest);
      this.#keptBytes -= kept.content.byteLength + costOfObject;
    }
    return id;
  }

  #spend(bytes: number): void {
    this.#resolvedBytes += bytes;
    if (this.#resolvedBytes > this.#limits.maxResolvedBytes) throw new PackRefused('TooMuchWork');
  }
}

interface Inflated {
  readonly buffer: Uint8Array;
  readonly engine: { readonly bytesWritten: number };
}

function inflateWithInfo(input: Uint8Array, maxOutputLength: number): Inflated {
  // Of its own size, because a part of a larger chunk keeps the whole. Node wants 64 bytes at least.
  const chunkSize = Math.max(64, maxOutputLength);
  const result: unknown = inflateSync(input, { maxOutputLength, chunkSize, info: true });
  if (!isInflated(result)) throw new PackRefused('DamagedPack');
  return result;
}

function isInflated(value: unknown): value is Inflated {
  return typeof value === 'object' && value !== null && 'buffer' in value && 'engine' in value;
}
