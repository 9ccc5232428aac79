// What a bundle may hold and a visitor may not see.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isHiddenFile } from '../../../../src/bundle/store/hidden-files.ts';

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
];
const visible = [
  'index.html',
  '.well-known/security.txt',
  '.well-known/a/b',
  'guides/_headers',
  'guides/serve.js',
  'guides/start.bat',
  'install.sh',
  'install.ps1',
  '_next/static/a.js',
  'docs/1.4/x.html',
];

test('dotfiles, host control files and launchers are hidden, content is not', () => {
  for (const path of hidden) assert.equal(isHiddenFile(path), true, path);
  for (const path of visible) assert.equal(isHiddenFile(path), false, path);
});
