// A program of ELF without its names and debug information: what is loaded stays, byte for byte.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { cutSections } from '../../../../packaging/base/elf-program.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

/** A program with two segments of 16 bytes, then what is not loaded. */
function smallProgram(): Buffer {
  const program = Buffer.alloc(400, 0x78);
  program.fill(0, 0, 64);
  program.writeUInt32BE(0x7f454c46, 0);
  program.writeUInt8(2, 4);
  program.writeUInt8(1, 5);
  program.writeBigUInt64LE(64n, 32);
  program.writeBigUInt64LE(300n, 40);
  program.writeUInt16LE(56, 54);
  program.writeUInt16LE(2, 56);
  program.writeUInt16LE(4, 60);
  program.writeUInt16LE(3, 62);
  for (const [entry, offset] of [200n, 180n].entries()) {
    program.fill(0, 64 + entry * 56, 120 + entry * 56);
    program.writeBigUInt64LE(offset, 64 + entry * 56 + 8);
    program.writeBigUInt64LE(16n, 64 + entry * 56 + 32);
  }
  return program;
}

test('everything up to the end of the last segment stays, and no table of sections is named', () => {
  const program = smallProgram();
  const cut = cutSections(program);
  assert.equal(cut.length, 216);
  const [tableAt, count, names] = [cut.readBigUInt64LE(40), cut.readUInt16LE(60), cut.readUInt16LE(62)];
  assert.deepEqual([tableAt, count, names], [0n, 0, 0]);
  cut.copy(program, 40, 40, 64);
  assert.deepEqual(cut, program.subarray(0, 216));
});

test('a program that is cut already stays as it is', () => {
  const once = cutSections(smallProgram());
  assert.deepEqual(cutSections(once), once);
});

const refused: readonly [string, Buffer, RegExp][] = [
  ['a script', Buffer.from(`#!/bin/sh\n${' '.repeat(100)}`), /not a 64-bit/],
  ['an empty file', Buffer.alloc(0), /not a 64-bit/],
  [
    'a 32-bit program',
    Buffer.concat([Buffer.from('7f454c460101', 'hex'), Buffer.alloc(100)]),
    /not a 64-bit/,
  ],
  ['a program that ends early', smallProgram().subarray(0, 210), /is cut off/],
];
for (const [name, bytes, expected] of refused) {
  test(`${name} is refused`, () => assert.throws(() => cutSections(bytes), expected));
}

test('this machine’s Node runs without them, and is smaller', { skip: process.platform !== 'linux' }, () => {
  const file = join(temporaryFolder(), 'node');
  const whole = readFileSync(process.execPath);
  const cut = cutSections(whole);
  assert.ok(cut.length < whole.length);
  writeFileSync(file, cut, { mode: 0o755 });
  const script =
    'console.log(process.version, new Intl.NumberFormat("de").format(1e6), crypto.createHash("sha256").update("a").digest("hex").length)';
  assert.equal(
    execFileSync(file, ['--eval', script], { encoding: 'utf8' }),
    `${process.version} 1.000.000 64\n`,
  );
});
