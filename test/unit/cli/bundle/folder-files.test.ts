// Which files of a folder are packed: links within it become copies; nothing outside it is ever read.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { filesOf } from '#cli/bundle/folder-files.ts';

/** @param links target by path */
function folderWith(
  t: TestContext,
  files: readonly string[],
  links: Readonly<Record<string, string>> = {},
): string {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'folder-files-')));
  t.after(() => rmSync(parent, { recursive: true, force: true }));
  writeFileSync(join(parent, 'outside.txt'), 'secret');
  mkdirSync(join(parent, 'site-drafts'));
  const folder = join(parent, 'site');
  for (const path of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), path);
  }
  for (const [path, target] of Object.entries(links)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(target, join(folder, path));
  }
  return folder;
}

async function contentsOf(folder: string, isLeftOut = (_path: string): boolean => false) {
  const files = await filesOf(folder, isLeftOut);
  const read = files.map(async (file) => {
    const content = Buffer.concat(await Array.fromAsync(file.read()));
    assert.equal(content.length, file.size);
    return [file.path, content.toString()] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

test('all files are taken, hidden ones and those of deeper folders too', async (t) => {
  const folder = folderWith(t, ['index.html', 'a/b/c.html', '.git/HEAD']);
  assert.deepEqual(await contentsOf(folder), {
    'index.html': 'index.html',
    'a/b/c.html': 'a/b/c.html',
    '.git/HEAD': '.git/HEAD',
  });
});

test('a link to a file or a folder of the same folder becomes a copy', async (t) => {
  const folder = folderWith(t, ['v2/index.html', 'v2/deep/x.html'], {
    latest: 'v2',
    'home.html': 'v2/index.html',
    'v2/deep/up.html': '../../home.html',
  });
  assert.deepEqual(await contentsOf(folder), {
    'v2/index.html': 'v2/index.html',
    'v2/deep/x.html': 'v2/deep/x.html',
    'v2/deep/up.html': 'v2/index.html',
    'home.html': 'v2/index.html',
    'latest/index.html': 'v2/index.html',
    'latest/deep/x.html': 'v2/deep/x.html',
    'latest/deep/up.html': 'v2/index.html',
  });
});

const refused: readonly (readonly [string, Readonly<Record<string, string>>, string, RegExp])[] = [
  [
    'a link to a file outside',
    { 'assets/logo.svg': '../../outside.txt' },
    'LinkLeavesFolder',
    /"assets\/logo\.svg"/,
  ],
  ['a link to an absolute path outside', { passwd: '/etc/passwd' }, 'LinkLeavesFolder', /"passwd"/],
  ['a link to the folder around', { up: '..' }, 'LinkLeavesFolder', /"up"/],
  [
    'a link to a folder whose name begins the same',
    { drafts: '../site-drafts' },
    'LinkLeavesFolder',
    /"drafts"/,
  ],
  [
    'a link that leaves through another link',
    { one: 'two', two: '../outside.txt' },
    'LinkLeavesFolder',
    /"(one|two)"/,
  ],
  ['a link to its own folder', { 'a/again': '.' }, 'LinkLoop', /"a\/again"/],
  ['a link to the whole folder', { 'a/all': '..' }, 'LinkLoop', /"a\/all"/],
  ['a link to nothing', { gone: 'nothing' }, 'SourceUnreadable', /"gone" cannot be read \(ENOENT\)/],
  ['two links to each other', { one: 'two', two: 'one' }, 'SourceUnreadable', /\(ELOOP\)/],
];
for (const [what, links, code, message] of refused) {
  test(`${what} is refused by its name`, async (t) => {
    const folder = folderWith(t, ['index.html'], links);
    await assert.rejects(contentsOf(folder), { code, outcome: 'usage', message });
  });
}

test('a pipe is refused by its name, and is not opened', async (t) => {
  const folder = folderWith(t, ['index.html']);
  execFileSync('mkfifo', [join(folder, 'pipe')]);
  await assert.rejects(contentsOf(folder), { code: 'SpecialFile', message: /"pipe"/ });
});

test('a folder that does not exist, and a file in place of one, are said to be unreadable', async (t) => {
  const folder = folderWith(t, ['index.html']);
  await assert.rejects(contentsOf(join(folder, 'nowhere')), {
    code: 'SourceUnreadable',
    message: /^SOURCE cannot be read \(ENOENT\)/,
  });
  await assert.rejects(contentsOf(join(folder, 'index.html')), {
    code: 'SourceUnreadable',
    message: /ENOTDIR/,
  });
});

test('a file that is left out by its path is also left out behind a link', async (t) => {
  const folder = folderWith(t, ['index.html', 'site.tar.gz'], { 'again.tar.gz': 'site.tar.gz' });
  const archive = join(folder, 'site.tar.gz');
  assert.deepEqual(Object.keys(await contentsOf(folder, (path) => path === archive)), ['index.html']);
});

test('a file that is removed before its turn is an error with its name', async (t) => {
  const folder = folderWith(t, ['index.html']);
  const [file] = await filesOf(folder, () => false);
  rmSync(join(folder, 'index.html'));
  await assert.rejects(Array.fromAsync(file?.read() ?? []), {
    code: 'SourceUnreadable',
    message: /"index\.html" cannot be read/,
  });
});

test('a name that is not printable is escaped in an error', async (t) => {
  const folder = folderWith(t, [], { 'a\u001b[2Jb\u202e': '/etc/passwd' });
  await assert.rejects(contentsOf(folder), { message: /"a\\u\{1b\}\[2Jb\\u\{202e\}"/ });
});
