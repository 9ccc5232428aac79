// The link secret: made once, kept private, and never quietly replaced.

import assert from 'node:assert/strict';
import fs, { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, mock, test } from 'node:test';
import { LinkSecretError, loadLinkSecret } from '../../../src/export-service/link-secret.ts';
import { systemRandom } from '../../../src/runtime/random.ts';

const folder = mkdtempSync(join(tmpdir(), 'secret-'));
const path = join(folder, 'link-secret');
after(() => rmSync(folder, { recursive: true }));

test('the secret is made at the first start, owner-only, and the same ever after', () => {
  const first = loadLinkSecret(folder, systemRandom);
  assert.equal(first.byteLength, 32);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(Buffer.from(loadLinkSecret(folder, systemRandom)), Buffer.from(first));
});

test('a damaged secret stops the start and is left as it is', () => {
  for (const text of ['', 'short', `${'0'.repeat(64)}\nmore`]) {
    writeFileSync(path, text);
    assert.throws(
      () => loadLinkSecret(folder, systemRandom),
      (error) => error instanceof LinkSecretError && error.code === 'LinkSecretDamaged',
    );
    assert.equal(readFileSync(path, 'utf8'), text);
  }
});

test("a folder that cannot be written is an error with the system's code", () => {
  assert.throws(
    () => loadLinkSecret(join(folder, 'absent'), systemRandom),
    (error) => error instanceof LinkSecretError && error.code === 'ENOENT',
  );
});

test('a new secret is on the disk before its name is, and the name before it is used', () => {
  const own = mkdtempSync(join(tmpdir(), 'secret-sync-'));
  const steps: string[] = [];
  const { fsyncSync, renameSync } = fs;
  mock.method(fs, 'fsyncSync', (descriptor: number) => {
    steps.push(fs.fstatSync(descriptor).isDirectory() ? 'sync folder' : 'sync file');
    fsyncSync(descriptor);
  });
  mock.method(fs, 'renameSync', (from: string, to: string) => {
    steps.push('rename');
    renameSync(from, to);
  });
  syncBuiltinESMExports();
  try {
    loadLinkSecret(own, systemRandom);
  } finally {
    mock.restoreAll();
    syncBuiltinESMExports();
    rmSync(own, { recursive: true });
  }
  assert.deepEqual(steps, ['sync file', 'rename', 'sync folder']);
});
