// A watched file: an error at the first reading, tolerated later, and read again only when it has changed.

import assert from 'node:assert/strict';
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { watchFile } from '#export-service/watched-file.ts';
import { silentLogger } from '#platform/runtime/logger.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const folder = temporaryFolder();

test('content is parsed once, and again after an edit', () => {
  const path = join(folder, 'edited');
  writeFileSync(path, 'one');
  const parsed: string[] = [];
  const read = watchFile(path, 'file', (text) => `${text}${parsed.push(text)}`, silentLogger);
  assert.deepEqual([read(), read()], ['one1', 'one1']);
  writeFileSync(path, 'longer');
  assert.deepEqual([read(), read()], ['longer2', 'longer2']);
});

test('a file replaced through a symbolic link, as in a mounted Secret, is read again at the same size', () => {
  const path = join(folder, 'mounted');
  for (const version of ['aaa', 'bbb']) writeFileSync(join(folder, version), version);
  symlinkSync(join(folder, 'aaa'), path);
  const read = watchFile(path, 'file', (text) => text, silentLogger);
  assert.equal(read(), 'aaa');
  symlinkSync(join(folder, 'bbb'), `${path}.new`);
  renameSync(`${path}.new`, path);
  assert.equal(read(), 'bbb');
});

test('a removed or invalid file keeps its last valid content until it is valid again', () => {
  const path = join(folder, 'vanishing');
  writeFileSync(path, 'good');
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => warnings.push(message) };
  const parse = (text: string): string => {
    if (text.includes('bad')) throw new Error(text);
    return text;
  };
  const read = watchFile(path, 'file', parse, logger);
  writeFileSync(path, 'bad content');
  assert.equal(read(), 'good');
  assert.equal(read(), 'good');
  rmSync(path);
  assert.equal(read(), 'good');
  assert.equal(warnings.length, 2);
  writeFileSync(path, 'better');
  assert.equal(read(), 'better');
});

test("a missing or invalid file at the first reading is an error with the system's code", () => {
  assert.throws(
    () => watchFile(join(folder, 'absent'), 'keys file', String, silentLogger),
    (error) =>
      error instanceof PublishableError && error.code === 'ENOENT' && /keys file/.test(error.message),
  );
});
