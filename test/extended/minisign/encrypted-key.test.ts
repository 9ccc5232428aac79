// A key that the real minisign has encrypted, with its own limits: each time it is opened takes a gigabyte of memory and
// seconds. A key with smaller limits is in test/integration/cli/kit.test.ts.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { runInProcess } from '../../support/cli-in-process.ts';
import { mustRun } from '../../support/command.ts';
import { tarOf } from '../../support/tar-builder.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { requireHere } from '../requirement.ts';

requireHere(spawnSync('minisign', ['-v']).error !== undefined && 'minisign is not installed');

test('an encrypted key of minisign signs with the file of its password', async (t) => {
  const folder = temporaryFolder(t);
  const file = (name: string): string => join(folder, name);
  const made = ['minisign', '-G', '-p', file('b.pub'), '-s', file('b.key')];
  await mustRun(made, { input: 'hunter2\nhunter2\n' });
  writeFileSync(file('password'), 'hunter2\n');
  writeFileSync(file('site.tar'), tarOf({ 'index.html': '<h1>home</h1>' }));
  const kit = async (...words: readonly string[]): Promise<void> => {
    const { code, stderr } = await runInProcess(['kit', ...words]);
    assert.equal(code, 0, stderr);
  };
  const key = ['--sign-key', file('b.key'), '--sign-password-file', file('password')];
  await kit('create', '--to', file('b.sxkit'), '--bundle', file('site.tar'), ...key);
  await kit('verify', file('b.sxkit'), '--key', file('b.pub'));
});
