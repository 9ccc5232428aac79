// One mutation of one archive, drawn from a seed: the same seed and case number always give the same bytes.
// In addition to random changes there are aimed ones, which keep checksums right so that they pass the first check.

import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { tarChecksum } from '#bundle/archive/archive-type.ts';
import type { Sample } from './corpus.ts';
import { makeArchive } from './made-archive.ts';

export interface Mutant {
  readonly bytes: Buffer;
  /** What was done, for a message. */
  readonly how: string;
  /** True where every byte of content is under a checksum: what is read must be what was packed. */
  readonly isChecked: boolean;
  /** The tar inside, where it is known. */
  readonly plain: Buffer | undefined;
  /** The right verdict, if it is known: these files, or none. */
  readonly wanted?: Sample['contents'] | 'refusal';
}

/** Numbers in [0, below), from a seed (mulberry32). */
export type Dice = (below: number) => number;

export function diceOf(seed: number): Dice {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

const oddNumbers: readonly number[] = [0, 1, 0x7f, 0x80, 0xff];
const oddFields: readonly string[] = [
  '00000000000\0',
  '77777777777\0',
  '-0000000001\0',
  '           \0',
  '0000000000a\0',
  '\0',
  '00000001000\0',
];
const typeFlags = '01234567xgLKSVMNAD\0';
const badNames: readonly string[] = [
  '../x',
  '/etc/passwd',
  'a\\b',
  './',
  '',
  'C:x',
  'index.html',
  'a/../../b',
];

type Change = (bytes: Buffer, dice: Dice) => Buffer;

const blind: Readonly<Record<string, Change>> = {
  flip: (bytes, dice) => {
    const changed = Buffer.from(bytes);
    for (let left = 1 + dice(6); left > 0; left -= 1) {
      const at = dice(changed.length);
      changed.writeUInt8(changed.readUInt8(at) ^ (1 + dice(255)), at);
    }
    return changed;
  },
  odd: (bytes, dice) => {
    const changed = Buffer.from(bytes);
    const start = dice(changed.length);
    changed.fill(
      oddNumbers[dice(oddNumbers.length)] ?? 0,
      start,
      Math.min(changed.length, start + 1 + dice(16)),
    );
    return changed;
  },
  cut: (bytes, dice) => bytes.subarray(0, dice(bytes.length)),
  remove: (bytes, dice) => {
    const at = dice(bytes.length);
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + dice(1200))]);
  },
  repeat: (bytes, dice) => {
    const at = dice(bytes.length);
    const piece = bytes.subarray(at, at + 1 + dice(1200));
    return Buffer.concat([bytes.subarray(0, at), piece, piece, bytes.subarray(at + piece.length)]);
  },
  move: (bytes, dice) => {
    const from = dice(bytes.length);
    const to = dice(bytes.length);
    const changed = Buffer.from(bytes);
    bytes.copy(changed, to, from, from + 1 + dice(700));
    return changed;
  },
  append: (bytes, dice) =>
    Buffer.concat([bytes, bytes.subarray(dice(bytes.length)), Buffer.alloc(dice(3) * 512)]),
};

/** In a tar: a field of a header made odd and its checksum right again, or whole blocks moved. */
const aimed: Readonly<Record<string, Change>> = {
  size: (tar, dice) =>
    changeHeader(tar, dice, (block) => block.write(oddFields[dice(oddFields.length)] ?? '', 124, 'latin1')),
  base256: (tar, dice) =>
    changeHeader(tar, dice, (block) => {
      for (let at = 124; at < 136; at += 1) block[at] = dice(4) === 0 ? dice(256) : 0;
      block[124] = 0x80 + dice(128);
    }),
  type: (tar, dice) =>
    changeHeader(tar, dice, (block) => block.write(typeFlags[dice(typeFlags.length)] ?? '0', 156, 'latin1')),
  name: (tar, dice) =>
    changeHeader(tar, dice, (block) =>
      block.fill(0, 0, 100).write(badNames[dice(badNames.length)] ?? '', 0, 'latin1'),
    ),
  magic: (tar, dice) => changeHeader(tar, dice, (block) => block.fill(dice(256), 257, 257 + dice(8))),
  prefix: (tar, dice) =>
    changeHeader(tar, dice, (block) => block.write(badNames[dice(badNames.length)] ?? '', 345, 'latin1')),
  anywhere: (tar, dice) => changeHeader(tar, dice, (block) => block.writeUInt8(dice(256), dice(500))),
  blocks: (tar, dice) => {
    const count = Math.floor(tar.length / 512);
    const [from, to, length] = [dice(count) * 512, dice(count) * 512, (1 + dice(6)) * 512];
    return Buffer.concat([tar.subarray(0, to), tar.subarray(from, from + length), tar.subarray(to)]);
  },
  drop: (tar, dice) => {
    const at = dice(Math.floor(tar.length / 512)) * 512;
    return Buffer.concat([tar.subarray(0, at), tar.subarray(at + (1 + dice(4)) * 512)]);
  },
};

