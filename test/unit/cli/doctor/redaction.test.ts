// What a report leaves out of text, and that it leaves the rest.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactArgs, redactLines, redactText, redactValue } from '#cli/doctor/redaction.ts';
import * as fc from '../../../support/properties.ts';

const secret = 'Kx81hT2mQ9';
const texts = {
  'a key': `svc_live-${secret}`,
  'a signed link': `https://s3.example.com/a/b.tgz?X-Amz-Signature=${secret}&x=1`,
  'a link with a token in its path': `https://h/t/${secret}/b.tgz`,
  'a link with a fragment': `https://h/a#${secret}`,
  'a URL with a user': `http://me:${secret}@proxy:3128`,
  'a URL with an escaped user': `http://me:${secret}\\u0040proxy`,
  'a URL with escaped slashes': `https:\\/\\/h\\/a\\/${secret}`,
  'a percent-encoded URL': `https%3A%2F%2Fh%2F${secret}`,
  'a link in JSON': `{"url":"https://h/a?sig=${secret}"}`,
  'a link with an escaped separator': `…?expires=1\\u0026signature=${secret}`,
  'a link whose path is escaped': `https://h/a\\u002f${secret}`,
  'a link without its scheme': `/a/b.tgz?X-Amz-Signature=${secret}`,
  'the short name of a signature': `/a/b.tgz?se=1\\tsig=${secret}`,
  'a key on the next line': `keys:\nsvc_${secret}`,
  'a key after an escaped line break': `keys:\\nsvc_${secret}`,
  'a key of another form': `apiKey: ${secret}`,
  'a key in JSON': `{"apiKey":"${secret}"}`,
  'a key in JSON within JSON': `{\\"apiKey\\":\\"a b\\\\\\"${secret}\\"}`,
  'a key in broken JSON': `{"apiKey" : "a b\\"${secret}"`,
  'keys in a list': `keys=["a", "${secret}"]`,
  'a bearer token': `Bearer ${secret}`,
  'a bearer token after an escape': `\\tBearer ${secret}`,
  'a token of another scheme': `Authorization: Token ${secret}`,
  'a cookie': `Set-Cookie: a=b; c=${secret}`,
  'a header of a key': `X-Api-Key: ${secret}`,
  'a secret of a client': `client_secret=${secret}`,
  'a variable': `AWS_SECRET_ACCESS_KEY=${secret}`,
  'a percent-encoded pair': `access_token%3D${secret}`,
  'a block of YAML': `password: |\n  ${secret}`,
  'a token of a service account': `eyJhbGciOi.eyJzdWIi.${secret}`,
  'a token of GitHub in words': `pushed with ghp_${secret}abcdef`,
  'a token of GitLab after an escape': `remote:\\nglpat-${secret}`,
  'a key in base64, in a path': `/mnt/${secret}${secret}/${secret}`,
  'a private key': `-----BEGIN EC PRIVATE KEY-----\n${secret}\n-----END EC PRIVATE KEY-----`,
  'a private key that was cut': `-----BEGIN PRIVATE KEY-----\\n${secret}`,
  'a password in a connection': `host=db password=${secret}`,
  'a long token without a name': `${secret}${'aB3'.repeat(10)}`,
};
const shows = (text: string): boolean => text.includes(secret);

for (const [name, text] of Object.entries(texts)) {
  test(`${name} is taken out`, () => assert.equal(shows(redactText(text)), false, redactText(text)));
}

const escaped = fc.constantFrom(
  '\\n',
  '\\t',
  '\\u0026',
  '\\u003c',
  '\\"',
  '\\\\',
  '\n',
  '"',
  "'",
  '(',
  ',',
  '=',
  ':',
);
const word = fc.stringMatching(/^[ -~]{0,12}$/);
const surroundings = fc.array(fc.oneof(escaped, word), { maxLength: 4 }).map((parts) => parts.join(''));

