// Checks the framing of a tar before the parser sees a byte of it: headers, sizes, padding, end mark. Why: the parser
// hangs on some malformed sizes, takes a cut at an entry's border for the end, and reads past the end mark. Refuses
// everything that has two possible framings. Invariant: the parser's entries are exactly the guard's, in order
// (`confirm`), and both end at the end mark.

import type { PublishableError } from '#platform/wire/publishable-error.ts';
import type { BundleLimits } from '../limits.ts';
import { type RefusalCode, refusal } from '../refusal.ts';
import { tarChecksum } from './archive-type.ts';
import { checkLongName, readPax } from './pax.ts';

export type TarEntryKind = 'file' | 'folder' | 'link';

export interface TarGuard {
  /** Called with each chunk before the parser gets it. @throws {PublishableError} */
  feed(chunk: Buffer): void;
  /** Called for each entry of the parser. @throws {PublishableError} where it saw another entry than the guard */
  confirm(entry: { readonly name: string; readonly headerOffset: number; readonly size: number }): {
    readonly kind: TarEntryKind;
    /** The name is the header's, and the header has more bytes after the NUL that ends it. */
    readonly isNameCut: boolean;
  };
  /** Called when all bytes came. @throws {PublishableError} `TruncatedArchive`, `NoEndMark` */
  finish(): void;
  /** Entries seen and not yet confirmed. */
  readonly unconfirmed: number;
}

interface SeenEntry {
  readonly kind: TarEntryKind;
  readonly headerOffset: number;
  readonly size: number;
  /** The header's name, where bytes follow the NUL that ends it. */
  readonly cutName: string | undefined;
}

const blockBytes = 512;
/** More than any path and its attributes need; the parser itself gives up at 4 MiB. */
const maxExtendedBytes = 1024 * 1024;
/** Kinds by type flag; the flags of extended headers are handled apart, all others are refused. */
const kinds: ReadonlyMap<string, TarEntryKind> = new Map([
  ['0', 'file'],
  ['\0', 'file'],
  ['7', 'file'],
  ['1', 'link'],
  ['5', 'folder'],
]);
const refusedFlags: ReadonlyMap<string, RefusalCode> = new Map([
  ['2', 'SymbolicLink'],
  ['3', 'SpecialFile'],
  ['4', 'SpecialFile'],
  ['6', 'SpecialFile'],
  ['S', 'SparseFile'],
]);

