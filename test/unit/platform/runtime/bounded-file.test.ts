// A file is read up to a limit, whatever it claims to be.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readBounded } from '#platform/runtime/bounded-file.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

test('a file of the limit is read whole, and one byte more is refused', async (t) => {
  const path = join(temporaryFolder(t), 'file');
  for (const [text, read] of [
    ['', ''],
    ['äbc', 'äbc'],
    ['abcde', 'abcde'],
    ['abcdef', undefined],
  ] as const) {
    writeFileSync(path, text);
    assert.equal(await readBounded(path, 5), read);
  }
});

test('a device without an end is refused, and a file of unknown size is read', async () => {
  assert.equal(await readBounded('/dev/zero', 1000), undefined);
  assert.match((await readBounded('/proc/self/status', 64 * 1024)) ?? '', /^Name:/);
});

test('a pipe is read', async (t) => {
  const pipe = join(temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [read] = await Promise.all([readBounded(pipe, 100), writeFile(pipe, 'from a program')]);
  assert.equal(read, 'from a program');
});

test('the error of the system is kept', async (t) => {
  await assert.rejects(readBounded(join(temporaryFolder(t), 'nothing'), 1), { code: 'ENOENT' });
});
