// The key of redaction: made once, the same for all runs, and never in a file that is not whole.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readRedactionKey } from '#conversations/commands/redaction-key.ts';
import { systemRandom } from '#platform/runtime/random.ts';

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'redaction-key-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('runs that start at once get one key, which only its owner may read', async (t) => {
  const folder = join(newFolder(t), 'home');
  const own = join(folder, 'redaction.key');
  const keys = await Promise.all(
    Array.from({ length: 20 }, () => readRedactionKey(undefined, own, systemRandom)),
  );
  assert.equal(new Set(keys).size, 1);
  assert.match(keys[0] ?? '', /^[0-9a-f]{64}$/);
  assert.equal(await readRedactionKey(undefined, own, systemRandom), keys[0]);
  assert.equal(statSync(own).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['redaction.key']);
});

test('a run that ends while it makes the key leaves no file with a part of it', async (t) => {
  const folder = newFolder(t);
  const own = join(folder, 'redaction.key');
  const ending = {
    ...systemRandom,
    bytes: (): Uint8Array => {
      throw new Error('ended');
    },
  };
  await assert.rejects(readRedactionKey(undefined, own, ending), { code: 'RedactionKeyUnreadable' });
  assert.deepEqual(readdirSync(folder), []);
  assert.equal((await readRedactionKey(undefined, own, systemRandom)).length, 64);
});

test('a key of the user that is too short is refused with its path', async (t) => {
  const named = join(newFolder(t), 'key');
  writeFileSync(named, 'short\n');
  await assert.rejects(readRedactionKey(named, 'unused', systemRandom), {
    code: 'RedactionKeyInvalid',
    message: new RegExp(`--redact-key-file ${named} must have at least 16`),
  });
});
