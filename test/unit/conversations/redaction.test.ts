// Redaction: what is taken out, what stays, that equal values stay equal, and that its time follows the length of the text.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  createRedaction,
  createTextRedaction,
  fingerprintOf,
  redactionKinds,
} from '#conversations/redaction.ts';
import { sampleTurn } from '../../support/sample-turn.ts';
import { runToItsEnd } from '../../support/watchdog.ts';

const key = 'a key of enough bytes';
const redact = createTextRedaction({ kinds: redactionKinds, key });

for (const [kind, text] of [
  ['email', 'anna.b+docs@mail.example.com'],
  ['email', 'jürgen@exämple.de'],
  ['email', 'anna.b%40mail.example.com'],
  ['email', `${'anna.'.repeat(20)}b@mail.example.com`],
  ['ip', '192.168.10.254'],
  ['ip', '2001:db8::8a2e:370:7334'],
  ['ip', '::1'],
  ['ip', '::ffff:10.0.0.1'],
  ['token', 'svc_0123456789abcdef'],
  ['token', 'ghp_abcdefghijklmnop'],
  ['token', 'sk-proj-abcdefghijkl'],
  ['token', 'AKIAIOSFODNN7EXAMPLE'],
  ['token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
  ['token', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY'],
  ['token', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
] as const) {
  test(`${text} is taken out as ${kind}`, () => {
    for (const around of ['X', 'why is X refused?', '(X)', 'a,X;', '"X"', 'at X.']) {
      const found = redact(around.replace('X', text));
      assert.ok(!found.includes(text), found);
      assert.match(found, new RegExp(`\\[${kind}:[0-9a-f]{12}\\]`));
    }
  });
}

for (const text of [
  'How do I log in?',
  'version 1.2.3 and 10.20',
  'at 12:30:45 every day',
  'use std::vector<int> or ::before',
  '999.999.999.999',
  'a @mention and an @ sign',
  'https://docs.example.com/getting-started/how-to-configure-webhooks-for-your-organization-v2',
  'a-very-long-word-with-hyphens-and-the-number-42-in-it',
]) {
  test(`"${text.slice(0, 40)}" stays`, () => assert.equal(redact(text), text));
}

test('equal values join, with one key only', () => {
  const twice = redact('a@example.com and A@EXAMPLE.com');
  const [one, two] = twice.match(/\[email:[0-9a-f]{12}\]/g) ?? [];
  assert.equal(one, two);
  const other = createTextRedaction({ kinds: ['email'], key: 'another key of some bytes' });
  assert.notEqual(other('a@example.com'), one);
});

test('only what is asked for is taken out', () => {
  const only = createTextRedaction({ kinds: ['ip'], key });
  assert.equal(only('a@example.com'), 'a@example.com');
});

test('each text of a turn is redacted, and a turn without redaction is the same object', () => {
  const mail = 'a@example.com';
  const turn = sampleTurn({
    query: mail,
    response: mail,
    category: mail,
    page_url: `https://x/?u=${mail}`,
    sources: [{ title: mail, url: mail }],
  });
  const text = JSON.stringify(createRedaction({ kinds: ['email'], key })(turn));
  assert.ok(!text.includes(mail));
  assert.equal(createRedaction({ kinds: [], key: '' })(turn), turn);
});

test('the fingerprint of a key is not the key', () => {
  assert.ok(!fingerprintOf(key).includes(key));
  assert.notEqual(fingerprintOf(key), fingerprintOf('other'));
});

test('a long text is redacted to its end, whatever it repeats', () => {
  const pieces = [
    'a',
    'a.',
    '1.',
    'f:',
    ':',
    '@',
    'a@',
    'a@b.',
    '%40',
    'a%40b.',
    `%40${'a'.repeat(63)}`,
    'eyJ',
    'Bearer ',
    'svc_',
    '-----BEGIN ',
    'A1',
    '= ',
  ];
  for (const piece of pieces) runToItsEnd(() => void redact(piece.repeat(100_000 / piece.length)));
});
