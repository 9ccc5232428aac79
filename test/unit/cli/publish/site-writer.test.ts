// A checked export as a folder or an archive: whole or as before, also after a crash of the machine.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import promises, { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type TestContext, test } from 'node:test';
import { siteReportPath } from '#bundle/export-documents.ts';
import { openPack, type StoredBundle } from '#bundle/store/stored-bundle.ts';
import { placeBundle } from '#cli/publish/site-writer.ts';

const signal = new AbortController().signal;
const placement = { name: '--to', owner: '/state', mayReplace: async () => true };

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

test('the report of an export is not written to a folder, and does not count as left out', async (t) => {
  const to = join(folderFor(t), 'site');
  const bundle = await bundleOf(t, { 'index.html': 'one', [siteReportPath]: '{}' });
  assert.equal(await placeBundle(bundle, to, placement, signal), 0);
  assert.deepEqual(treeOf(to), ['index.html']);
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

test('a folder whose replacement fails at its last step is put back', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  await placeBundle(await bundleOf(t, { 'index.html': 'one' }), to, placement, signal);
  const { rename } = promises;
  t.after(() => {
    promises.rename = rename;
    syncBuiltinESMExports();
  });
  promises.rename = async (from, into) => {
    if (String(from).endsWith('.partial')) throw Object.assign(new Error('said'), { code: 'EIO' });
    await rename(from, into);
  };
  syncBuiltinESMExports();
  const failed = placeBundle(await bundleOf(t, { 'index.html': 'two' }), to, placement, signal);
  await assert.rejects(failed, { code: 'DestinationNotWritten', message: /EIO/ });
  assert.deepEqual(readdirSync(folder), ['site']);
  assert.equal(readFileSync(join(to, 'index.html'), 'utf8'), 'one');
});

/** Renames fail or are counted until the test ends. */
function onRename(t: TestContext, before: (from: string, into: string) => void): void {
  const { rename } = promises;
  t.after(() => {
    promises.rename = rename;
    syncBuiltinESMExports();
  });
  promises.rename = async (from, into) => {
    before(String(from), String(into));
    await rename(from, into);
  };
  syncBuiltinESMExports();
}

const systemError = (code: string): Error => Object.assign(new Error('said'), { code });

for (const code of ['EBUSY', 'EXDEV', 'EPERM']) {
  test(`a folder that the system does not let go (${code}) is filled in place`, async (t) => {
    const folder = folderFor(t);
    const to = join(folder, 'site');
    await placeBundle(await bundleOf(t, { 'index.html': 'one', 'a/old.css': 'x' }), to, placement, signal);
    const { ino } = statSync(to);
    onRename(t, (from) => {
      if (from === to) throw systemError(code);
    });
    await placeBundle(await bundleOf(t, { 'index.html': 'two', 'b/c.js': 'c' }), to, placement, signal);
    assert.deepEqual([treeOf(to), statSync(to).ino], [['b/c.js', 'index.html'], ino]);
    assert.deepEqual([readdirSync(folder), readdirSync(to).sort()], [['site'], ['b', 'index.html']]);
  });
}

test('a symbolic link to a folder stays one: new files come first, pages after assets, old files go last', async (t) => {
  const folder = folderFor(t);
  const [to, volume] = [join(folder, 'current'), join(folder, 'volume')];
  mkdirSync(join(volume, 'lost+found'), { recursive: true });
  symlinkSync(volume, to);
  const first = { 'index.html': 'one', 'app.css': 'one', 'old.html': 'old', 'a/b.html': 'b', c: 'file' };
  await placeBundle(await bundleOf(t, first), to, placement, signal);
  const order: string[] = [];
  onRename(t, (_from, into) => {
    assert.ok(existsSync(join(volume, 'old.html')));
    order.push(relative(volume, into));
  });
  const next = {
    'index.html': 'two',
    'app.css': 'two',
    'new.html': 'n',
    'new.css': 'n',
    a: 'file',
    'c/d.html': 'd',
  };
  await placeBundle(await bundleOf(t, next), to, placement, signal);
  assert.deepEqual(order, ['new.css', 'a', 'new.html', 'c/d.html', 'app.css', 'index.html']);
  assert.deepEqual(treeOf(volume), Object.keys(next).sort());
  for (const [path, content] of Object.entries(next))
    assert.equal(readFileSync(join(volume, path), 'utf8'), content);
  assert.equal(readlinkSync(to), volume);
  assert.ok(existsSync(join(volume, 'lost+found')));
});

test('what lies in a folder that is filled leads no file out of it', async (t) => {
  const folder = folderFor(t);
  const [to, volume, theirs] = ['current', 'volume', 'theirs'].map((name) => join(folder, name));
  if (to === undefined || volume === undefined || theirs === undefined) return assert.fail();
  for (const one of [volume, theirs]) mkdirSync(one);
  symlinkSync(theirs, join(volume, 'a'));
  symlinkSync(join(theirs, 'index.html'), join(volume, 'index.html'));
  symlinkSync(volume, to);
  await placeBundle(await bundleOf(t, { 'index.html': 'one', 'a/b.html': 'b' }), to, placement, signal);
  assert.deepEqual([treeOf(volume), readdirSync(theirs)], [['a/b.html', 'index.html'], []]);
});

test('a fill that is killed anywhere leaves whole files, and the next run completes it', async (t) => {
  const files = (content: string) =>
    Object.fromEntries(['index.html', 'a.css', 'b/c.html', `${content}.js`].map((name) => [name, content]));
  const [one, two] = [await bundleOf(t, files('one')), await bundleOf(t, files('two'))];
  for (let kill = 0; kill < 4; kill += 1) {
    const folder = folderFor(t);
    const [to, volume] = [join(folder, 'current'), join(folder, 'volume')];
    mkdirSync(volume);
    symlinkSync(volume, to);
    await placeBundle(one, to, placement, signal);
    let renames = 0;
    const { rename } = promises;
    onRename(t, () => {
      renames += 1;
      if (renames > kill) throw systemError('EIO');
    });
    await assert.rejects(placeBundle(two, to, placement, signal), { code: 'DestinationNotWritten' });
    promises.rename = rename;
    syncBuiltinESMExports();
    for (const path of treeOf(volume)) assert.match(readFileSync(join(volume, path), 'utf8'), /^(one|two)$/);
    assert.ok(existsSync(join(volume, 'one.js')));
    await placeBundle(two, to, placement, signal);
    assert.deepEqual(treeOf(volume), ['a.css', 'b/c.html', 'index.html', 'two.js']);
  }
});

test('two files that need one name are an error that leaves the folder as it was', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  await placeBundle(await bundleOf(t, { 'index.html': 'one' }), to, placement, signal);
  const clash = await bundleOf(t, { a: 'file', 'a/b': 'below it' });
  await assert.rejects(placeBundle(clash, to, placement, signal), { outcome: 'notWritten' });
  assert.deepEqual(treeOf(to), ['index.html']);
});

