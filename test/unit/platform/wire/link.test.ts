import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format, inspect } from 'node:util';
import { Link } from '#platform/wire/link.ts';
import * as fc from '../../../support/properties.ts';

const secret = 'https://store.example.com/b.tar.gz?X-Amz-Signature=5ec4e7';

function parse(text: string): Link {
  const link = Link.parse(text);
  assert.ok(link !== undefined);
  return link;
}

test('no way of printing a link shows its text', () => {
  const link = parse(secret);
  const prints = [
    `${link}`,
    String(link),
    `${link}x`,
    JSON.stringify({ link }),
    inspect(link),
    inspect({ deep: [link] }),
    format('%s %o %j', link, link, link),
  ];
  for (const print of prints) {
    assert.doesNotMatch(print, /5ec4e7|store\.example/);
  }
  assert.deepEqual(Object.keys(link), []);
});

test('only reveal() returns the text', () => {
  assert.equal(parse(secret).reveal(), secret);
  assert.equal(parse(secret).host, 'store.example.com');
});

test('only http, https and file URLs are links', () => {
  for (const text of [
    '',
    'null',
    '/bundle.tar.gz',
    'ftp://h/x',
    'javascript:1',
    'data:,x',
    42,
    null,
    undefined,
    {},
  ]) {
    assert.equal(Link.parse(text), undefined);
  }
});

const lifetimes: readonly (readonly [
  string,
  string,
  { signedAt: string | undefined; expiresAt: string } | undefined,
])[] = [
  [
    'Amazon SigV4',
    'X-Amz-Date=20261121T100000Z&X-Amz-Expires=900&X-Amz-Signature=a',
    { signedAt: '2026-11-21T10:00:00Z', expiresAt: '2026-11-21T10:15:00Z' },
  ],
  [
    'Amazon SigV4 in lower case',
    'x-amz-date=20261121T100000Z&x-amz-expires=60',
    { signedAt: '2026-11-21T10:00:00Z', expiresAt: '2026-11-21T10:01:00Z' },
  ],
  [
    'Google V4',
    'X-Goog-Date=20261121T100000Z&X-Goog-Expires=3600&X-Goog-Signature=a',
    { signedAt: '2026-11-21T10:00:00Z', expiresAt: '2026-11-21T11:00:00Z' },
  ],
  [
    'epoch seconds (Amazon V2, Google V2, CloudFront, our own service)',
    'Expires=1795255200&Signature=a',
    { signedAt: undefined, expiresAt: '2026-11-21T10:00:00Z' },
  ],
  [
    'Azure shared access signature',
    'st=2026-11-21T09:00:00Z&se=2026-11-21T10:00:00Z&sig=a',
    { signedAt: '2026-11-21T09:00:00Z', expiresAt: '2026-11-21T10:00:00Z' },
  ],
  ['an Azure end that is no date', 'se=tomorrow&sig=a', undefined],
  ['a date without its seconds', 'X-Amz-Date=20261121T100000Z', undefined],
  ['a date that does not exist', 'X-Amz-Date=20261399T100000Z&X-Amz-Expires=60', undefined],
  ['a negative life', 'X-Amz-Date=20261121T100000Z&X-Amz-Expires=-60', undefined],
  ['Expires without a signature is an ordinary parameter', 'Expires=1795255200', undefined],
  ['no query at all', '', undefined],
];

const at12 = '2026-11-28T12:00:00Z';
const seconds = Date.parse(at12) / 1000;
const policy = (condition: object): string =>
  Buffer.from(JSON.stringify({ Statement: [{ Resource: 'https://h/*', Condition: condition }] }))
    .toString('base64')
    .replaceAll('+', '-')
    .replaceAll('=', '_')
    .replaceAll('/', '~');
const until = { DateLessThan: { 'AWS:EpochTime': seconds } };
const from = { DateGreaterThan: { 'AWS:EpochTime': seconds - 600 } };
const at1150 = '2026-11-28T11:50:00Z';

for (const [name, query, wanted] of [
  ['CloudFront policy', `Policy=${policy(until)}&Signature=x`, { signedAt: undefined, expiresAt: at12 }],
  [
    'with a start',
    `Policy=${policy({ ...until, ...from })}&Signature=x`,
    { signedAt: at1150, expiresAt: at12 },
  ],
  ['a policy that nobody signed', `Policy=${policy(until)}`, undefined],
  ['Alibaba', 'x-oss-date=20261128T115000Z&x-oss-expires=600', { signedAt: at1150, expiresAt: at12 }],
  ['Tencent', `q-sign-time=${seconds - 600}%3B${seconds}`, { signedAt: at1150, expiresAt: at12 }],
  ...lifetimes,
] as const) {
  test(`signed lifetime: ${name}`, () => {
    const found = parse(`https://h.example/b?${query}`).signedLifetime();
    const expected =
      wanted === undefined
        ? undefined
        : {
            signedAt: wanted.signedAt === undefined ? undefined : Date.parse(wanted.signedAt),
            expiresAt: Date.parse(wanted.expiresAt),
          };
    assert.deepEqual(found, expected);
  });
}

test('no text makes reading a link throw', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl({ withQueryParameters: true }), fc.anything()), (text) => {
      Link.parse(text)?.signedLifetime();
    }),
  );
});
