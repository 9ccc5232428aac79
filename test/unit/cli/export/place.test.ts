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
import { nameBeside } from '../../../../src/cli/output/destination.ts';
import { Link } from '../../../../src/wire/link.ts';

const signal = new AbortController().signal;
const placement = { owner: '/state', mayReplace: true };

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
  assert.equal(await placeBundle(first, to, placement, signal), 2);
  assert.deepEqual(treeOf(to), ['index.html', 'old.html']);
  await placeBundle(await bundleOf(t, { 'index.html': 'two', 'a/b/c.html': 'c' }), to, placement, signal);
  assert.deepEqual(treeOf(to), ['a/b/c.html', 'index.html']);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'two');
  assert.deepEqual(readdirSync(folder), ['site']);
});

test('bytes that changed on the disk replace nothing', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  await placeBundle(await bundleOf(t, { 'index.html': 'one' }), to, placement, signal);
  const damaged = await bundleOf(t, { 'index.html': 'two' });
  const wrong: StoredBundle = {
    ...damaged,
    readInto: async (_file, into) => {
      into.fill('x');
    },
  };
  await assert.rejects(placeBundle(wrong, to, placement, signal), {
    code: 'WorkFilesChanged',
    outcome: 'notWritten',
  });
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'one');
  assert.deepEqual(readdirSync(folder), ['site']);
});

test('two files that need one name are an error that leaves the folder as it was', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  await placeBundle(await bundleOf(t, { 'index.html': 'one' }), to, placement, signal);
  const clash = await bundleOf(t, { a: 'file', 'a/b': 'below it' });
  await assert.rejects(placeBundle(clash, to, placement, signal), { outcome: 'notWritten' });
  assert.deepEqual(treeOf(to), ['index.html']);
});

test('a replacement that was killed between its two renames is put back by the next run', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  await placeBundle(await bundleOf(t, { 'index.html': 'one' }), to, placement, signal);
  renameSync(to, nameBeside(to, placement.owner, 'old'));
  mkdirSync(nameBeside(to, placement.owner, 'partial'));
  await admitDestination(to, placement, []);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'one');
  await placeBundle(await bundleOf(t, { 'index.html': 'two' }), to, placement, signal);
  assert.deepEqual(readdirSync(folder), ['site']);
});

test('what another program wrote is not replaced, unless told', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  mkdirSync(to);
  const others = { owner: '/other', mayReplace: false };
  await assert.rejects(admitDestination(to, others, []), { code: 'DestinationExists', outcome: 'usage' });
  await admitDestination(to, placement, []);
  await assert.rejects(admitDestination(join(folder, 'a/b'), others, []), { code: 'DestinationMissing' });
  await assert.rejects(admitDestination(join(folder, 'x.zip'), others, []), { code: 'UnknownArchiveName' });
});

test('what appears while an export runs is not replaced, and its neighbours are left alone', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  for (const name of ['site', '.site.old', '.site.partial']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'theirs'), 'x');
  }
  const bundle = await bundleOf(t, { 'index.html': 'one' });
  const others = { owner: '/other', mayReplace: false };
  await assert.rejects(placeBundle(bundle, to, others, signal), { code: 'DestinationExists' });
  await assert.rejects(placeBundle(bundle, `${to}.tar`, { ...others }, AbortSignal.abort()));
  await placeBundle(bundle, to, placement, signal);
  assert.deepEqual(treeOf(folder), ['.site.old/theirs', '.site.partial/theirs', 'site/index.html']);
});

test('a destination that holds the state folder or the current folder is refused', async (t) => {
  const folder = folderFor(t);
  const state = join(folder, 'public', 'state');
  mkdirSync(state, { recursive: true });
  for (const to of [join(folder, 'public'), state, folder, '/']) {
    await assert.rejects(admitDestination(to, placement, [state]), { code: 'DestinationRefused' });
  }
  await admitDestination(join(state, 'site'), placement, [state]);
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
