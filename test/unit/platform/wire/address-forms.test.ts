// E-mail and IP addresses are found by their grammar, whatever stands beside them, and versions, times and names in code are
// none.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { replaceEmails, replaceIpAddresses } from '#platform/wire/address-forms.ts';
import * as fc from '../../../support/properties.ts';

const ip = (text: string): string => replaceIpAddresses(text, (found) => `[${found}]`);
const email = (text: string): string => replaceEmails(text, (found) => `[${found}]`);

for (const [text, expected] of [
  ['from 10.1.2.3, today', 'from [10.1.2.3], today'],
  ['x10.1.2.3', 'x[10.1.2.3]'],
  ['10.1.2.3abc', '[10.1.2.3]abc'],
  ['a\\n10.1.2.3\\n', 'a\\n[10.1.2.3]\\n'],
  ['ip%3D10.1.2.3', 'ip%3D[10.1.2.3]'],
  ['a%2010.1.2.3', 'a%20[10.1.2.3]'],
  ['a\\u002010.1.2.3', 'a\\u0020[10.1.2.3]'],
  ['a\\x2010.1.2.3', 'a\\x20[10.1.2.3]'],
  ['10.1.2.3:80 and 10.1.2.0/24.', '[10.1.2.3]:80 and [10.1.2.0]/24.'],
  ['10.1.2.3.example.com', '[10.1.2.3].example.com'],
  ['010.001.002.003', '[010.001.002.003]'],
  ['IP:2001:db8::1', 'IP:[2001:db8::1]'],
  ['[2001:db8::1]:443', '[[2001:db8::1]]:443'],
  ['a\\n2001:DB8::1\\n', 'a\\n[2001:DB8::1]\\n'],
  ['a%202001:db8::1', 'a%20[2001:db8::1]'],
  ['addrfe80::1%eth0', 'addr[fe80::1]%eth0'],
  ['2001:db8::1. 2001:db8::', '[2001:db8::1]. [2001:db8::]'],
  ['2001:db8:1:2:3:4:5:6', '[2001:db8:1:2:3:4:5:6]'],
  ['x::ffff:10.0.0.1y', 'x[::ffff:10.0.0.1]y'],
  ['at ::1', 'at [::1]'],
  ['source:2001:db8::1', 'source:[2001:db8::1]'],
  ['interface:fe80::1, state:fd12::5', 'interface:[fe80::1], state:[fd12::5]'],
  ['source:2001:db8:1:2:3:4:5:6', 'source:[2001:db8:1:2:3:4:5:6]'],
] as const) {
  test(`the IP address in "${text}" is found`, () => assert.equal(ip(text), expected));
}

for (const text of [
  'version 1.2.3 and 10.20',
  '1.2.3.4.5',
  '999.1.1.1',
  'at 12:30:45',
  'std::before, Foo::Bar, ::before, Array::add',
  '00:1a:2b:3c:4d:5e',
  'a: b: c',
  'v1.2.3.4 and 1.2.3.4rc1, 1.2.3.4-beta',
  'cafe::babe::f00d, abc::add::face',
]) {
  test(`"${text}" has no IP address`, () => assert.equal(ip(text), text));
}

for (const [text, expected] of [
  ['why anna@example.com?', 'why [anna@example.com]?'],
  ["'anna@example.com'", "'[anna@example.com]'"],
  ['<a.b+c@mail.example.com>.', '<[a.b+c@mail.example.com]>.'],
  ['a\\nanna@example.com\\n', 'a\\n[anna@example.com]\\n'],
  ['\\u003canna@example.com\\u003e', '\\u003c[anna@example.com]\\u003e'],
  ['%0Aanna@example.com%0A', '%0A[anna@example.com]%0A'],
  ['mail=anna%40example.com&x', 'mail=[anna%40example.com]&x'],
  ["o'brien@example.com", "[o'brien@example.com]"],
  ['a!b~c@example.com', '[a!b~c@example.com]'],
  ['anna&#64;example.com', '[anna&#64;example.com]'],
  ['anna\\u0040example.com', '[anna\\u0040example.com]'],
  ['anna＠example.com', '[anna＠example.com]'],
  ['anna@[10.0.0.1]', '[anna@[10.0.0.1]]'],
  ['"anna b"@example.com', '["anna b"@example.com]'],
  ['jürgen@exämple.de', '[jürgen@exämple.de]'],
  ['太郎@例え.jp', '[太郎@例え.jp]'],
] as const) {
  test(`the e-mail address in "${text}" is found`, () => assert.equal(email(text), expected));
}

for (const text of [
  'react@18.2.0',
  'vue@3.x',
  'node@20.x',
  'react@19.0.0-rc.1',
  'eslint@9.0.0-alpha',
  'a @mention',
  'user@localhost',
  '@example.com',
  'anna@',
  'a@b@c',
]) {
  test(`"${text}" has no e-mail address`, () => assert.equal(email(text), text));
}

test('every IP address is found beside any letters, and what is around it stays', () => {
  const around = fc.stringMatching(/^[g-zG-Z ,;()"'=<>-]{0,6}$/);
  fc.assert(
    fc.property(around, fc.ipV4(), around, (before, address, after) => {
      assert.equal(ip(`${before}${address}${after}`), `${before}[${address}]${after}`);
    }),
  );
  const spaced = fc.stringMatching(/^[ ,;()"'=<>-]{0,6}$/);
  fc.assert(
    fc.property(spaced, fc.ipV6(), spaced, (before, address, after) => {
      fc.pre(address !== '::');
      assert.equal(ip(`${before}${address}${after}`), `${before}[${address}]${after}`);
    }),
  );
});

test('every e-mail address is found, but for signs that separate the parts of a URL', () => {
  fc.assert(
    fc.property(fc.emailAddress({ size: '-1' }), (address) => {
      fc.pre(/^[^/=?&`]*[\w.%+-][^/=?&`]*@/.test(address));
      const found = email(`why ${address} ?`);
      assert.ok(!found.includes(` ${address} `), found);
      assert.match(found, /@[^\]]*\]/);
    }),
  );
});

test('any text is read to its end', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => typeof ip(email(text)) === 'string'));
});
