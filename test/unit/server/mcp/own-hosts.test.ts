// Which names a request may carry: tables of `Host` and `Origin`, and that nothing but the names of the flag and of the local machine
// passes, whatever the text is.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FlagValueError } from '#platform/runtime/flags/flag-kinds.ts';
import { findOwnHost, isOwnOrigin, readOwnHost } from '#server/mcp/own-hosts.ts';
import * as fc from '../../../support/properties.ts';

const hosts = ['docs.example.com', '*.apps.example.com', 'http://docs.team.svc', '[2001:db8::7]:8443'].map(
  readOwnHost,
);

const ofHost: readonly (readonly [field: string, scheme: 'http' | 'https' | undefined])[] = [
  ['docs.example.com', 'https'],
  ['DOCS.Example.COM', 'https'],
  ['docs.example.com:443', 'https'],
  ['docs.example.com:8443', 'https'],
  ['docs.example.com.', 'https'],
  ['docs.example.com..', undefined],
  ['docs.example.com:', 'https'],
  ['a.apps.example.com', 'https'],
  ['a.b.apps.example.com', 'https'],
  ['apps.example.com', undefined],
  ['.apps.example.com', undefined],
  ['xapps.example.com', undefined],
  ['docs.team.svc', 'http'],
  ['[2001:db8::7]', 'https'],
  ['[2001:DB8::7]:1', 'https'],
  ['[2001:db8:0::7]', undefined],
  ['localhost', 'http'],
  ['localhost:8080', 'http'],
  ['127.0.0.1:9', 'http'],
  ['[::1]:8080', 'http'],
  ['', undefined],
  [':8080', undefined],
  ['evil.example', undefined],
  ['docs.example.com.evil.example', undefined],
  ['evil-docs.example.com', undefined],
  ['example.com', undefined],
  ['localhost.evil.example', undefined],
  ['127.0.0.1.evil.example', undefined],
  ['127.1', undefined],
  ['2130706433', undefined],
  ['0.0.0.0', undefined],
  ['docs.example.com@evil.example', undefined],
  ['docs.example.com, evil.example', undefined],
  ['docs.example.com evil.example', undefined],
  ['docs.example.com/evil', undefined],
  ['docs%2eexample.com', undefined],
  ['döcs.example.com', undefined],
  ['docs.example.com:123456', undefined],
];

for (const [field, scheme] of ofHost) {
  test(`Host ${JSON.stringify(field)} is ${scheme === undefined ? 'of another site' : `the site's, by ${scheme}`}`, () => {
    assert.equal(findOwnHost(hosts, field)?.scheme, scheme);
  });
}

test('a request without a Host is of no site', () => {
  assert.equal(findOwnHost(hosts, undefined), undefined);
});

const ofOrigin: readonly (readonly [field: string | undefined, isOwn: boolean])[] = [
  [undefined, true],
  ['https://docs.example.com', true],
  ['http://docs.example.com:8080', true],
  ['HTTPS://DOCS.EXAMPLE.COM', true],
  ['http://localhost:6274', true],
  ['https://a.apps.example.com', true],
  ['null', false],
  ['', false],
  ['docs.example.com', false],
  ['https://evil.example', false],
  ['https://docs.example.com.evil.example', false],
  ['https://docs.example.com@evil.example', false],
  ['https://docs.example.com/path', false],
  ['https://docs.example.com, https://docs.example.com', false],
  ['https://docs.example.com https://evil.example', false],
  ['file://docs.example.com', false],
  ['chrome-extension://docs.example.com', false],
];

for (const [field, isOwn] of ofOrigin) {
  test(`Origin ${JSON.stringify(field)} is ${isOwn ? "the site's" : 'refused'}`, () => {
    assert.equal(isOwnOrigin(hosts, field), isOwn);
  });
}

test('no text passes but the names themselves, in either case, with a port or a dot at the end', () => {
  const names = ['docs.example.com', 'docs.team.svc', '[2001:db8::7]', 'localhost', '127.0.0.1', '[::1]'];
  const piece = fc.constantFrom(
    ...names,
    '.',
    ':',
    '8080',
    '@',
    '/',
    ' ',
    ',',
    'evil.example',
    '*',
    '[',
    ']',
    '%',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 4 }), (pieces) => {
      const field = pieces.join('');
      if (findOwnHost(hosts, field) === undefined) return;
      const name = field
        .toLowerCase()
        .replace(/:\d{0,5}$/, '')
        .replace(/\.$/, '');
      assert.ok(names.includes(name) || name.endsWith('.apps.example.com'), field);
    }),
    { numRuns: 2000 },
  );
});

for (const text of [
  '',
  'docs.example.com/path',
  'ftp://docs',
  '*',
  '*.',
  'a..b',
  '-a.example',
  'user@docs',
  'a b',
  '*.*.a',
]) {
  test(`the flag refuses ${JSON.stringify(text)}`, () => {
    assert.throws(() => readOwnHost(text), FlagValueError);
  });
}
