// Folders that a user named are made or refused, without hanging.

import assert from 'node:assert/strict';
import { stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { makeFolder } from '#platform/runtime/folder.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const root = temporaryFolder();

test('a folder is made with its parents, and may exist already, also behind a symbolic link', async () => {
  const deep = join(root, 'a', 'b', 'c');
  await makeFolder(deep, 0o700);
  await makeFolder(deep);
  assert.equal((await stat(deep)).mode & 0o777, 0o700);
  await symlink(join(root, 'a'), join(root, 'link'));
  await makeFolder(join(root, 'link'));
  await makeFolder(join(root, 'link', 'd'));
  assert.ok((await stat(join(root, 'a', 'd'))).isDirectory());
  await Promise.all(Array.from({ length: 8 }, () => makeFolder(join(root, 'x', 'y', 'z'))));
});

test('a path that cannot be a folder is refused with the system’s code', async () => {
  await writeFile(join(root, 'file'), '');
  const rows = [
    [join(root, 'file'), 'EEXIST'],
    [join(root, 'file', 'below'), 'ENOTDIR'],
    ['/dev/null/below', 'ENOTDIR'],
    // Denied by name, with its parent there: Node's recursive mkdir never comes back from it.
    ['/proc/no-such', 'ENOENT'],
    ['/proc/no-such/below', 'ENOENT'],
  ] as const;
  for (const [path, code] of rows) await assert.rejects(makeFolder(path), { code }, path);
});
