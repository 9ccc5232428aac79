// Archives that this program writes: the same files give the same bytes, and every reader here accepts them.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ArchivedFile } from '#bundle/archive/archive-writer.ts';
import { requireNewArchive, writeArchive } from '#cli/bundle/archive-file.ts';
import { isArchiveName } from '#cli/bundle/archive-names.ts';
import { runInProcess } from '../../../support/cli-in-process.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const signal = new AbortController().signal;
const placement = { name: 'ARCHIVE', owner: 'test', mayReplace: async () => true };

const fileOf = (path: string, content = path): ArchivedFile => ({
  path,
  size: Buffer.byteLength(content),
  read: () => [Buffer.from(content)],
});
const files = [
  fileOf('b.html'),
  fileOf('a.html'),
  fileOf(`${'long/'.repeat(60)}c.html`),
  fileOf('ä.html'),
  fileOf('empty', ''),
];

for (const suffix of ['tar', 'tar.gz', 'tgz', 'tar.zst']) {
  test(`a .${suffix} is the same bytes for the same files in any order`, async (t) => {
    const folder = temporaryFolder(t);
    const [one, other] = [join(folder, `one.${suffix}`), join(folder, `other.${suffix}`)];
    await writeArchive(files, one, placement, signal);
    await writeArchive(files.toReversed(), other, placement, signal);
    assert.ok(readFileSync(one).equals(readFileSync(other)));
    assert.deepEqual(readdirSync(folder).sort(), [`one.${suffix}`, `other.${suffix}`]);
  });
}

test('an archive in a missing folder is refused before the work, by the name of its argument', async (t) => {
  const to = join(temporaryFolder(t), 'none', 'a.tar');
  await assert.rejects(requireNewArchive(to, true, 'ARCHIVE'), {
    ...{ code: 'DestinationMissing', outcome: 'usage' },
    message: `the folder around ARCHIVE ${to} does not exist; make it first`,
  });
  const { code, stdout } = await runInProcess(['bundle', 'pack', 'none', to, '-o', 'json']);
  assert.deepEqual([code, JSON.parse(stdout).code], [2, 'DestinationMissing']);
});

test('a file that cannot be read leaves no archive, and the earlier one stays', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'site.tar.gz');
  await writeArchive(files, path, placement, signal);
  const before = readFileSync(path);
  const broken: ArchivedFile = {
    path: 'x',
    size: 5,
    read: async function* () {
      yield Buffer.from('ab');
      throw Object.assign(new Error('said'), { code: 'EIO' });
    },
  };
  await assert.rejects(writeArchive([...files, broken], path, placement, signal), {
    code: 'DestinationNotWritten',
    message: /EIO/,
  });
  assert.ok(readFileSync(path).equals(before));
  assert.deepEqual(readdirSync(folder), ['site.tar.gz']);
});

test('an archive is known by its name', () => {
  assert.deepEqual(['a.tar', 'a.tar.gz', 'a.tgz', 'a.tar.zst', 'a.zip', 'a', 'tar'].map(isArchiveName), [
    true,
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
