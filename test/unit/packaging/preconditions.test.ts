// What a release needs is asked first, and each refusal says what to do.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  findReplaceable,
  ReleaseRefusal,
  readSignKey,
  requireTools,
} from '../../../packaging/release/preconditions.ts';
import { minisignKeys } from '../../support/minisign-keys.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('programs that are missing are named together, those of the image only where it is wanted', async () => {
  const place = { cwd: '/', env: { PATH: '/nowhere' } };
  await assert.rejects(requireTools(false, place), /not installed: helm\. Install them/);
  await assert.rejects(requireTools(true, place), /not installed: helm, buildah, dpkg\. Install them/);
});

test('a folder is replaced only where all of it is of a release', async (t) => {
  const folder = temporaryFolder(t);
  const out = join(folder, 'out');
  assert.deepEqual(await findReplaceable(out), [], 'a new folder is made');
  writeFileSync(join(out, 'checksums.txt'), '');
  assert.deepEqual(await findReplaceable(out), ['checksums.txt']);
  writeFileSync(join(out, 'notes.txt'), '');
  await assert.rejects(
    findReplaceable(out),
    /holds files that are not of a release: notes\.txt\. Name another/,
  );
  await assert.rejects(findReplaceable(join(out, 'notes.txt')), /is not a folder\. Name another with --out/);
});

test('a key that opens is read, and each other one is refused in a sentence', async (t) => {
  const folder = temporaryFolder(t);
  const { secretText } = await minisignKeys();
  const [key, broken, none] = ['key', 'broken', 'none'].map((name) => join(folder, name));
  writeFileSync(key ?? '', secretText);
  writeFileSync(broken ?? '', 'untrusted comment: x\nnot a key\n');
  mkdirSync(join(folder, 'folder'));
  assert.equal((await readSignKey({ key: key ?? '', passwordFile: undefined })).id.length, 16);
  const refused: readonly [string, string | undefined, RegExp][] = [
    [none ?? '', undefined, /^The file of --key cannot be read \(ENOENT\)\. Name another\.$/],
    [key ?? '', none, /^The file of --key-password-file cannot be read \(ENOENT\)/],
    [join(folder, 'folder'), undefined, /^The file of --key cannot be read \(EISDIR\)/],
    [broken ?? '', undefined, /^The key cannot be used: .*minisign.*\(--key, --key-password-file\)\.$/],
  ];
  for (const [file, passwordFile, expected] of refused) {
    await assert.rejects(readSignKey({ key: file, passwordFile }), (error: unknown) => {
      assert.ok(error instanceof ReleaseRefusal);
      assert.match(error.message, expected);
      return true;
    });
  }
});
