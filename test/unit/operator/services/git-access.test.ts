// The credentials of a git repository: what a Secret may hold, and what the message says of one that holds too little.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGitAccess } from '#operator/services/git-access.ts';

const bytes = (data: Readonly<Record<string, string>>): Record<string, Uint8Array> =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, new TextEncoder().encode(text)]));

const rows: readonly (readonly [
  name: string,
  data: Record<string, Uint8Array> | undefined,
  expected: object,
])[] = [
  ['a token, as a file ends', bytes({ token: 'abc\n' }), { token: 'abc' }],
  [
    'user and password',
    bytes({ username: 'bot', password: ' a b ' }),
    { username: 'bot', password: ' a b ' },
  ],
  [
    'a CA and a signing key as they are',
    bytes({ token: 'a', 'ca.crt': 'PEM\n', signingKey: 'KEY\n' }),
    { token: 'a', caPem: 'PEM\n', signingKeyPem: 'KEY\n' },
  ],
  ['other keys are not read', bytes({ token: 'a', other: 'b' }), { token: 'a' }],
];
for (const [name, data, expected] of rows) {
  test(name, () => assert.deepEqual(readGitAccess('git', data), expected));
}

const problems: readonly (readonly [
  name: string,
  data: Record<string, Uint8Array> | undefined,
  message: RegExp,
])[] = [
  ['no Secret', undefined, /the Secret git does not exist.*create it/],
  ['nothing in it', {}, /has no token and no password; write token/],
  ['a user alone', bytes({ username: 'bot' }), /has no token and no password/],
  ['an empty token', bytes({ token: '\n' }), /has no token and no password/],
  ['a token that is not text', { token: new Uint8Array([0xff, 0xfe]) }, /value of token.*not UTF-8/],
];
for (const [name, data, message] of problems) {
  test(`${name}: the message has the remedy`, () => {
    const found = readGitAccess('git', data);
    assert.ok('message' in found);
    assert.match(found.message, message);
  });
}
