// What only the whole list of an archive's files shows: names that collide, the wrapping folder.

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { digestOf, sortFiles } from '#bundle/store/digest.ts';
import { readBytes } from '../../../support/read-archive.ts';
import { entry, header, tar, tarOf } from '../../../support/tar-builder.ts';
import { words } from '../../../support/words.ts';

test('two Unicode forms of a name are named both, and look different', async () => {
  const [composed, decomposed] = ['guides/\u00fcber.html', 'guides/u\u0308ber.html'];
  await assert.rejects(readBytes(tarOf({ 'index.html': 'home', [decomposed]: 'a', [composed]: 'b' })), {
    code: 'UnicodeTwins',
    message: /\("guides\/u\\u\{308\}ber\.html" and "guides\/\\u\{fc\}ber\.html"\)$/,
  });
  const deep = 'folder/'.repeat(8);
  await assert.rejects(readBytes(tarOf({ [`${deep}e\u0301`]: 'a', [`${deep}\u00e9`]: 'b' })), {
    message: /\("…older\/folder\/folder\/e\\u\{301\}" and "…older\/folder\/folder\/\\u\{e9\}"\)$/,
  });
});

test('a file that is named as a page and holds JSON is in the bundle, and is not a page', async () => {
  const data = '_mintlify/api/user/index.html';
  const site = { 'index.html': '<p>home', 'a/index.html': '<p>a', 'data.json': '{"a":1}' };
  const { index } = await readBytes(tarOf({ ...site, [data]: '{"user":null}', '404.html': '{}' }));
  assert.deepEqual(
    index.files.filter(({ isData }) => isData).map(({ path }) => path),
    [data],
  );
  assert.deepEqual([index.pages, index.files.length, index.digest], [2, 5, digestOf(index.files)]);
  const pages = await readBytes(tarOf({ ...site, [data]: '<p>user' }));
  assert.equal(pages.index.pages, 3);
  const linked = await readBytes(
    tar(entry('data.json', '{}'), header({ name: 'b.html', type: '1', linkName: 'data.json' })),
  );
  assert.deepEqual([linked.index.pages, linked.index.files[0]?.isData], [0, true]);
});

test('a home page that holds JSON is missing, and no page is named in its place', async () => {
  const { index } = await readBytes(
    tarOf({ 'index.html': '{"a":1}', 'api/index.html': '[]', 'b/c.html': '<p>' }),
  );
  assert.deepEqual(index.notes, [{ code: 'HomePageMissing', count: 1, example: '"b/c.html"' }]);
});

test('what file managers put beside the wrapping folder changes neither paths nor digest', async () => {
  const site = { 'site/index.html': 'home', 'site/guides/a.html': 'a' };
  const { digest } = (await readBytes(tarOf(site))).index;
  for (const name of words(`
    .DS_Store __MACOSX/._site __MACOSX/x.html DESKTOP.INI Thumbs.db @eaDir/a .git/HEAD
  `)) {
    const { index } = await readBytes(tarOf({ [name]: 'x', ...site }));
    assert.deepEqual([index.digest, index.pages], [digest, 2], name);
  }
  const beside = (await readBytes(tarOf({ ...site, 'README.txt': 'served' }))).index;
  assert.deepEqual(
    beside.notes.map(({ code, example }) => `${code} ${example}`),
    ['HomePageMissing "site/index.html"'],
  );
});

test('content that an earlier version published with hidden files beside the folder keeps its digest', async () => {
  const archive = tarOf({ 'site/index.html': 'home', '.DS_Store': 'x' });
  const { index } = await readBytes(archive);
  const before = digestOf(
    sortFiles(
      [
        ['site/index.html', 'home'],
        ['.DS_Store', 'x'],
      ].map(([path = '', text = '']) => ({
        ...{ path, offset: 0, size: text.length },
        sha256: hash('sha256', text, 'hex'),
      })),
    ),
  );
  assert.notEqual(before, index.digest);
  const read = async (expectedDigest: string): Promise<string> =>
    (await readBytes(archive, { assembly: { expectedDigest } })).index.digest;
  assert.equal(await read(before), before);
  assert.equal(await read(index.digest), index.digest);
  assert.equal(await read('ab'.repeat(32)), index.digest);
});

const linked: readonly (readonly [string, string, readonly string[]])[] = [
  ['a page in a hidden folder', '', ['tags/.net/index.html']],
  ['a relative link', '<a href="../tags/.net/index.xml#x">', ['tags/.net/index.html', 'tags/.net/index.xml']],
  [
    'a link from the root',
    "<a HREF = '/tags/.net/index.xml?a'>",
    ['tags/.net/index.html', 'tags/.net/index.xml'],
  ],
  ['a link below a base path', '<img src=/docs/v1/.x.png>', ['.x.png', 'tags/.net/index.html']],
  ['a whole address', '<a href="https://h/.x.png">', ['.x.png', 'tags/.net/index.html']],
  ['an encoded link', '<a href="/tags/%2Enet/index.xml">', ['tags/.net/index.html']],
  ['a control file', '<a href="/vercel.json">', ['tags/.net/index.html', 'vercel.json']],
  [
    'clutter, another scheme, and no link',
    '<a href="/.git/x.html"><a href="mailto:.x.png">/.x.png',
    ['tags/.net/index.html'],
  ],
];
test('hidden paths that are pages or that a page links to are named, and no others', async () => {
  for (const [what, html, wanted] of linked) {
    for (const pieceBytes of [64 * 1024, 7]) {
      const files = {
        ...{ 'index.html': 'home', 'guides/a.html': `${' '.repeat(3000)}${html}` },
        ...{ 'tags/.net/index.html': 'n', 'tags/.net/index.xml': 'n', '.x.png': 'x', 'vercel.json': '{}' },
        ...{ '.git/x.html': 'g', '._index.html': 'a', 'serve.js': 's', 'start.cmd': 's' },
      };
      const { index } = await readBytes(tarOf(files), { pieceBytes });
      assert.deepEqual(
        index.notes.map(({ code, count, paths }) => [code, count, paths]),
        [['NotServed', wanted.length, wanted.map((path) => `"${path}"`)]],
        what,
      );
      assert.equal(index.pages, 2);
    }
  }
});

test('a list of hidden pages is bounded, and names that are served are not in it', async () => {
  const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`.${at}/index.html`, '']));
  const archive = tarOf({ 'index.html': 'home', ...many, 'install.cmd': '' });
  const [note] = (await readBytes(archive)).index.notes;
  assert.deepEqual([note?.code, note?.count, note?.paths?.length], ['NotServed', 31, 20]);
  const serveDotfiles = [...Array.from({ length: 29 }, (_, at) => `.${at}`), 'install.cmd'];
  const { index } = await readBytes(archive, { assembly: { serveDotfiles } });
  assert.deepEqual([index.pages, index.notes.map(({ paths }) => paths)], [30, [['".29/index.html"']]]);
});
