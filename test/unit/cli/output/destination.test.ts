// Files that are whole or as before: between writers of one file, after a kill, and beside files of the user's.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { isUnfinished, newPartialName, notWritten, oldName, writeWhole } from '#cli/output/destination.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

test('two writers of one file do not break each other', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'values.yaml');
  const texts = Array.from({ length: 8 }, (_, at) => String(at).repeat(100_000));
  await Promise.all(texts.map((text) => writeWhole(path, text, undefined)));
  assert.ok(texts.includes(readFileSync(path, 'utf8')));
  assert.deepEqual(readdirSync(folder), ['values.yaml']);
});

test("a file of the user's beside the one that is written stays", async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'values.yaml');
  const theirs = ['.values.yaml.partial', '.values.yaml.static-export-notes'];
  for (const name of theirs) writeFileSync(join(folder, name), 'mine');
  await writeWhole(path, 'a: b', undefined);
  assert.deepEqual(readdirSync(folder).sort(), [...theirs, 'values.yaml']);
  for (const name of theirs) assert.equal(readFileSync(join(folder, name), 'utf8'), 'mine');
});

for (const [code, message, next] of [
  [
    'EEXIST',
    /^--to turns could not be written \(EEXIST\): it is a file, and a folder is needed$/,
    'Name a folder.',
  ],
  [
    'EISDIR',
    /^--to turns could not be written \(EISDIR\): it is a folder, and a file is needed$/,
    'Name a file.',
  ],
  [
    'EACCES',
    /^--to turns could not be written \(EACCES\); check its path, permissions and free space$/,
    undefined,
  ],
] as const) {
  test(`${code} is reported with what to do`, () => {
    const error = notWritten('--to turns', Object.assign(new Error('no'), { code }));
    assert.match(error.message, message);
    assert.equal(error.next?.[0], next);
  });
}

test('a write that fails leaves nothing', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'values.yaml'));
  await assert.rejects(writeWhole(join(folder, 'values.yaml'), 'a: b', 0o600));
  assert.deepEqual(readdirSync(folder), ['values.yaml']);
});

test('what a killed writer left is removed by the next; what another writes now stays', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'site.tar');
  const ended = spawnSync(process.execPath, ['--eval', '']).pid;
  const nameOf = (run: string) => `.site.tar.static-export-${run}.00000000.partial`;
  const left = [nameOf(`${ended}-00000000`), nameOf(`${process.pid}-00000000`)];
  const kept = [
    nameOf(`${process.ppid}-00000000`),
    `.other.tar.static-export-${ended}-00000000.00000000.partial`,
    basename(await newPartialName(path)),
  ];
  for (const name of [...left, ...kept]) writeFileSync(join(folder, name), 'x');
  const next = await newPartialName(path);
  assert.deepEqual(readdirSync(folder).sort(), kept.sort());
  assert.equal(dirname(next), folder);
  assert.ok(!kept.includes(basename(next)));
});

test('unfinished files are known by their names', async (t) => {
  const path = join(temporaryFolder(t), 'site');
  for (const one of [await newPartialName(path), oldName(path, '/state')]) {
    assert.ok(isUnfinished(basename(one)), one);
  }
  for (const name of ['.site.partial', '.site.old', 'site.static-export-00000000.old']) {
    assert.ok(!isUnfinished(name), name);
  }
});

test('a file that appeared meanwhile is not replaced, and nothing else is left', async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'report.zip');
  writeFileSync(path, 'of another');
  const placement = { name: '--report', owner: 'doctor', mayReplace: async () => false };
  await assert.rejects(writeWhole(path, 'new', 0o600, placement), { code: 'DestinationExists' });
  assert.deepEqual([readFileSync(path, 'utf8'), readdirSync(folder)], ['of another', ['report.zip']]);
});
