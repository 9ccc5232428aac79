// The two single files of an export: the values file, whose other bytes stay, and `bundle.json`, for its owner alone.

import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { admitLinkFile, admitValues, writeLinkFile, writeValues } from '#cli/publish/values-file.ts';
import { Link } from '#platform/wire/link.ts';

const fields = {
  version: 'v',
  digest: undefined,
  jobId: 'j',
  pages: 1,
  sizeBytes: 1,
  ref: undefined,
};
const bundleUrl = Link.parse('https://storage.example.com/x?signature=y') ?? assert.fail();
const bundle: PublishedBundle = { ...fields, link: { url: bundleUrl, issuedAt: 0, expiresAt: 1000 } };

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'values-file-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test('the values file keeps its comments, order and mode, and gets no link', async (t) => {
  const path = join(folderFor(t), 'values.yaml');
  writeFileSync(path, '# ours\nreplicas: 2\nstaticExport:\n  version: old # pinned\n', { mode: 0o640 });
  await writeValues(path, '20260105-120000-dddddddd');
  assert.equal(
    readFileSync(path, 'utf8'),
    '# ours\nreplicas: 2\nstaticExport:\n  enabled: true\n  version: "20260105-120000-dddddddd" # pinned\n',
  );
  assert.equal(statSync(path).mode & 0o777, 0o640);
  // No usual umask lets a new file have this mode.
  chmodSync(path, 0o666);
  await writeValues(path, '20260106-120000-dddddddd');
  assert.equal(statSync(path).mode & 0o777, 0o666);
  writeFileSync(path, 'a: b\na: c\n');
  await assert.rejects(writeValues(path, 'v'), { code: 'ValuesRefused', outcome: 'notWritten' });
  assert.equal(readFileSync(path, 'utf8'), 'a: b\na: c\n');
});

test('only its owner can read the link file', async (t) => {
  const path = join(folderFor(t), 'bundle.json');
  writeFileSync(path, '', { mode: 0o644 });
  await writeLinkFile(path, bundle);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).bundleUrl, bundleUrl.reveal());
  chmodSync(path, 0o644);
  await writeLinkFile(path, bundle);
  assert.equal(statSync(path).mode & 0o777, 0o600);
});

test('a link file replaces no file but one of a link', async (t) => {
  const path = join(folderFor(t), 'id_rsa');
  for (const theirs of ['PRIVATE', '{}', 'x'.repeat(300_000)]) {
    writeFileSync(path, theirs);
    await assert.rejects(admitLinkFile(path, {}), { code: 'DestinationExists', outcome: 'usage' });
    await assert.rejects(writeLinkFile(path, bundle), { code: 'DestinationExists' });
    assert.equal(readFileSync(path, 'utf8'), theirs);
  }
  writeFileSync(path, '{"bundleUrl": "https://storage.example.com/x"}');
  await admitLinkFile(path, {});
  await writeLinkFile(path, bundle);
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).version, 'v');
});

test('a link file is none of the other files of the command, however they are named', async (t) => {
  const folder = folderFor(t);
  symlinkSync(folder, join(folder, 'alias'));
  writeFileSync(join(folder, 'key'), '');
  symlinkSync(join(folder, 'key'), join(folder, 'key-link'));
  for (const [path, other] of [
    ['new.json', 'alias/new.json'],
    ['alias/key', 'key'],
    ['key', 'key-link'],
    ['key-link', 'key'],
  ] as const) {
    const others = { '--values': undefined, '--key-file': join(folder, other) };
    await assert.rejects(admitLinkFile(join(folder, path), others), {
      code: 'DestinationRefused',
      message: /--key-file name the same file/,
    });
  }
  await admitLinkFile(join(folder, 'new.json'), { '--key-file': join(folder, 'key') });
});

test('before an export, a values file that cannot be edited is wrong usage, and nothing is written', async (t) => {
  const folder = folderFor(t);
  const path = join(folder, 'values.yaml');
  writeFileSync(path, 'a: b\na: c\n');
  await assert.rejects(admitValues(path), {
    code: 'ValuesRefused',
    outcome: 'usage',
    message: /^--values \S+ cannot/,
  });
  writeFileSync(path, 'a: b\n');
  await admitValues(path);
  assert.equal(readFileSync(path, 'utf8'), 'a: b\n');
  const missing = join(folder, 'none\u202e.yaml');
  const refusal = {
    code: 'ValuesMissing',
    message: `--values ${folder}/none\\u{202e}.yaml does not exist; create it, or correct the path`,
  };
  await assert.rejects(admitValues(missing), { ...refusal, outcome: 'usage' });
  await assert.rejects(writeValues(missing, 'v'), { ...refusal, outcome: 'notWritten' });
  mkdirSync(join(folder, 'folder.yaml'));
  await assert.rejects(admitValues(join(folder, 'folder.yaml')), { code: 'DestinationRefused' });
});

test('a symbolic link stays one: the file behind it is edited', async (t) => {
  const folder = folderFor(t);
  const [behind, path] = [join(folder, 'behind.yaml'), join(folder, 'values.yaml')];
  writeFileSync(behind, 'a: b\n');
  symlinkSync(behind, path);
  await writeValues(path, 'v1');
  assert.ok(lstatSync(path).isSymbolicLink());
  assert.match(readFileSync(behind, 'utf8'), /version: "v1"/);
});
