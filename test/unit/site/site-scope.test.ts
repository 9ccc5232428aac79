// Every reference goes through `locate`: what it calls inside is fetched and becomes a path in an archive.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createScope, decodePath, documentPath, filePath, locate, originUrl } from '#site/site-scope.ts';
import * as fc from '../../support/properties.ts';

const scope = createScope('Docs.Example.com', new URL('http://127.0.0.1:4000/'));
const prefixed = createScope('docs.example.com', new URL('http://127.0.0.1:4000/base/'));
const page = new URL('http://127.0.0.1:4000/guides/x');

const inside: readonly (readonly [string, string, string])[] = [
  ['a relative path is relative to the page', 'y', '/guides/y'],
  ['a path from the root', '/y', '/y'],
  ['dots are resolved', '../../../y', '/y'],
  ['encoded dots are dots', '/a/%2e%2e/y', '/y'],
  ['the public domain, https', 'https://docs.example.com/y', '/y'],
  ['the public domain, http and upper case', 'HTTP://DOCS.EXAMPLE.COM/y', '/y'],
  ['the public domain without scheme', '//docs.example.com/y', '/y'],
  ['the origin itself', 'http://127.0.0.1:4000/y', '/y'],
  ['a query is kept', '/y?v=1', '/y?v=1'],
  ['a fragment is not part of the address', '/y#z', '/y'],
  ['a backslash is a slash to browsers', '\\y', '/y'],
  ['needless escapes have one spelling', '/%7Ey/%41', '/~y/A'],
  ['needed escapes are kept', '/a%20b/%C3%A9%3F%23%25', '/a%20b/%C3%A9%3F%23%25'],
  ['raw non-ASCII is the same address as escaped', '/é', '/%C3%A9'],
  ['a session id of a servlet is not part of it', '/a;jsessionid=1F.node1/y;jsessionid=2?v=1', '/a/y?v=1'],
  ['a session id of ASP.NET is not part of it', '/a/(S(abcdefghijklmnopqrst0123))/y', '/a/y'],
  ['an escaped semicolon is part of a name', '/y%3Bjsessionid=1', '/y%3Bjsessionid=1'],
  ['other parameters and parentheses are part of it', '/y;v=1/(S(x))/z', '/y;v=1/(S(x))/z'],
  ['space around it is not part of it', '  /y\n', '/y'],
];
for (const [name, text, expected] of inside) {
  test(`inside: ${name}`, () => {
    const located = locate(scope, text, page);
    assert.equal(located.where, 'inside');
    assert.equal(`${located.address.path}${located.address.query}`, expected);
  });
}

const elsewhere: readonly (readonly [string, string, string])[] = [
  ['another host', 'https://cdn.example.net/x.js?secret=1', 'outside'],
  ['a subdomain', 'https://www.docs.example.com/', 'outside'],
  ['a host that only starts alike', 'https://docs.example.com.evil.test/', 'outside'],
  ['another port of the origin', 'http://127.0.0.1:4001/', 'outside'],
  ['another port of the domain', 'https://docs.example.com:8443/', 'outside'],
  ['the metadata address', 'http://169.254.169.254/latest/meta-data', 'outside'],
  ['a user name does not make it the domain', 'https://docs.example.com@evil.test/', 'outside'],
  ['an encoded slash', '/a%2Fb', 'unsafe'],
  ['an encoded backslash', '/a%5Cb', 'unsafe'],
  ['an encoded NUL', '/a%00', 'unsafe'],
  ['an encoded line break', '/a%0Ab', 'unsafe'],
  ['an escape that is not UTF-8', '/%ff', 'unsafe'],
  ['a broken escape', '/100%', 'unsafe'],
  ['an empty segment', '/a//b', 'unsafe'],
  ['a path longer than a bundle takes', `/${'a'.repeat(1100)}`, 'unsafe'],
  ['more segments than a bundle takes', '/a'.repeat(64), 'unsafe'],
  ['a drive, to some who unpack archives', '/C:x', 'unsafe'],
  ['an encoded C1 control', '/a%C2%85', 'unsafe'],
  ['an encoded line separator', '/a%E2%80%A8', 'unsafe'],
  ['the sign of broken UTF-8', '/a%EF%BF%BD', 'unsafe'],
  ['a fragment alone', '#top', 'nowhere'],
  ['nothing', '', 'nowhere'],
  ['mail', 'mailto:a@docs.example.com', 'nowhere'],
  ['data', 'data:text/html,<a>', 'nowhere'],
  ['script', 'javascript:alert(1)', 'nowhere'],
  ['a file', 'file:///etc/passwd', 'nowhere'],
  ['no URL', 'http://[', 'nowhere'],
];
for (const [name, text, where] of elsewhere) {
  test(`${where}: ${name}`, () => assert.equal(locate(scope, text, page).where, where));
}

