// Where a checked export is put: a folder, an archive, a values file, `bundle.json`. Each is whole or as before.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openPack, type StoredBundle } from '../../../../src/bundle/store/stored-bundle.ts';
import {
  admitDestination,
  placeBundle,
  writeLinkFile,
  writeValues,
} from '../../../../src/cli/export/place.ts';
import { Link } from '../../../../src/wire/link.ts';

const signal = new AbortController().signal;

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'place-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An open pack with these files. */
async function bundleOf(t: TestContext, files: Readonly<Record<string, string>>): Promise<StoredBundle> {
  const pack = join(folderFor(t), 'pack');
  let offset = 0;
  const rows = Object.entries(files).map(([path, content]) => {
    const size = Buffer.byteLength(content);
    const row = { path, offset, size, sha256: createHash('sha256').update(content).digest('hex') };
    offset += size;
    return row;
  });
  writeFileSync(pack, Object.values(files).join(''));
  const index = { digest: 'd'.repeat(64), files: rows, pages: 1, sizeBytes: offset, notes: [] };
  const bundle = await openPack(pack, index, undefined);
  t.after(() => bundle.close());
  return bundle;
}

const treeOf = (folder: string): readonly string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(folder, name)).isFile())
    .sort();

test('a folder is replaced as a whole, and gets no file that a server must not show', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  const first = await bundleOf(t, {
    'index.html': 'one',
    'old.html': 'old',
    '.git/config': 'secret',
    _redirects: 'x',
  });
  assert.equal(await placeBundle(first, to, signal), 2);
  assert.deepEqual(treeOf(to), ['index.html', 'old.html']);
  await placeBundle(await bundleOf(t, { 'index.html': 'two', 'a/b/c.html': 'c' }), to, signal);
  assert.deepEqual(treeOf(to), ['a/b/c.html', 'index.html']);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'two');
  assert.deepEqual(readdirSync(folder), ['site']);
});

test('bytes that changed on the disk replace nothing', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  await placeBundle(await bundleOf(t, { 'index.html': 'one' }), to, signal);
  const damaged = await bundleOf(t, { 'index.html': 'two' });
  const wrong: StoredBundle = {
    ...damaged,
    readInto: async (_file, into) => {
      into.fill('x');
    },
  };
  await assert.rejects(placeBundle(wrong, to, signal), { code: 'WorkFilesChanged', outcome: 'notWritten' });
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'one');
  assert.deepEqual(readdirSync(folder), ['site']);
});

test('two files that need one name are an error that leaves the folder as it was', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  await placeBundle(await bundleOf(t, { 'index.html': 'one' }), to, signal);
  const clash = await bundleOf(t, { a: 'file', 'a/b': 'below it' });
  await assert.rejects(placeBundle(clash, to, signal), { outcome: 'notWritten' });
  assert.deepEqual(treeOf(to), ['index.html']);
});

test('a replacement that was killed between its two renames is put back by the next run', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  await placeBundle(await bundleOf(t, { 'index.html': 'one' }), to, signal);
  renameSync(to, join(folder, '.site.old'));
  mkdirSync(join(folder, '.site.partial'));
  await admitDestination(to, { isReplaced: false, written: [{ path: to, digest: 'd' }] });
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'one');
  await placeBundle(await bundleOf(t, { 'index.html': 'two' }), to, signal);
  assert.deepEqual(readdirSync(folder), ['site']);
});

test('what another program wrote is not replaced, unless told', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  mkdirSync(to);
  const admit = (isReplaced: boolean, path: string) =>
    admitDestination(to, { isReplaced, written: [{ path, digest: 'd' }] });
  await assert.rejects(admit(false, join(folder, 'other')), { code: 'DestinationExists', outcome: 'usage' });
  await admit(true, join(folder, 'other'));
  await admit(false, to);
  await assert.rejects(admitDestination(join(folder, 'a/b'), { isReplaced: false, written: [] }), {
    code: 'DestinationMissing',
  });
});

test('the values file keeps its comments, order and mode, and gets no link', async (t) => {
  const path = join(folderFor(t), 'values.yaml');
  writeFileSync(path, '# ours\nreplicas: 2\nstaticExport:\n  version: old # pinned\n', { mode: 0o640 });
  await writeValues(path, '20260105-120000-dddddddd');
  assert.equal(
    readFileSync(path, 'utf8'),
    '# ours\nreplicas: 2\nstaticExport:\n  enabled: true\n  version: "20260105-120000-dddddddd" # pinned\n',
  );
  assert.equal(statSync(path).mode & 0o777, 0o640);
  writeFileSync(path, 'a: b\na: c\n');
  await assert.rejects(writeValues(path, 'v'), { code: 'ValuesRefused', outcome: 'notWritten' });
  assert.equal(readFileSync(path, 'utf8'), 'a: b\na: c\n');
});

test('only its owner can read the link file', async (t) => {
  const path = join(folderFor(t), 'bundle.json');
  writeFileSync(path, '{}', { mode: 0o644 });
  const bundleUrl = Link.parse('https://storage.example.com/x?signature=y') ?? assert.fail();
  const fields = {
    version: 'v',
    digest: undefined,
    jobId: 'j',
    pages: 1,
    sizeBytes: 1,
    issuedAt: 0,
    expiresAt: 1000,
  };
  await writeLinkFile(path, { ...fields, bundleUrl });
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(JSON.parse(readFileSync(path, 'utf8')).bundleUrl, bundleUrl.reveal());
});
