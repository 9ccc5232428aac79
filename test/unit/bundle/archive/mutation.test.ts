// Archives changed or cut at random. Where every byte is under a checksum (tar.gz, zip) the reader gives exactly
// the original files or refuses; where not (tar, tar.zst) it reads or refuses. Never a hang, a crash, a foreign error.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { oddAnswerCodes } from '#bundle/refusal.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import * as fc from '../../../support/properties.ts';
import { type ReadResult, readBytes } from '../../../support/read-archive.ts';
import { entry, header, pax, tar } from '../../../support/tar-builder.ts';
import { zip } from '../../../support/zip-builder.ts';

const contents = {
  'index.html': 'home',
  'guides/a.html': 'a'.repeat(1500),
  'guides/é.html': 'e',
  'assets/x.js': 'x;'.repeat(40),
};
const plainTar = tar(
  header({ name: 'guides/', type: '5' }),
  ...Object.entries(contents).map(([name, content]) =>
    Buffer.concat([pax({ path: name }), entry(name, content)]),
  ),
);
const plainZip = zip([
  { name: 'guides/', mode: 0o40755, method: 0 },
  ...Object.entries(contents).map(([name, content], at) => ({ name, content, method: at % 2 === 0 ? 8 : 0 })),
]);
const archives = {
  'tar.gz': gzipSync(plainTar),
  zip: plainZip,
  tar: plainTar,
  'tar.zst': zstdCompressSync(plainTar),
};

/** @returns what was read, or `undefined` where it was refused; fails on any other error */
async function readOrRefuse(bytes: Buffer, pieceBytes: number): Promise<ReadResult | undefined> {
  try {
    return await readBytes(bytes, { pieceBytes });
  } catch (error) {
    assert.ok(error instanceof PublishableError, String(error));
    // A first byte that is changed makes an archive something that is none: passing trouble, not a verdict.
    if (error.kind !== 'refused') assert.ok(oddAnswerCodes.includes(error.code), error.code);
    return undefined;
  }
}

const pieceSizes = fc.integer({ min: 1, max: 3000 });

for (const [kind, bytes] of Object.entries(archives)) {
  const isChecked = kind === 'tar.gz' || kind === 'zip';

  test(`${kind}: changed bytes give the original files or a refusal`, { timeout: 60_000 }, async () => {
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }));
    const changes = fc.array(change, { minLength: 1, maxLength: 3 });
    await fc.assertAsync(
      fc.asyncProperty(changes, pieceSizes, async (list, pieceBytes) => {
        const changed = Buffer.from(bytes);
        for (const [at, mask] of list) changed.writeUInt8(changed.readUInt8(at) ^ mask, at);
        const result = await readOrRefuse(changed, pieceBytes);
        if (isChecked && result !== undefined) assert.deepEqual(result.contents, contents);
      }),
      { numRuns: 250 },
    );
  });

  test(`${kind}: cut anywhere, it is refused`, { timeout: 60_000 }, async () => {
    await fc.assertAsync(
      fc.asyncProperty(fc.nat(bytes.length - 1), pieceSizes, async (length, pieceBytes) => {
        assert.equal(await readOrRefuse(bytes.subarray(0, length), pieceBytes), undefined);
      }),
      { numRuns: 150 },
    );
  });

  test(`${kind}: a piece repeated or taken out gives the original files or a refusal`, {
    timeout: 60_000,
  }, async () => {
    const span = fc.tuple(fc.nat(bytes.length), fc.nat(600), fc.boolean());
    await fc.assertAsync(
      fc.asyncProperty(span, async ([start, length, isRepeated]) => {
        const middle = bytes.subarray(start, start + length);
        const rest = bytes.subarray(start + length);
        const changed = Buffer.concat([
          bytes.subarray(0, start),
          ...(isRepeated ? [middle, middle] : []),
          rest,
        ]);
        const result = await readOrRefuse(changed, 1024);
        if (isChecked && result !== undefined) assert.deepEqual(result.contents, contents);
      }),
      { numRuns: 150 },
    );
  });
}

test('random bytes are refused, whatever archive they claim to be', { timeout: 60_000 }, async () => {
  const magics = ['', '1f8b0800', '28b52ffd', '504b0304', '504b0506'].map((hex) => Buffer.from(hex, 'hex'));
  await fc.assertAsync(
    fc.asyncProperty(fc.constantFrom(...magics), fc.uint8Array({ maxLength: 1500 }), async (magic, tail) => {
      assert.equal(await readOrRefuse(Buffer.concat([magic, tail]), 700), undefined);
    }),
    { numRuns: 250 },
  );
});

test('the same files give the same digest from every kind of archive', async () => {
  const results = await Promise.all(Object.values(archives).map((bytes) => readBytes(bytes)));
  for (const { index, contents: read } of results) {
    assert.deepEqual(read, contents);
    assert.equal(index.digest, results[0]?.index.digest);
    assert.equal(index.pages, 3);
  }
});