test('an address outside of the site is named without its query', () => {
  const located = locate(scope, 'https://cdn.example.net/x.js?secret=1', page);
  assert.deepEqual(located, { where: 'outside', name: 'cdn.example.net/x.js' });
});

test('with a prefix, only addresses below it are in the site, and the prefix is not part of them', () => {
  const base = originUrl(prefixed, { path: '/guides/x', query: '' });
  assert.equal(base.href, 'http://127.0.0.1:4000/base/guides/x');
  const addressOf = (text: string): string => {
    const located = locate(prefixed, text, base);
    return located.where === 'inside' ? located.address.path : located.where;
  };
  assert.equal(addressOf('/base/y'), '/y');
  assert.equal(addressOf('/base'), '/');
  assert.equal(addressOf('y'), '/guides/y');
  assert.equal(addressOf('/y'), 'outside');
  assert.equal(addressOf('/basement/y'), 'outside');
  assert.equal(addressOf('https://docs.example.com/y'), '/y');
});

test('a host that requests name is a name of the site, below the prefix of its origin', () => {
  const named = createScope(
    'docs.example.com',
    new URL('http://127.0.0.1:4000/base/'),
    'Inside.example:8080',
  );
  const base = originUrl(named, { path: '/', query: '' });
  const addressOf = (text: string): string => {
    const located = locate(named, text, base);
    return located.where === 'inside' ? located.address.path : located.where;
  };
  assert.equal(addressOf('http://inside.example:8080/base/y'), '/y');
  assert.equal(addressOf('http://inside.example:8080/y'), 'outside');
  assert.equal(addressOf('http://inside.example/base/y'), 'outside');
  const same = createScope('docs.example.com', new URL('http://127.0.0.1:4000/base/'), 'docs.example.com');
  const located = locate(same, 'https://docs.example.com/y', base);
  assert.equal(located.where === 'inside' && located.address.path, '/y');
});

test('no reference makes locate throw, and every address inside can be a path of an archive', () => {
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.webUrl(),
    fc
      .array(
        fc.constantFrom(
          '/',
          '..',
          '.',
          '%2e',
          '%2f',
          '%5c',
          '%00',
          '%',
          'C:',
          '%c2%85',
          'é',
          'a',
          '?',
          '#',
          '\\',
          '\t',
        ),
      )
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      const located = locate(scope, text, page);
      if (located.where !== 'inside') return;
      const decoded = decodePath(located.address.path) ?? '';
      assert.ok(decoded.startsWith('/'));
      assert.ok(
        !decoded
          .slice(1)
          .split('/')
          .some((part) => part === '.' || part === '..'),
      );
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that there are none is the claim
      assert.doesNotMatch(decoded, /[\\\u0000-\u001f\u007f]/);
      const again = locate(scope, located.address.path + located.address.query, page);
      assert.deepEqual(again.where === 'inside' && again.address, located.address);
    }),
    { numRuns: 200 },
  );
});

/** As a page, and as another file. */
const fileNames: readonly (readonly [string, string | undefined, string | undefined])[] = [
  ['/', 'index.html', undefined],
  ['/guides/x', 'guides/x.html', 'guides/x'],
  ['/guides/x.html', 'guides/x.html', 'guides/x.html'],
  ['/guides/', 'guides/index.html', undefined],
  ['/guides/index.html', 'guides/index.html', 'guides/index.html'],
  ['/old.htm', 'old.htm', 'old.htm'],
  ['/page.xhtml', 'page.xhtml', 'page.xhtml'],
  ['/docs/1.4', 'docs/1.4.html', 'docs/1.4'],
  ['/a%20b/%C3%A9', 'a b/é.html', 'a b/é'],
  ['/e%CC%81', 'e\u0301.html', 'e\u0301'],
  ['/bad%2Fname', undefined, undefined],
];
for (const [address, document, file] of fileNames) {
  test(`${address} is ${document} as a page and ${file} as a file`, () => {
    assert.equal(documentPath({ path: address, query: '?v=1' }), document);
    assert.equal(filePath({ path: address, query: '?v=1' }), file);
  });
}

test('an address that no bundle may hold is named without its session id', () => {
  const scope = createScope('docs.example.com', new URL('http://127.0.0.1:4000/'));
  assert.deepEqual(locate(scope, '/x//y;jsessionid=d03cf', new URL('http://127.0.0.1:4000/')), {
    where: 'unsafe',
    path: '/x//y',
  });
});