export function createTarGuard(limits: BundleLimits): TarGuard {
  const seen: SeenEntry[] = [];
  let offset = 0;
  let skip = 0; // bytes of content and padding still to pass over
  let wanted = blockBytes; // bytes of the block or extended header being collected
  let collected: Buffer[] = [];
  let collectedBytes = 0;
  let extended: { flag: string; size: number } | undefined; // the extended header being collected
  let pending = new Map<string, number | undefined>(); // extended headers of the next entry: flag → size record
  let pendingBytes = 0;
  let charset = ''; // of the names in extended headers, as a global one declares it
  let endBlocks = 0;

  const readHeader = (block: Buffer): void => {
    if (block.every((byte) => byte === 0)) {
      if (pending.size > 0) throw refusal('InvalidExtendedHeader');
      endBlocks += 1;
      return;
    }
    if (endBlocks > 0) throw refusal('DataAfterEnd');
    checkHeader(block);
    const flag = String.fromCharCode(block[156] ?? 0);
    const size = readSize(block.subarray(124, 136));
    if (flag === 'x' || flag === 'g' || flag === 'L' || flag === 'K') beginExtended(flag, size);
    else beginEntry(flag, size, block);
  };

  const beginExtended = (flag: string, size: number): void => {
    pendingBytes += size;
    if (pendingBytes > Math.min(limits.maxMetadataBytes, maxExtendedBytes)) throw refusal('MetadataTooLarge');
    // Two of a kind, or both families for one entry, are read differently by different programs.
    const isAmbiguous = flag === 'g' ? pending.size > 0 : pending.has(flag) || pending.has('x');
    const isMixed = flag === 'x' && pending.size > 0;
    if (size === 0 || isAmbiguous || isMixed) throw refusal('InvalidExtendedHeader');
    extended = { flag, size };
    wanted = Math.ceil(size / blockBytes) * blockBytes;
  };

  const readExtended = (flag: string, payload: Buffer): void => {
    if (flag === 'x') pending.set(flag, readPax(payload, false, charset).size);
    else if (flag === 'g') ({ charset } = readPax(payload, true, charset));
    else {
      checkLongName(payload);
      pending.set(flag, undefined);
    }
  };

  const beginEntry = (flag: string, headerSize: number, block: Buffer): void => {
    const kind = kinds.get(flag);
    const fail = (code: RefusalCode): PublishableError => refusal(code, { name: nameIn(block) });
    if (kind === undefined) throw fail(refusedFlags.get(flag) ?? 'UnknownEntryType');
    const size = pending.get('x') ?? headerSize;
    if (size !== headerSize) throw fail('InvalidSize');
    if (kind !== 'file' && size > 0) throw fail('UnexpectedData');
    if (size > limits.maxFileBytes) throw fail('FileTooLarge');
    const cutName = hasTail(block) ? nameIn(block) : undefined;
    seen.push({ kind, headerOffset: offset - blockBytes, size, cutName });
    skip = Math.ceil(size / blockBytes) * blockBytes;
    pending = new Map();
    pendingBytes = 0;
  };

  const takeCollected = (): void => {
    const block = collected.length === 1 && collected[0] ? collected[0] : Buffer.concat(collected);
    collected = [];
    collectedBytes = 0;
    wanted = blockBytes;
    if (extended === undefined) {
      readHeader(block);
    } else {
      const { flag, size } = extended;
      extended = undefined;
      readExtended(flag, block.subarray(0, size));
    }
  };

  return {
    get unconfirmed() {
      return seen.length;
    },
    feed: (chunk) => {
      for (let at = 0; at < chunk.length; ) {
        const want = skip > 0 ? skip : wanted - collectedBytes;
        const count = Math.min(want, chunk.length - at);
        offset += count;
        if (skip > 0) {
          skip -= count;
        } else {
          collected.push(chunk.subarray(at, at + count));
          collectedBytes += count;
          if (collectedBytes === wanted) takeCollected();
        }
        at += count;
      }
    },
    confirm: ({ name, headerOffset, size }) => {
      const entry = seen.shift();
      if (entry === undefined || entry.headerOffset !== headerOffset || entry.size !== size) {
        throw refusal('InvalidTarHeader');
      }
      // An extended header may give another name; the header's own does not count then.
      return { kind: entry.kind, isNameCut: entry.cutName === name };
    },
    finish: () => {
      if (collectedBytes > 0 && endBlocks > 1) throw refusal('DataAfterEnd');
      if (skip > 0 || collectedBytes > 0 || extended !== undefined) throw refusal('TruncatedArchive');
      if (endBlocks < 2) throw refusal(pending.size > 0 ? 'InvalidExtendedHeader' : 'NoEndMark');
    },
  };
}

/**
 * Bytes follow the NUL that ends the name or its prefix. Tar programs ignore them, and so does the parser. (From byte 476
 * on, star keeps times in a ustar header.)
 */
function hasTail(block: Buffer): boolean {
  const isAfterNul = (start: number, end: number): boolean =>
    /\0[^\0]/.test(block.toString('latin1', start, end));
  return isAfterNul(0, 100) || (hasPrefix(block) && isAfterNul(345, 476));
}

function hasPrefix(block: Buffer): boolean {
  return block.toString('latin1', 257, 263) === 'ustar\0';
}

/** For messages about a refused entry; a long name is cut here, as in every header of its kind. */
function nameIn(block: Buffer): string {
  const text = (start: number, end: number): string =>
    block.toString('utf8', start, end).replace(/\0.*$/s, '');
  const prefix = hasPrefix(block) ? text(345, 500) : '';
  return prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`;
}

/** @throws {PublishableError} for a wrong checksum or a magic that is neither ustar's nor GNU's */
function checkHeader(block: Buffer): void {
  const stored = /^ *([0-7]{1,7})[\0 ]+$/.exec(block.toString('latin1', 148, 156))?.[1];
  if (stored === undefined || Number.parseInt(stored, 8) !== tarChecksum(block)) {
    throw refusal('InvalidTarHeader');
  }
  const magic = block.toString('latin1', 257, 265);
  if (!magic.startsWith('ustar\0') && magic !== 'ustar  \0') throw refusal('UnknownTarFormat');
}

/** Octal digits ended by NUL or space, or GNU base-256. @throws {PublishableError} `InvalidSize` */
function readSize(field: Buffer): number {
  if (field[0] === 0x80) {
    const size = field.subarray(1).reduce((sum, byte) => sum * 256 + byte, 0);
    if (!Number.isSafeInteger(size)) throw refusal('InvalidSize');
    return size;
  }
  const digits = /^ *([0-7]*)[\0 ]*$/.exec(field.toString('latin1'))?.[1];
  if (digits === undefined) throw refusal('InvalidSize');
  return digits === '' ? 0 : Number.parseInt(digits, 8);
}
