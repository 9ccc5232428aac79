// Positions come from the archive; one beyond all files is a damaged zip and nothing worse.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { noise } from '../../../support/noise.ts';
import { readBytes } from '../../../support/read-archive.ts';
import { zip } from '../../../support/zip-builder.ts';

/** A zip whose end record sends the reader on to a zip64 end record at `position`. */
function withZip64Locator(position: bigint): Buffer {
  const plain = zip([{ name: 'index.html', content: 'home' }]);
  const end = Buffer.from(plain.subarray(-22));
  end.writeUInt16LE(0xffff, 8);
  end.writeUInt16LE(0xffff, 10);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(position, 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([plain.subarray(0, -22), locator, end]);
}

for (const position of [0n, 1000n, 2n ** 53n, 8_646_911_284_551_360_000n, 2n ** 64n - 1n]) {
  test(`a zip64 end record at ${position} is refused`, async () => {
    await assert.rejects(
      readBytes(withZip64Locator(position)),
      (error) => error instanceof PublishableError && error.kind === 'refused' && error.code === 'CorruptZip',
    );
  });
}

test('files of all sizes are read whole, wherever the windows of the reader end', async () => {
  const windowBytes = 256 * 1024;
  const sizes = [
    0,
    1,
    windowBytes - 100,
    windowBytes - 1,
    windowBytes,
    windowBytes + 1,
    3,
    4 * windowBytes,
    5,
  ];
  const files = sizes.flatMap((size, at) => [
    { name: `stored-${at}`, content: noise(size), method: 0 },
    { name: `deflated-${at}`, content: noise(size), method: 8 },
  ]);
  const { contents } = await readBytes(zip([...files, { name: 'index.html', content: 'home' }]));
  for (const { name, content } of files) {
    assert.ok(Buffer.from(contents[name] ?? '', 'latin1').equals(content), name);
  }
});
