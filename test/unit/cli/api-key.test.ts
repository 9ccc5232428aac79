// Where the admin API key comes from. Nothing ever repeats it.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readKey } from '#cli/api-key.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const none = { keyFile: undefined, keyStdin: false };
const context = (env: Record<string, string>, stdin = '') => ({ env, readStdin: async () => stdin });

test('a key comes from a file, from standard input, or from its variable', async (t) => {
  const folder = temporaryFolder(t);
  const keyFile = join(folder, 'key');
  writeFileSync(keyFile, 'svc_file\n');
  const env = { STATIC_EXPORT_API_KEY: 'svc_variable' };
  assert.equal(await readKey({ ...none, keyFile }, context(env)), 'svc_file');
  assert.equal(await readKey({ ...none, keyStdin: true }, context(env, ' svc_stdin \n')), 'svc_stdin');
  assert.equal(await readKey(none, context(env)), 'svc_variable');
});

test('a key that is missing, unreadable or not one line exits with 3 and names no key', async () => {
  const cases = [
    [none, context({}), 'KeyMissing'],
    [{ ...none, keyStdin: true }, context({ STATIC_EXPORT_API_KEY: 'svc_x' }), 'KeyMissing'],
    [{ ...none, keyFile: '/nothing/here' }, context({}), 'KeyUnreadable'],
    [{ ...none, keyFile: '/dev/zero' }, context({}), 'KeyInvalid'],
    [none, context({ STATIC_EXPORT_API_KEY: 'svc_a\nsvc_b' }), 'KeyInvalid'],
  ] as const;
  for (const [flags, from, code] of cases) {
    await assert.rejects(readKey(flags, from), (error: Error & { code?: string; outcome?: string }) => {
      assert.deepEqual([error.code, error.outcome], [code, 'key']);
      assert.doesNotMatch(error.message, /svc_/);
      return true;
    });
  }
});
