// The canonicalisation: what it accepts, and the shapes that made other servers answer what they should not.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { folderLocation, readBasePath, readRequestPath } from '#server/http/request-path.ts';
import * as fc from '../../../support/properties.ts';

const accepted: readonly (readonly [string, string, string])[] = [
  ['/', '/', ''],
  ['/guides/start', '/guides/start', ''],
  ['/guides/start/', '/guides/start/', ''],
  ['/guides/start?_rsc=1a2b', '/guides/start', '?_rsc=1a2b'],
  ['/a?x=%2f..%5c&y=?raw??', '/a', '?x=%2f..%5c&y=?raw??'],
  ['/%C3%A9t%C3%A9.html', '/été.html', ''],
  ['/a%20b+c', '/a b+c', ''],
  ['/docs/1.4/x', '/docs/1.4/x', ''],
  ['/..a/b..', '/..a/b..', ''],
  ['/.well-known/x', '/.well-known/x', ''],
  ['//evil.example/x', '//evil.example/x', ''],
  ['/a//b', '/a//b', ''],
  ['/%2561', '/%61', ''],
  ['/::$DATA', '/::$DATA', ''],
  ['http://docs.example.com/a?b', '/a', '?b'],
  ['http://docs.example.com', '/', ''],
  ['http://docs.example.com?b=/c', '/', '?b=/c'],
];

test('a target is decoded once, its query kept apart, and nothing is collapsed', () => {
  for (const [target, path, query] of accepted) {
    assert.deepEqual(readRequestPath(target, ''), { outcome: 'path', path, query }, target);
  }
});

const malformed: readonly string[] = [
  '',
  '*',
  'a',
  'ftp://x/y',
  'http:///x',
  '/admin%2Fsecret.html',
  '/admin%2fsecret.html',
  '/admin%5Csecret.txt',
  '/..%5c..%5cetc',
  '/a\\b',
  '/%00',
  '/a%00.html',
  '/%0d%0aSet-Cookie:x',
  '/%7f',
  '/../../../etc/passwd',
  '/a/../b',
  '/a/..',
  '/.',
  '/./a',
  '/.%2e/x',
  '/%2e%2e/x',
  '/%',
  '/%zz',
  '/%c3',
  '/%c0%af',
  '/%ed%a0%80',
  '/\u00c3\u00a9',
  '/a b',
  '/a#b',
];

test('what two readers could understand in two ways is malformed', () => {
  for (const target of malformed) {
    assert.deepEqual(readRequestPath(target, ''), { outcome: 'malformed' }, target);
  }
});

test('below a base path only what is below it is looked up', () => {
  assert.deepEqual(readRequestPath('/docs/a?b', '/docs'), { outcome: 'path', path: '/a', query: '?b' });
  assert.deepEqual(readRequestPath('/docs/', '/docs'), { outcome: 'path', path: '/', query: '' });
  assert.deepEqual(readRequestPath('/docs?q', '/docs'), {
    outcome: 'base-without-slash',
    location: './docs/',
    query: '?q',
  });
  for (const target of ['/', '/docs-secret/a', '/doc', '/Docs/a', '//docs/a']) {
    assert.deepEqual(readRequestPath(target, '/docs'), { outcome: 'outside-base' }, target);
  }
});

test('a base path is met in either Unicode form', () => {
  const composed = '/f\u00fcr';
  assert.equal(readBasePath('/fu\u0308r'), composed);
  for (const target of ['/f%C3%BCr/a', '/fu%CC%88r/a', '/fu%cc%88r/a']) {
    assert.deepEqual(readRequestPath(target, composed), { outcome: 'path', path: '/a', query: '' }, target);
  }
  assert.equal(readRequestPath('/fu%CC%88r', composed).outcome, 'base-without-slash');
  assert.equal(readRequestPath('/fur/a', composed).outcome, 'outside-base');
});

test('a base path is read in the forms people write it in', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['/', ''],
    ['', ''],
    ['docs', '/docs'],
    ['/docs/', '/docs'],
    ['/a/b/', '/a/b'],
    ['/dokumentation-für-alle', '/dokumentation-für-alle'],
    ['/a//b', undefined],
    ['/a/../b', undefined],
    ['/a?b', undefined],
    ['/a#b', undefined],
    ['/a\\b', undefined],
  ];
  for (const [text, expected] of rows) assert.equal(readBasePath(text), expected, text);
});

test('the redirect to a folder resolves to that folder from its own name', () => {
  for (const folder of ['/a', '/a/b', '/a b/c d', '/mailto:x', '/é', '/a?b', '/a#b', '/a%41']) {
    const from = new URL(folder.split('/').map(encodeURIComponent).join('/'), 'http://host/');
    const to = new URL(folderLocation(folder), from);
    assert.equal(to.origin, 'http://host');
    assert.equal(decodeURIComponent(to.pathname), `${folder}/`);
  }
});

test('no target makes it throw, and an accepted path is canonical', () => {
  const target = fc.oneof(
    fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code)) }),
    fc
      .array(fc.constantFrom('/', '.', '..', '%2e', '%2f', '%5c', '%00', 'a', '%c3%a9', '?', '//'))
      .map((all) => `/${all.join('')}`),
  );
  fc.assert(
    fc.property(target, (text) => {
      const read = readRequestPath(text, '');
      if (read.outcome !== 'path') return;
      assert.ok(read.path.startsWith('/'));
      assert.ok(!read.path.includes('\\') && !read.path.includes('\0'));
      assert.ok(!read.path.split('/').some((segment) => segment === '.' || segment === '..'));
    }),
    { numRuns: 2000 },
  );
});
