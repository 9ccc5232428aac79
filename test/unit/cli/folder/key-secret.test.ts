// Where a run's API key comes from.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { holdSecrets, keySourceOf } from '../../../../src/cli/folder/key-secret.ts';
import { readManifest } from '../../../../src/cli/folder/manifest.ts';

const manifest = readManifest(`apiVersion: staticexport.dev/v1alpha1
kind: StaticExport
metadata: { name: docs }
spec:
  domain: docs.example.com
  api: { keySecretRef: { name: export-api, key: token } }
`);

function keyFileFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'key-secret-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'key'), 'svc_one\n');
  return join(folder, 'key');
}

test('a file becomes the Secret that the manifest names, under the key that it names', async (t) => {
  const held: [string, string][] = [];
  await holdSecrets(manifest, [{ name: 'export-api', path: keyFileFor(t) }], {
    holdSecret: ({ name }, data) =>
      void held.push(
        ...Object.entries(data).map(([key, bytes]): [string, string] => [`${name}/${key}`, String(bytes)]),
      ),
  });
  assert.deepEqual(held, [['export-api/token', 'svc_one']]);
});

test('a Secret that the manifest does not name, and a file that cannot be read, are refused', async (t) => {
  const cluster = { holdSecret: () => {} };
  await assert.rejects(holdSecrets(manifest, [{ name: 'exportapi', path: keyFileFor(t) }], cluster), {
    code: 'SecretUnknown',
    outcome: 'usage',
    message: '--secret exportapi is not used: spec.api.keySecretRef names Secret export-api',
  });
  await assert.rejects(holdSecrets(manifest, [{ name: 'export-api', path: '/none' }], cluster), {
    code: 'KeyUnreadable',
    outcome: 'key',
  });
});

test('messages know whether the key is in a file', () => {
  assert.deepEqual(keySourceOf(manifest, []), { name: 'export-api', isFile: false });
  assert.equal(keySourceOf(manifest, [{ name: 'export-api', path: 'key' }]).isFile, true);
});
