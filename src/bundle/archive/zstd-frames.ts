// Finds where the frames of a zstd stream end (RFC 8878 §3.1), without decompressing. Why: the platform's decoder
// silently drops what follows the first frame when both come in one chunk. Invariant: the pieces are the input, whole
// and in order; only the borders between them differ.

import type { BundleLimits } from '../limits.ts';
import { refusal } from '../refusal.ts';

export interface FramePiece {
  readonly bytes: Buffer;
  /** Bytes of a skippable frame carry no content. */
  readonly isSkippable: boolean;
  /** Whether the frame ends with this piece. */
  readonly endsFrame: boolean;
}

export interface FrameScanner {
  /** @throws {PublishableError} `DataAfterEnd` for bytes between frames that are no frame, `CorruptArchive`, `TooManyFrames` */
  feed(chunk: Buffer): readonly FramePiece[];
  /** True between frames: the stream may end here. */
  readonly isBetweenFrames: boolean;
}

/** What the next bytes are: `need` of them are collected and then read, or `skip` of them are passed over. */
type Step =
  | { readonly name: 'magic' | 'descriptor' | 'header' | 'block' | 'skippableSize'; readonly need: number }
  | { readonly name: 'content'; skip: number; readonly isLast: boolean };

const fieldSizes: readonly number[] = [0, 2, 4, 8];
const dictionarySizes: readonly number[] = [0, 1, 2, 4];

/** @param limits of how many frames, those that hold nothing included: each costs its reader a decoder */
export function createFrameScanner({ maxFrames }: Pick<BundleLimits, 'maxFrames'>): FrameScanner {
  let step: Step = { name: 'magic', need: 4 };
  let collected = Buffer.alloc(0);
  let isSkippable = false;
  let hasChecksum = false;
  let frames = 0;

  /** Reads a whole field and says what follows it. */
  const next = (field: Buffer): Step => {
    switch (step.name) {
      case 'magic': {
        const magic = field.readUInt32LE(0);
        isSkippable = (magic & 0xfffffff0) >>> 0 === 0x184d2a50;
        if (isSkippable) return { name: 'skippableSize', need: 4 };
        if (magic !== 0xfd2fb528) throw refusal(frames > 0 ? 'DataAfterEnd' : 'CorruptArchive');
        return { name: 'descriptor', need: 1 };
      }
      case 'descriptor': {
        const bits = field[0] ?? 0;
        hasChecksum = (bits & 4) !== 0;
        const isSingleSegment = (bits & 32) !== 0;
        const contentSize = bits >> 6 === 0 && isSingleSegment ? 1 : (fieldSizes[bits >> 6] ?? 0);
        const need = (isSingleSegment ? 0 : 1) + (dictionarySizes[bits & 3] ?? 0) + contentSize;
        return { name: 'header', need };
      }
      case 'block': {
        const bits = field.readUIntLE(0, 3);
        const kind = (bits >> 1) & 3;
        if (kind === 3) throw refusal('CorruptArchive');
        const isLast = (bits & 1) !== 0;
        const size = kind === 1 ? 1 : bits >> 3;
        return { name: 'content', skip: size + (isLast && hasChecksum ? 4 : 0), isLast };
      }
      case 'skippableSize':
        return { name: 'content', skip: field.readUInt32LE(0), isLast: true };
      default:
        return { name: 'block', need: 3 };
    }
  };

  return {
    get isBetweenFrames() {
      return step.name === 'magic' && collected.length === 0;
    },
    feed: (chunk) => {
      const pieces: FramePiece[] = [];
      let pieceStart = 0;
      let at = 0;
      while (at < chunk.length || isAtFrameEnd(step)) {
        if (isAtFrameEnd(step)) {
          pieces.push({ bytes: chunk.subarray(pieceStart, at), isSkippable, endsFrame: true });
          pieceStart = at;
          frames += 1;
          if (frames > maxFrames) throw refusal('TooManyFrames');
          step = { name: 'magic', need: 4 };
        } else if (step.name === 'content') {
          const count = Math.min(step.skip, chunk.length - at);
          step.skip -= count;
          at += count;
          if (step.skip === 0 && !step.isLast) step = { name: 'block', need: 3 };
        } else {
          const count = Math.min(step.need - collected.length, chunk.length - at);
          collected = Buffer.concat([collected, chunk.subarray(at, at + count)]);
          at += count;
          if (collected.length === step.need) {
            step = next(collected);
            collected = Buffer.alloc(0);
          }
        }
      }
      if (pieceStart < chunk.length) {
        pieces.push({ bytes: chunk.subarray(pieceStart), isSkippable, endsFrame: false });
      }
      return pieces;
    },
  };
}

function isAtFrameEnd(step: Step): boolean {
  return step.name === 'content' && step.isLast && step.skip === 0;
}
