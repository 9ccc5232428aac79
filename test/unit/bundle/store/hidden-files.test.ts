// What a bundle may hold and a visitor may not see.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import { words } from '../../../support/words.ts';

const hidden = [
  '.env',
  '.git/config',
  'a/.hidden',
  'a/.git/b',
  '.well-known/.secret',
  'docs/.well-known/x',
  '_headers',
  '_redirects',
  'serve.js',
  'serve.json',
  'firebase.json',
  'vercel.json',
  'start.command',
  'Start.BAT',
  'start.cmd',
  'a/__MACOSX/b.html',
  'a/Thumbs.db',
  'Desktop.ini',
  'guides/$RECYCLE.BIN/a',
  '@eaDir/a.png',
  'pax_global_header',
];
const visible = words(`
  index.html .well-known/security.txt .well-known/a/b guides/_headers guides/serve.js guides/start.bat
  install.sh install.ps1 _next/static/a.js docs/1.4/x.html
`);

test('dotfiles, host control files and launchers are hidden, content is not', () => {
  for (const path of hidden) assert.equal(isHiddenFile(path), true, path);
  for (const path of visible) assert.equal(isHiddenFile(path), false, path);
});

test('a name is served where every name that hides the path is listed, with or without .html', () => {
  const served: readonly (readonly [string, string])[] = [
    ['tags/.net/index.html', '.net'],
    ['.net.html', '.net'],
    ['.net.html', '.net.html'],
    ['.a/.b/c', '.a,.b'],
    ['install.cmd', 'install.cmd'],
    ['.u\u0308', '.\u00fc'],
  ];
  for (const [path, names] of served) assert.equal(isHiddenFile(path, names.split(',')), false, path);
  for (const [path, names] of [
    ['.a/.b/c', '.a'],
    ['.net2/a', '.net'],
    ['a/.net.htm', '.net'],
    ['.env', ''],
  ] as const) {
    assert.equal(isHiddenFile(path, names.split(',')), true, path);
  }
});
