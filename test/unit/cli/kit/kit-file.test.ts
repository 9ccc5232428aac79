// Parts of a kit: found, ordered, read as one run of bytes, written and replaced.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { openKit, partName } from '#cli/kit/kit-file.ts';
import { writeKit } from '#cli/kit/kit-output.ts';
import { frameKit } from '#mirror/kit/kit-frame.ts';
import type { NewKit } from '#mirror/kit/kit-writer.ts';
import * as fc from '../../../support/properties.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const never = new AbortController().signal;

const bytes = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 7) % 251));
const kit: NewKit = {
  frame: { ...frameKit(0, 0, []), size: bytes.length },
  bytes: async function* () {
    for (let at = 0; at < bytes.length; at += 999) yield bytes.subarray(at, at + 999);
  },
};
const write = (path: string, partSize: number | undefined, replace = false, check = async () => {}) =>
  writeKit(kit, { path, partSize, replace }, () => {}, check, never);

test('parts of any size give the bytes of the whole', async (t) => {
  const path = join(temporaryFolder(t), 'a.sxkit');
  await fc.assertAsync(
    fc.asyncProperty(
      fc.integer({ min: 100, max: 6000 }),
      fc.nat(4999),
      fc.nat(4999),
      async (partSize, one, other) => {
        const paths = await write(path, partSize, true);
        assert.equal(paths.length, Math.ceil(5000 / partSize));
        const [from, to] = [Math.min(one, other), Math.max(one, other)];
        const { source, close } = await openKit([path]);
        assert.equal(source.size, 5000);
        assert.deepEqual(await source.read(from, to - from), bytes.subarray(from, to));
        await close();
      },
    ),
    { numRuns: 20 },
  );
});

test('the first part finds the others; all of them are taken in any order', async (t) => {
  const path = join(temporaryFolder(t), 'a.sxkit');
  const paths = await write(path, 2000);
  assert.deepEqual(
    paths,
    [1, 2, 3].map((number) => partName(path, number)),
  );
  for (const given of [[path], paths.slice(0, 1), paths, [...paths].reverse()]) {
    const opened = await openKit(given);
    assert.deepEqual(opened.paths, paths);
    await opened.close();
  }
});

const incomplete: readonly (readonly number[])[] = [[2], [1, 3], [2, 3], [1, 1], [1, 2, 2]];
for (const numbers of incomplete) {
  test(`parts ${numbers.join(' and ')} alone are refused`, async (t) => {
    const path = join(temporaryFolder(t), 'a.sxkit');
    await write(path, 2000);
    const given = numbers.map((number) => partName(path, number));
    await assert.rejects(openKit(given), { code: 'KitPartsIncomplete' });
  });
}

test('parts of two kits are refused', async (t) => {
  const folder = temporaryFolder(t);
  const given = ['a.sxkit.001', 'b.sxkit.002'].map((name) => join(folder, name));
  for (const path of given) writeFileSync(path, 'x');
  await assert.rejects(openKit(given), { code: 'KitPartsIncomplete' });
});

test('a folder and a path that leads nowhere are named', async (t) => {
  const folder = temporaryFolder(t);
  await assert.rejects(openKit([folder]), { code: 'KitUnreadable', message: /not a file/ });
  await assert.rejects(openKit([join(folder, 'a.sxkit')]), {
    code: 'KitUnreadable',
    message: /does not exist/,
  });
});

test('a kit that exists stays, unless it is to be replaced; then none of its parts stays', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'a.sxkit');
  await write(path, 1000);
  await assert.rejects(write(path, 2000), { code: 'DestinationExists' });
  await assert.rejects(write(path, undefined), { code: 'DestinationExists' });
  await write(path, 2000, true);
  assert.deepEqual(readdirSync(folder).sort(), ['a.sxkit.001', 'a.sxkit.002', 'a.sxkit.003']);
  await write(path, undefined, true);
  assert.deepEqual(readdirSync(folder), ['a.sxkit']);
  assert.deepEqual(readFileSync(path), bytes);
});

test('a kit that fails its check replaces nothing and leaves nothing', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'a.sxkit');
  writeFileSync(path, 'before');
  const failing = async (): Promise<void> => {
    throw new Error('differs');
  };
  await assert.rejects(write(path, 1000, true, failing), { code: 'DestinationNotWritten' });
  assert.deepEqual(readdirSync(folder), ['a.sxkit']);
  assert.equal(readFileSync(path, 'utf8'), 'before');
});

test('more parts than a kit can have are refused before they are written', async (t) => {
  const folder = temporaryFolder(t);
  await assert.rejects(write(join(folder, 'a.sxkit'), 5), { code: 'TooManyParts' });
  assert.deepEqual(readdirSync(folder), []);
});

test('a name without the ending of a kit is refused', async (t) => {
  const folder = temporaryFolder(t);
  for (const name of ['a.tar', '.sxkit', 'sxkit']) {
    await assert.rejects(write(join(folder, name), undefined), { code: 'UnknownKitName' }, name);
  }
});