function changeHeader(tar: Buffer, dice: Dice, change: (block: Buffer) => void): Buffer {
  const changed = Buffer.from(tar);
  const headers = headerOffsets(changed);
  const at = headers[dice(headers.length)] ?? 0;
  const block = changed.subarray(at, at + 512);
  change(block);
  block.write(`${tarChecksum(block).toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return changed;
}

function headerOffsets(tar: Buffer): readonly number[] {
  const found: number[] = [];
  for (let at = 0; at + 512 <= tar.length; at += 512) {
    if (tar.toString('latin1', at + 257, at + 262) === 'ustar') found.push(at);
  }
  return found;
}

/** In a zip: a number of the directory and of the local header changed alike, so that they still agree. */
function aimZip(zip: Buffer, dice: Dice): Buffer {
  const changed = Buffer.from(zip);
  const signature = Buffer.from(dice(2) === 0 ? 'PK\x01\x02' : 'PK\x03\x04', 'latin1');
  const found: number[] = [];
  for (let at = changed.indexOf(signature); at >= 0; at = changed.indexOf(signature, at + 1)) found.push(at);
  const at = found[dice(found.length)] ?? 0;
  const field = at + 4 + dice(42);
  if (field + 4 <= changed.length) changed.writeUInt32LE(oddWord(dice), field);
  return changed;
}

const oddWord = (dice: Dice): number =>
  [0, 1, 0xffffffff, 0x7fffffff, 0x80000000, dice(2 ** 32)][dice(6)] ?? 0;

/** An archive compressed once more, or two archives joined. */
function nest({ bytes, plain }: Sample, dice: Dice): Buffer {
  const ways: readonly (() => Buffer)[] = [
    () => gzipSync(bytes, { level: 1 }),
    () => zstdCompressSync(bytes),
    () => Buffer.concat([bytes, bytes]),
    () => Buffer.concat([gzipSync(plain, { level: 1 }), zstdCompressSync(plain)]),
    () => deflateRawSync(plain),
    () => bombs[dice(bombs.length)] ?? bytes,
  ];
  return ways[dice(ways.length)]?.() ?? bytes;
}

const zeros = Buffer.alloc(48 * 1024 * 1024);
const bombs: readonly Buffer[] = [
  gzipSync(zeros, { level: 1 }),
  zstdCompressSync(zeros),
  gzipSync(gzipSync(zeros, { level: 1 })),
  gzipSync(Buffer.concat([Buffer.from('x'), zeros]), { level: 1 }),
];

/** @param dice of this case alone @param maxFrames the reader's limit */
export function mutate(sample: Sample, dice: Dice, maxFrames: number): Mutant {
  const roll = dice(100);
  if (roll >= 90 && (sample.kind === 'zip' || sample.kind === 'tar.zst')) {
    return makeArchive(sample, dice, maxFrames);
  }
  if (roll < 1) return { bytes: nest(sample, dice), how: 'nested', isChecked: false, plain: undefined };
  if (sample.kind === 'zip' && roll < 40) {
    return { bytes: aimZip(sample.bytes, dice), how: 'aimed', isChecked: true, plain: undefined };
  }
  if (sample.kind !== 'zip' && roll < 60) {
    const [how, change] = pick(aimed, dice);
    let plain = change(sample.plain, dice);
    if (dice(4) === 0) plain = pick(blind, dice)[1](plain, dice);
    return { bytes: compressAs(sample.kind, plain), how: `aimed ${how}`, isChecked: false, plain };
  }
  const [how, change] = pick(blind, dice);
  const bytes = change(sample.bytes, dice);
  const isChecked = sample.kind === 'zip' || sample.kind === 'tar.gz';
  return { bytes, how, isChecked, plain: sample.kind === 'tar' ? bytes : undefined };
}

/** Some of the bytes changed, cut, moved or repeated. @param bytes at least one */
export const changeBytes = (bytes: Buffer, dice: Dice): Buffer => pick(blind, dice)[1](bytes, dice);

function pick<T>(table: Readonly<Record<string, T>>, dice: Dice): readonly [string, T] {
  const rows = Object.entries(table);
  const row = rows[dice(rows.length)];
  if (row === undefined) throw new Error('an empty table');
  return row;
}

function compressAs(kind: Sample['kind'], tar: Buffer): Buffer {
  if (kind === 'tar.gz') return gzipSync(tar, { level: 1 });
  return kind === 'tar.zst' ? zstdCompressSync(tar) : tar;
}
