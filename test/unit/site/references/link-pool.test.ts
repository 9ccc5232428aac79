// What pages share: a remembered address leads where resolving it leads, on whatever page it stands.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLinkPool } from '#site/references/link-pool.ts';
import { createScope, locate } from '#site/site-scope.ts';
import * as fc from '../../../support/properties.ts';

const scope = createScope('docs.example.com', new URL('http://127.0.0.1:4000/'));

const piece = fc.constantFrom(
  ...['/', '//', '\\', '\t', '\n', ' ', '.', '..', '%2e', '%2F', '%00', ';jsessionid=1A', '?q', '#f', ':'],
  ...[
    'a',
    'b.html',
    'C:',
    'http:',
    'https://',
    '127.0.0.1:4000',
    'docs.example.com',
    'other.example',
    'é',
    '~',
  ],
);
const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));
const base = fc.constantFrom(
  ...['http://127.0.0.1:4000/', 'http://127.0.0.1:4000/guides/x', 'http://127.0.0.1:4001/guides/x'],
  ...['https://other.example/y/', 'https://docs.example.com/z/'],
);

test('an address leads where resolving it leads, whichever pages wrote it before', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(text, base), { maxLength: 12 }), (written) => {
      const pool = createLinkPool(scope);
      // Each on every page: the second time it may be remembered.
      for (const [address] of written) {
        for (const [, page] of written) {
          const url = new URL(page);
          assert.deepEqual(pool.locate(address, url), locate(scope, address, url), `${address} on ${page}`);
        }
      }
    }),
    { numRuns: 300 },
  );
});

test('an address of a navigation is resolved once, and a link is one object', () => {
  const pool = createLinkPool(scope);
  const [home, guide] = ['http://127.0.0.1:4000/', 'http://127.0.0.1:4000/guides/x'].map(
    (url) => new URL(url),
  );
  assert.ok(home !== undefined && guide !== undefined);
  assert.equal(pool.locate('/a/../b?c#d', home), pool.locate('/a/../b?c#d', guide));
  assert.notEqual(pool.locate('a', home), pool.locate('a', home));
  const address = { path: '/b', query: '' };
  const link = pool.linkTo(address, 'page', false);
  assert.equal(pool.linkTo({ ...address }, 'page', false), link);
  assert.deepEqual(link, { address, use: 'page', isSitemap: false });
  for (const other of [
    pool.linkTo(address, 'asset', false),
    pool.linkTo(address, 'page', true),
    pool.linkTo({ ...address, query: '?c' }, 'page', false),
  ]) {
    assert.notDeepEqual(other, link);
  }
});

test('what is remembered has a bound', () => {
  const pool = createLinkPool(scope);
  const home = new URL('http://127.0.0.1:4000/');
  const first = pool.locate('/first', home);
  assert.equal(pool.locate('/first', home), first);
  for (let at = 0; at < 5_000; at += 1) pool.locate(`/${at}`, home);
  assert.notEqual(pool.locate('/first', home), first);
  const long = `/${'x'.repeat(300)}`;
  assert.notEqual(pool.locate(long, home), pool.locate(long, home));
});
