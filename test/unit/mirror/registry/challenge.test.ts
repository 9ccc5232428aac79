// The parser of WWW-Authenticate: what registries send, and that every header that follows the grammar is read as it was
// written. Its time is measured in test/unit/linear-readers.test.ts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readChallenges } from '#mirror/registry/challenge.ts';
import * as fc from '../../../support/properties.ts';

const shown = (header: string): readonly unknown[] =>
  readChallenges(header).map(({ scheme, parameters }) => [scheme, Object.fromEntries(parameters)]);

for (const [name, header, expected] of [
  [
    'Docker Hub',
    'Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:docs/site:pull,push"',
    [
      [
        'bearer',
        {
          realm: 'https://auth.docker.io/token',
          service: 'registry.docker.io',
          scope: 'repository:docs/site:pull,push',
        },
      ],
    ],
  ],
  ['htpasswd', 'Basic realm="basic-realm"', [['basic', { realm: 'basic-realm' }]]],
  [
    'two schemes in one header',
    'Basic realm="a, b", Bearer realm="https://x/",error="invalid_token"',
    [
      ['basic', { realm: 'a, b' }],
      ['bearer', { realm: 'https://x/', error: 'invalid_token' }],
    ],
  ],
  [
    'a scheme alone',
    'Negotiate, Basic',
    [
      ['negotiate', {}],
      ['basic', {}],
    ],
  ],
  [
    'a token for a scheme',
    'NTLM TlRMTVNTUAAC==, BEARER REALM=x',
    [
      ['ntlm', {}],
      ['bearer', { realm: 'x' }],
    ],
  ],
  [
    'spaces and escapes',
    'Bearer  realm = "a\\"b\\\\c" ,, service= d',
    [['bearer', { realm: 'a"b\\c', service: 'd' }]],
  ],
  ['a repeated name', 'Bearer realm="a",realm="b"', [['bearer', { realm: 'a' }]]],
  ['an empty header', '', []],
  ['a parameter without a scheme', 'realm="x"', []],
  [
    'a quote that is not closed',
    'Bearer realm="x',
    [
      ['bearer', {}],
      ['realm', {}],
    ],
  ],
  ['other text', 'Bearer realm="x" @ service="y"', [['bearer', { realm: 'x' }]]],
] as const) {
  test(`reads ${name}`, () => assert.deepEqual(shown(header), expected));
}

const tokens = fc.stringMatching(/^[!#$%&'*+.^_`|~0-9a-z-]{1,12}$/);
const values = fc.string({
  unit: fc.constantFrom('a', 'B', '"', '\\', ',', ' ', '=', '/', ':'),
  maxLength: 12,
});
const challenges = fc.array(
  fc.record({
    scheme: tokens,
    parameters: fc.dictionary(
      tokens.filter((name) => name !== '__proto__'),
      values,
      { maxKeys: 4 },
    ),
  }),
  { maxLength: 4 },
);

test('reads every header that follows the grammar as it was written', () => {
  fc.assert(
    fc.property(challenges, fc.constantFrom(',', ', ', ' , '), (list, comma) => {
      const header = list
        .map(({ scheme, parameters }) => {
          const pairs = Object.entries(parameters).map(
            ([name, value]) => `${name}="${value.replace(/["\\]/g, '\\$&')}"`,
          );
          return `${scheme} ${pairs.join(comma)}`.trimEnd();
        })
        .join(comma);
      assert.deepEqual(
        shown(header),
        list.map(({ scheme, parameters }) => [scheme, { ...parameters }]),
      );
    }),
  );
});

test('ends with a list for any text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
      for (const { scheme } of readChallenges(text)) assert.match(scheme, /^\S+$/);
    }),
  );
});