test('no secret stays, whatever is around it', () => {
  fc.assert(
    fc.property(
      surroundings,
      fc.constantFrom(...Object.values(texts)),
      surroundings,
      (before, text, after) => {
        const whole = before + text + after;
        assert.equal(shows(redactText(whole)), false, redactText(whole));
      },
    ),
    { numRuns: 5_000 },
  );
});

test('no secret stays in a log, however often its line is encoded as JSON', () => {
  fc.assert(
    fc.property(
      surroundings,
      fc.constantFrom(...Object.values(texts)),
      surroundings,
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      (before, text, after, times, isCut) => {
        let line = before + text + after;
        for (let at = 0; at < times; at += 1) line = JSON.stringify({ msg: line });
        const log = redactLines(['{}', isCut ? line.slice(2) : line, ...text.split('\n')]).join('\n');
        assert.equal(shows(log), false, log);
      },
    ),
    { numRuns: 2_000 },
  );
});

test('versions, digests, hosts and sentences stay', () => {
  for (const text of [
    `https://export.example.com says 20261123-110000-aaaaaaaa ${'a'.repeat(64)}; see http://h:8080/.`,
    'Export API returned 403 for key Secret docs/export-api; check its scopes and spec.domain. Retrying in 15m.',
    'secret "docs-bundle" not found',
    '2026-11-22T19:21:23Z WARN  refresh failed reason=ServerError count=3',
  ]) {
    assert.equal(redactText(text), text);
  }
  assert.equal(redactText('https://s3.example.com/a?sig=1'), 'https://s3.example.com/[redacted]');
});

test('a value is redacted at every depth, also by the name of its member', () => {
  const value = {
    a: [{ b: `svc_${secret}`, headers: { cookie: [secret] } }],
    text: JSON.stringify({ token: secret, jobId: 'j' }),
    keySecretRef: { name: 'export-api' },
    [`svc_${secret}`]: 1,
    d: null,
  };
  assert.deepEqual(redactValue(value), {
    a: [{ b: '[redacted]', headers: { cookie: '[redacted]' } }],
    text: '{"token":"[redacted]","jobId":"j"}',
    keySecretRef: { name: 'export-api' },
    '[redacted]': 1,
    d: null,
  });
});

test('lines of JSON in a log stay JSON', () => {
  const lines = ['{"msg":"started","count":1}', `{"msg":"see https://h/${secret}"}`, 'a', 'b'];
  assert.equal(
    redactLines(lines).join('\n'),
    '{"msg":"started","count":1}\n{"msg":"see https://h/[redacted]"}\na\nb',
  );
});

test('a line of one repeated part ends', () => {
  for (const part of [
    'a',
    'key',
    'key ',
    '"',
    '\\',
    'x-amz-',
    '-----BEGIN PRIVATE KEY-----',
    'a:/',
    'svc_',
    'eyJ',
    '{',
  ]) {
    const text = part.repeat(65_536 / part.length);
    assert.equal(typeof redactText(text), 'string');
  }
});

test('of arguments only known flags keep their value', () => {
  const shown = {
    operator: 'operator',
    '--lease-name=sx': '--lease-name=sx',
    '--watch-namespaces': '--watch-namespaces',
    'docs,team-a': 'docs,team-a',
    '--log-level=debug': '--log-level=debug',
    '--default-mirror': '--default-mirror',
    'oci://registry.example.com': 'oci://registry.example.com',
    '--allow-private-links': '--allow-private-links',
    secretcookievaluexyz: '[redacted]',
    '--cookie-secret': '[redacted]',
    anothersecretvalue: '[redacted]',
    [`--keepalive-auth=user:${secret}`]: '[redacted]',
    [`--workers-password=${secret}`]: '[redacted]',
    [`--api-base-url=https://me:${secret}@h/${secret}`]: '--api-base-url=https://h/[redacted]',
  };
  assert.deepEqual(redactArgs(Object.keys(shown)), Object.values(shown));
});