test('what appears while an export runs is not replaced, and its neighbours are left alone', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  for (const name of ['site', '.site.old', '.site.partial']) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'theirs'), 'x');
  }
  const bundle = await bundleOf(t, { 'index.html': 'one' });
  const others = { name: '--to', owner: '/other', mayReplace: async () => false };
  await assert.rejects(placeBundle(bundle, to, others, signal), { code: 'DestinationExists' });
  await assert.rejects(placeBundle(bundle, `${to}.tar`, { ...others }, AbortSignal.abort()));
  await placeBundle(bundle, to, placement, signal);
  assert.deepEqual(treeOf(folder), ['.site.old/theirs', '.site.partial/theirs', 'site/index.html']);
});

test('every file and folder of a site is on the disk before its name appears', async (t) => {
  const folder = folderFor(t);
  const to = join(folder, 'site');
  const bundle = await bundleOf(t, { 'index.html': 'one', 'a/b/c.html': 'c' });
  const handle = await open(folder);
  const synced = new Map<string, boolean>();
  const { sync } = handle;
  t.mock.method(Object.getPrototypeOf(handle), 'sync', function (this: FileHandle) {
    const path = relative(folder, readlinkSync(`/proc/self/fd/${this.fd}`)) || '.';
    if (!path.startsWith('..')) synced.set(path.replace(/^\.site[^/]*/, ''), existsSync(to));
    return sync.call(this);
  });
  await placeBundle(bundle, to, placement, signal);
  await handle.close();
  const [last, ...before] = [...synced].reverse();
  assert.deepEqual(before.map(([name]) => name).sort(), ['', '/a', '/a/b', '/a/b/c.html', '/index.html']);
  assert.ok(before.every(([, isThere]) => !isThere));
  assert.deepEqual(last, ['.', true]);
});
