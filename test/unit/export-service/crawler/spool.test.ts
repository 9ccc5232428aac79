// Bodies on disk: what comes back is what was put, or an error.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSpool } from '../../../../src/export-service/crawler/spool.ts';

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'spool-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('the same bytes put twice at once are one file, and come back', async (t) => {
  const folder = join(folderFor(t), 'created', 'when-needed');
  const spool = createSpool(folder);
  const bodies = await Promise.all([spool.put(Buffer.from('x')), spool.put(Buffer.from('x'))]);
  assert.deepEqual(bodies[0], bodies[1]);
  assert.equal(readdirSync(folder).length, 1);
  assert.equal(Buffer.from(await spool.read(bodies[0])).toString(), 'x');
});

test('bytes that changed on the disk, or are gone, are not given back', async (t) => {
  const folder = folderFor(t);
  const spool = createSpool(folder);
  const body = await spool.put(Buffer.from('x'));
  writeFileSync(join(folder, body.sha256), 'y');
  await assert.rejects(spool.read(body), { code: 'SpoolFailed', message: /unchanged: check/ });
  rmSync(join(folder, body.sha256));
  await assert.rejects(spool.read(body), { code: 'SpoolFailed', message: /\(ENOENT\)/ });
});

test('a directory that cannot be made fails the put, with the system’s code', async (t) => {
  const file = join(folderFor(t), 'file');
  writeFileSync(file, '');
  await assert.rejects(createSpool(join(file, 'below')).put(Buffer.from('x')), {
    code: 'SpoolFailed',
    message: /\(ENOTDIR\)/,
  });
});
