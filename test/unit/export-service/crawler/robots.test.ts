// robots.txt as sites write it: for this crawler by name, for all, with lines nobody has defined.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readRobots } from '../../../../src/export-service/crawler/robots.ts';
import { createScope } from '../../../../src/export-service/crawler/site-scope.ts';

const scope = createScope('docs.example.com', new URL('http://127.0.0.1:4000/base/'));
const isAllowed = (text: string, path: string): boolean =>
  readRobots(scope, text).isAllowed({ path, query: '' });

test('no robots.txt allows everything', () => assert.equal(isAllowed('', '/x'), true));

test('a rule for all holds for this crawler, the longest match deciding', () => {
  const text = 'User-agent: *\nDisallow: /private\nAllow: /private/open$';
  assert.equal(isAllowed(text, '/private/x'), false);
  assert.equal(isAllowed(text, '/private/open'), true);
  assert.equal(isAllowed(text, '/public'), true);
});

test('a group of its own replaces the group for all', () => {
  const text = 'User-agent: *\nDisallow: /\n\nUser-agent: Static-Export-Operator\nDisallow: /no';
  assert.equal(isAllowed(text, '/yes'), true);
  assert.equal(isAllowed(text, '/no'), false);
});

test('unknown lines, a byte order mark, an error page and NULs mean nothing', () => {
  const text = '\ufeffContent-Signal: search=yes, ai-train=no\n\0\n<html>\nUser-agent: *\nDisallow: /x';
  assert.equal(isAllowed(text, '/x'), false);
  assert.equal(isAllowed(text, '/y'), true);
  assert.equal(isAllowed('<!doctype html><p>Disallow: /', '/x'), true);
});

test('rules speak of the public path and match escapes in one spelling', () => {
  const text = 'User-agent: *\nDisallow: /é';
  assert.equal(isAllowed(text, '/%C3%A9'), false);
  assert.equal(isAllowed('User-agent: *\nDisallow: /base/', '/x'), true);
});

test('sitemaps are listed as written, wherever they stand', () => {
  const text = 'Sitemap: https://docs.example.com/a.xml\nUser-agent: *\nSITEMAP: /b.xml\n';
  assert.deepEqual(readRobots(scope, text).sitemaps, ['https://docs.example.com/a.xml', '/b.xml']);
});
