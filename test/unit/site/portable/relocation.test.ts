// What an address becomes: relative, to the name of a file that is there; and which addresses stay as they were written.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AddressUse, addressesOf } from '#site/portable/relocation.ts';
import { createSiteFiles, relativeAddress } from '#site/portable/site-files.ts';
import * as fc from '../../../support/properties.ts';

const paths = [
  ...['index.html', 'guides/index.html', 'guides/page.html', 'guides/deep/x.html', 'a b.html', 'ä.html'],
  ...['img/a(1).png', 'both', 'both.html', '404.html', "it's.css", 'x/y:z.html'],
];
const files = createSiteFiles(paths);

function relocated(
  written: string,
  { from = 'guides/page.html', basePath = '', domain = 'docs.example.com', use = 'link' as AddressUse } = {},
): string | undefined {
  return addressesOf(from, { files, basePath, domain }).relocate(written, use).text;
}

test('a link of the site names the file to which a server answers it', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['/', '../index.html'],
    ['/guides', 'index.html'],
    ['/guides/', 'index.html'],
    ['/guides/page', 'page.html'],
    ['/guides/deep/x?tab=1#part', 'deep/x.html?tab=1#part'],
    ['deep/x', 'deep/x.html'],
    ['../', '../index.html'],
    ['./', 'index.html'],
    ['/a%20b', '../a%20b.html'],
    ['/both', '../both'],
    ['/%C3%A4', '../%C3%A4.html'],
    ['/img/a(1).png', '../img/a%281%29.png'],
    ["/it's.css", '../it%27s.css'],
    ['/x/y:z', '../x/y%3Az.html'],
    ['https://docs.example.com/guides/page#a', 'page.html#a'],
    ['//DOCS.example.com/', '../index.html'],
    ['  /guides\n', 'index.html'],
  ];
  assert.deepEqual(
    cases.map(([written]) => [written, relocated(written)]),
    cases,
  );
});

test('what leads to the same file from a disk, to another host or to no file of a site stays as it was written', () => {
  const written = [
    ...['page.html', './deep/x.html', '../index.html#a', '#part', '', '?q=1', 'deep/../page.html'],
    ...[
      'https://other.example/',
      '//other.example/x',
      'mailto:a@b',
      'data:image/png;base64,/x',
      'javascript:a()',
    ],
    ...[
      'https://docs.example.com:8443/guides/page',
      'missing.html',
      '/%ff',
      'http://',
      `/${'x'.repeat(9000)}`,
    ],
  ];
  assert.deepEqual(
    written.map((one) => relocated(one)),
    written.map(() => undefined),
  );
});

test('a host stays in what tells other programs where a page is', () => {
  assert.equal(relocated('https://docs.example.com/guides/page', { use: 'mention' }), undefined);
  assert.equal(relocated('/guides/page', { use: 'mention' }), 'page.html');
});

test('an address that leads to no file stays below the folder of the site, and is counted', () => {
  const addresses = addressesOf('guides/page.html', { files, basePath: '' });
  const expected = { text: '../missing/page', target: 'missing/page', isLost: true };
  assert.deepEqual(addresses.relocate('/missing/page', 'link'), expected);
  assert.equal(addresses.relocate('missing', 'link').isLost, true);
});

test('links of a site below a path lose the path, and the rest of the host is not of the site', () => {
  const below = { basePath: '/docs' };
  assert.equal(relocated('/docs', below), '../index.html');
  assert.equal(relocated('/docs/guides/page', below), 'page.html');
  assert.equal(relocated('https://docs.example.com/docs/guides/page', below), 'page.html');
  assert.equal(relocated('https://docs.example.com/guides/page', below), 'page.html');
  assert.equal(relocated('/documents/x', below), undefined);
  assert.equal(relocated('/guides/page', below), undefined);
});

test('a base element decides where relative addresses lead, and links to a fragment too', () => {
  const addresses = addressesOf('guides/page.html', { files, basePath: '' });
  addresses.setBase('/guides/deep/');
  addresses.setBase('/other/');
  assert.equal(addresses.relocate('x.html', 'load').text, 'deep/x.html');
  assert.equal(addresses.relocate('#a', 'load').text, undefined);
  assert.equal(addresses.relocate('#a', 'link').text, 'deep/#a');
});

const segments = fc.constantFrom(
  'a',
  'b c',
  'ä',
  'x:y',
  '(1)',
  "'",
  '%',
  'index.html',
  '..a',
  '-',
  '*',
  '#',
  '?',
  '&',
);
const filePaths = fc
  .array(segments, { minLength: 1, maxLength: 4 })
  .map((parts) => parts.join('/'))
  .filter((path) => path !== '');

test('a relative address of any two paths leads from one to the other, and is written in ASCII without quotes', () => {
  fc.assert(
    fc.property(filePaths, filePaths, (from, to) => {
      const address = relativeAddress(from, to);
      assert.match(address, /^[A-Za-z0-9%./_~-]+$/);
      const encoded = from.split('/').map(encodeURIComponent).join('/');
      const url = new URL(address, `http://site.invalid/below/${encoded}`);
      assert.equal(decodeURIComponent(url.pathname), `/below/${to}`);
    }),
  );
});

test('a domain with a port is that host with that port', () => {
  const domain = 'docs.example.com:8443';
  assert.equal(relocated('https://docs.example.com:8443/guides/page', { domain }), 'page.html');
  assert.equal(relocated('https://docs.example.com/guides/page', { domain }), undefined);
});

const pieces = fc.constantFrom(
  ...[
    '/',
    '//',
    '..',
    '.',
    'guides',
    'page',
    '.html',
    '#a',
    '?q=1&r',
    'https://docs.example.com',
    'docs',
    '%2F',
  ],
  ...['%2e', '\\', 'ä', ' ', '\n', 'http:', 'x', 'a b', '"', "'", '(', ';', '@', ':', 'deep/x', '%25', '%00'],
);
const anyAddress = fc.array(pieces, { maxLength: 6 }).map((parts) => parts.join(''));

test('no address is relocated twice, whatever it is', () => {
  fc.assert(
    fc.property(
      anyAddress,
      fc.constantFrom(...paths),
      fc.constantFrom('', '/docs'),
      (written, from, basePath) => {
        for (const use of ['link', 'load', 'mention'] as const) {
          const once = relocated(written, { from, basePath, use });
          if (once === undefined) continue;
          assert.doesNotMatch(once, /^[/\\]|["'<>()\s]/);
          // Below a base path a relative address leads below it too.
          assert.equal(relocated(once, { from, basePath, use }), undefined, `${written} became ${once}`);
        }
      },
    ),
    { numRuns: 2000 },
  );
});
