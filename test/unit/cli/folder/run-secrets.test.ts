// Where a run's API key and the credentials of its git targets come from.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { readManifest } from '#cli/folder/manifest.ts';
import { holdSecrets, keySourceOf, type SecretFile } from '#cli/folder/run-secrets.ts';

const text = `apiVersion: staticexport.dev/v1alpha1
kind: StaticExport
metadata: { name: docs }
spec:
  domain: docs.example.com
  api: { keySecretRef: { name: export-api, key: token } }
`;
const manifest = readManifest(text);
const withGit = readManifest(`${text}  targets:
    - { name: fleet, type: Git, git: { url: "https://git.example.com/a.git", path: a.yaml, secretRef: { name: fleet } } }
`);

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'run-secrets-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'key'), 'svc_one\n');
  writeFileSync(join(folder, 'token'), 'glpat-one\n');
  return folder;
}

/** What is held, as `<Secret>/<key>: <value>`. */
async function heldOf(of: typeof manifest, files: readonly SecretFile[]): Promise<readonly string[]> {
  const held: string[] = [];
  await holdSecrets(of, files, {
    holdSecret: ({ name }, data) =>
      void held.push(...Object.entries(data).map(([key, bytes]) => `${name}/${key}: ${String(bytes)}`)),
  });
  return held;
}

test('a file becomes the Secret that the manifest names, under the key that it names', async (t) => {
  const path = join(folderFor(t), 'key');
  assert.deepEqual(await heldOf(manifest, [{ name: 'export-api', path }]), ['export-api/token: svc_one']);
});

test('for a git target a file is the token, and a folder has a file for each key', async (t) => {
  const folder = folderFor(t);
  const key = { name: 'export-api', path: join(folder, 'key') };
  const token = { name: 'fleet', path: join(folder, 'token') };
  assert.deepEqual(await heldOf(withGit, [key, token]), [
    'export-api/token: svc_one',
    'fleet/token: glpat-one',
  ]);
  const mounted = join(folder, 'mounted');
  mkdirSync(join(mounted, '..data'), { recursive: true });
  const certificate = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n';
  for (const [name, value] of Object.entries({
    username: 'bot\n',
    password: 'two',
    'ca.crt': certificate,
    other: 'x',
  }))
    writeFileSync(join(mounted, name), value);
  assert.deepEqual(await heldOf(withGit, [{ name: 'fleet', path: mounted }]), [
    'fleet/username: bot',
    'fleet/password: two',
    `fleet/ca.crt: ${certificate}`,
  ]);
});

test('a Secret that the manifest does not name, and a file that cannot be read, are refused', async (t) => {
  await assert.rejects(heldOf(manifest, [{ name: 'exportapi', path: join(folderFor(t), 'key') }]), {
    code: 'SecretUnknown',
    outcome: 'usage',
    message: '--secret exportapi is not used: the manifest names Secret export-api',
  });
  await assert.rejects(heldOf(manifest, [{ name: 'export-api', path: '/none' }]), {
    code: 'KeyUnreadable',
    outcome: 'key',
  });
  await assert.rejects(heldOf(withGit, [{ name: 'fleet', path: '/dev/zero' }]), {
    code: 'SecretUnreadable',
    outcome: 'usage',
  });
});

test('a git target without credentials is refused before anything starts', async (t) => {
  await assert.rejects(heldOf(withGit, []), {
    code: 'CredentialsMissing',
    outcome: 'usage',
    message: 'git target fleet has no Secret fleet; put it into the manifest, or add --secret fleet=PATH',
  });
  const empty = join(folderFor(t), 'empty');
  mkdirSync(empty);
  await assert.rejects(heldOf(withGit, [{ name: 'fleet', path: empty }]), {
    code: 'CredentialsMissing',
    message: /write token, or username and password$/,
  });
});

test('messages know whether the key is in a file', () => {
  assert.equal(keySourceOf(manifest, []), 'the Secret of the manifest');
  const file = { name: 'export-api', path: 'key' };
  assert.equal(keySourceOf(manifest, [file]), 'the file of --secret export-api');
});
