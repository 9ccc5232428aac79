// Pieces of large files: right bytes, few at once, and memory that is used again only when it is free.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPieces } from '#server/content/pieces.ts';
import { storedBundle } from '../fixtures.ts';

const text = Array.from({ length: 4000 }, (_, at) => `${at} `).join('');
const stored = storedBundle({ 'first.txt': 'first', 'large.txt': text });
const [file = assert.fail()] = stored.index.files.filter(({ path }) => path === 'large.txt');

test('a piece holds the bytes that were asked for', async () => {
  const pieces = createPieces(1024);
  let read = '';
  for (let start = 0; start < file.size; start += 1024) {
    const endExclusive = Math.min(start + 1024, file.size);
    await pieces.read(stored, file, { start, endExclusive }, (piece, done) => {
      read += piece.toString();
      done();
    });
  }
  assert.equal(read, text);
});

test('memory that is still sent from is not read into', async () => {
  const pieces = createPieces(1024);
  const kept: Buffer[] = [];
  const range = { start: 0, endExclusive: 1024 };
  await pieces.read(stored, file, range, (piece) => kept.push(piece));
  await pieces.read(stored, file, { start: 1024, endExclusive: 2048 }, (piece, done) => {
    kept.push(piece);
    done();
  });
  await pieces.read(stored, file, { start: 2048, endExclusive: 3072 }, (piece) => kept.push(piece));
  assert.equal(kept[0]?.toString(), text.slice(0, 1024));
  assert.ok(kept[1] !== undefined && kept[1].buffer === kept[2]?.buffer, 'free memory is used again');
});

test('a range outside of the file, or longer than a piece, is refused', async () => {
  const pieces = createPieces(1024);
  const never = (): void => assert.fail('it was read');
  for (const [start, endExclusive] of [
    [-1, 5],
    [0, 1025],
    [file.size - 1, file.size + 1],
  ] as const) {
    await assert.rejects(pieces.read(stored, file, { start, endExclusive }, never), RangeError);
  }
});

test('hundreds at once are all read, few at a time', async () => {
  let underWay = 0;
  let most = 0;
  const slow = {
    ...stored,
    readInto: async (packed: { readonly offset: number; readonly size: number }, into: Buffer) => {
      underWay += 1;
      most = Math.max(most, underWay);
      await stored.readInto(packed, into);
      underWay -= 1;
    },
  };
  const pieces = createPieces(1024);
  let read = 0;
  await Promise.all(
    Array.from({ length: 300 }, () =>
      pieces.read(slow, file, { start: 0, endExclusive: 1024 }, (_piece, done) => {
        read += 1;
        done();
      }),
    ),
  );
  assert.equal(read, 300);
  assert.ok(most <= 16, `${most} at once`);
});
