// Archives packed again from a sample's files, with one property that readers of the format judge differently. The
// right verdict is known beforehand: exactly the files, or a refusal.

import { crc32, deflateRawSync, zstdCompressSync } from 'node:zlib';
import { type ZipEntry, zip } from '../support/zip-builder.ts';
import type { Sample } from './corpus.ts';
import type { Dice, Mutant } from './mutation.ts';

type Contents = Sample['contents'];
interface Made {
  readonly bytes: Buffer;
  /** `undefined`: it must be rejected. */
  readonly wanted: Contents | undefined;
}

/** @param maxFrames as the reader's limit is */
export function makeArchive(sample: Sample, dice: Dice, maxFrames: number): Mutant {
  const ways = Object.entries(sample.kind === 'zip' ? zipWays : zstdWays(maxFrames));
  const [how, make] = ways[dice(ways.length)] ?? [
    '',
    () => ({ bytes: sample.bytes, wanted: sample.contents }),
  ];
  const { bytes, wanted } = make(sample, dice);
  return { bytes, how: `made ${how}`, isChecked: false, plain: undefined, wanted: wanted ?? 'refusal' };
}

type Way = (sample: Sample, dice: Dice) => Made;

const descriptorForms = [12, 16, 20, 24] as const;

function descriptorOf(content: Buffer, compressedSize: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const isSigned = length % 8 === 0;
  if (isSigned) bytes.writeUInt32LE(0x08074b50, 0);
  const at = isSigned ? 4 : 0;
  bytes.writeUInt32LE(crc32(content), at);
  const isLong = length >= 20;
  if (isLong) {
    bytes.writeBigUInt64LE(BigInt(compressedSize), at + 4);
    bytes.writeBigUInt64LE(BigInt(content.length), at + 12);
  } else {
    bytes.writeUInt32LE(compressedSize, at + 4);
    bytes.writeUInt32LE(content.length, at + 8);
  }
  return bytes;
}

function entriesOf({ contents }: Sample, dice: Dice): ZipEntry[] {
  return Object.entries(contents).map(([name, text]) => {
    const content = Buffer.from(text, 'latin1');
    const method = dice(3) === 0 ? 0 : 8;
    if (dice(3) > 0) return { name, content, method };
    const packed = method === 8 ? deflateRawSync(content) : content;
    const after = descriptorOf(content, packed.length, descriptorForms[dice(4)] ?? 16);
    return { name, content, method, flags: 0x0808, local: { crc: 0, size: 0, compressedSize: 0 }, after };
  });
}

/** One entry changed. */
function changeOne(sample: Sample, dice: Dice, change: (one: ZipEntry) => ZipEntry): Buffer {
  const entries = entriesOf(sample, dice);
  const chosen = dice(entries.length);
  return zip(entries.map((one, at) => (at === chosen ? change(one) : one)));
}

const afterOf = ({ after }: ZipEntry): Buffer => after ?? Buffer.alloc(0);

/** A whole local entry that no directory lists. */
function unlistedEntry(dice: Dice): Buffer {
  const bytes = zip([{ name: 'hidden.html', content: 'x'.repeat(dice(90)) }]);
  return bytes.subarray(0, bytes.readUInt32LE(bytes.length - 6));
}

const zipWays: Readonly<Record<string, Way>> = {
  plain: (sample, dice) => ({ bytes: zip(entriesOf(sample, dice)), wanted: sample.contents }),
  'unlisted entry': (sample, dice) => ({
    bytes: changeOne(sample, dice, (one) => ({
      ...one,
      after: Buffer.concat([afterOf(one), unlistedEntry(dice)]),
    })),
    wanted: undefined,
  }),
  'gap of bytes': (sample, dice) => ({
    bytes: changeOne(sample, dice, (one) => ({
      ...one,
      after: Buffer.concat([afterOf(one), Buffer.alloc(1 + dice(40), dice(256))]),
    })),
    wanted: undefined,
  }),
  'descriptor that differs': (sample, dice) => ({
    bytes: changeOne(sample, dice, (one) => {
      const content = Buffer.from(one.content ?? '');
      const after = descriptorOf(content, deflateRawSync(content).length, descriptorForms[dice(4)] ?? 16);
      const at = dice(after.length);
      after.writeUInt8(after.readUInt8(at) ^ (1 + dice(255)), at);
      return { name: one.name, content, flags: 0x0808, after };
    }),
    wanted: undefined,
  }),
  'bytes behind deflate': (sample, dice) => ({
    bytes: changeOne(sample, dice, ({ name, content = '' }) => {
      const plain = Buffer.from(content);
      const tail = Buffer.alloc(1 + dice(60), dice(256));
      const fields = { method: 8, crc: crc32(plain), size: plain.length };
      const packed = Buffer.concat([deflateRawSync(plain), tail]);
      return { name, content: packed, method: 0, local: fields, central: fields };
    }),
    wanted: undefined,
  }),
  'byte order mark': (sample, dice) => {
    const added = { name: '\ufeffindex.html', content: 'other' };
    const bytes = zip([...entriesOf(sample, dice), added]);
    return { bytes, wanted: { ...sample.contents, [added.name]: added.content } };
  },
};

const skippable = Buffer.from('502a4d1800000000', 'hex');

function joined(frames: readonly Buffer[], maxFrames: number, sample: Sample): Made {
  return { bytes: Buffer.concat(frames), wanted: frames.length > maxFrames ? undefined : sample.contents };
}

function piecesOf(bytes: Buffer, count: number): readonly Buffer[] {
  const length = Math.ceil(bytes.length / count);
  return Array.from({ length: Math.ceil(bytes.length / length) }, (_, at) =>
    bytes.subarray(at * length, (at + 1) * length),
  );
}

function zstdWays(maxFrames: number): Readonly<Record<string, Way>> {
  return {
    'many frames': (sample, dice) => {
      const pieces = piecesOf(sample.plain, 1 + dice(maxFrames * 2));
      return joined(
        pieces.map((piece) => zstdCompressSync(piece)),
        maxFrames,
        sample,
      );
    },
    'many skippable frames': (sample, dice) => {
      const empty = Array.from({ length: dice(maxFrames * 3) }, () => skippable);
      return joined([...empty, zstdCompressSync(sample.plain)], maxFrames, sample);
    },
    'large window': (sample, dice) => {
      const windowLog = 10 + dice(22);
      const bytes = rawFrame(sample.plain, windowLog);
      return { bytes, wanted: windowLog > 23 ? undefined : sample.contents };
    },
  };
}

/** A frame of blocks that are not compressed, as large as the smallest window lets them be. */
function rawFrame(content: Buffer, windowLog: number): Buffer {
  const blocks = piecesOf(content, Math.ceil(content.length / 1024));
  const parts = blocks.map((block, at) => {
    const head = Buffer.alloc(3);
    head.writeUIntLE((block.length << 3) | (at === blocks.length - 1 ? 1 : 0), 0, 3);
    return Buffer.concat([head, block]);
  });
  return Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, (windowLog - 10) << 3]), ...parts]);
}
