// RFC 9110 §12 (content negotiation), §8.4 (encodings), §12.5.5 (Vary): what is sent to whom, and decodes to what.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { type ConformanceSite, exchange, hold, page, type Row, siteContent } from './conformance-site.ts';
import { defaultSite } from './default-site.ts';

let site: ConformanceSite;
before(async () => {
  site = await defaultSite();
});

const rows: readonly (readonly [string, 'br' | 'gzip' | undefined])[] = [
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate, br', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP', 'gzip'],
  ['x-gzip', 'gzip'],
  ['br', 'br'],
  ['*', 'br'],
  ['gzip;q=1.0, br;q=0.5', 'gzip'],
  ['gzip;q=0.5, br;q=0.5', 'br'],
  ['gzip;q=0', undefined],
  ['br;q=0, gzip', 'gzip'],
  ['br;q=0.0, gzip;q=0.000', undefined],
  ['*;q=0', undefined],
  ['*;q=0, gzip', 'gzip'],
  ['identity;q=0, *', 'br'],
  ['identity, gzip;q=0.5', undefined],
  ['identity;q=0.1, gzip;q=0.5', 'gzip'],
  ['', undefined],
  ['identity', undefined],
  ['deflate, compress, zstd', undefined],
  ['vibrate', undefined],
  ['gzip;q=x', undefined],
  ['gzip;q=1.5', undefined],
  [',,,br,,', 'br'],
  [' br ; q=1 ', 'br'],
];

test('§12.5.3 Accept-Encoding: weights, refusals, the star, and text that is none', async () => {
  const { identity, br, gzip } = site.tags;
  await hold(
    site,
    rows.map(
      ([header, encoding]): Row => ({
        rule: header,
        send: [`Accept-Encoding: ${header}`],
        status: 200,
        fields: {
          'content-encoding': encoding,
          etag: encoding === 'br' ? br : encoding === 'gzip' ? gzip : identity,
          vary: 'Accept-Encoding',
          'content-type': 'text/html; charset=utf-8',
        },
        ...(encoding === undefined ? { body: page } : {}),
      }),
    ),
  );
  await hold(site, [
    {
      rule: 'two lines are one list',
      send: ['Accept-Encoding: gzip;q=0.5', 'Accept-Encoding: br'],
      status: 200,
      fields: { 'content-encoding': 'br' },
    },
    {
      rule: 'HTTP/1.1 without the field',
      status: 200,
      fields: { 'content-encoding': undefined },
      body: page,
    },
  ]);
});

test('§8.4 every precompressed body decodes to the very bytes of its file', async () => {
  for (const target of ['/page', '/', '/folder/', '/search-index.json', '/assets/app.BxYz12_Q.js', '/no']) {
    const name = {
      '/page': 'page.html',
      '/': 'index.html',
      '/folder/': 'folder/index.html',
      '/no': '404.html',
    }[target];
    const wanted = String(siteContent[name ?? target.slice(1)]);
    for (const [encoding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ] as const) {
      const lines = [
        `GET ${target} HTTP/1.1`,
        'Host: a',
        `Accept-Encoding: ${encoding}`,
        'Connection: close',
      ];
      const { headers, body, status } = await exchange(site.port, lines);
      assert.equal(status, target === '/no' ? 404 : 200);
      assert.equal(headers.get('content-encoding'), encoding, target);
      assert.ok(decode(Buffer.from(body, 'latin1')).toString() === wanted, `${target} ${encoding}`);
    }
  }
});

test('§12.5.5 Vary stands where the answer depends on the field, and nowhere else', async () => {
  const accept = 'Accept-Encoding: br';
  await hold(site, [
    { rule: 'compressed', send: [accept], status: 200, fields: { vary: 'Accept-Encoding' } },
    { rule: 'not variant, of the same file', status: 200, fields: { vary: 'Accept-Encoding' } },
    {
      rule: 'HEAD',
      method: 'HEAD',
      send: [accept],
      status: 200,
      fields: { vary: 'Accept-Encoding', 'content-encoding': 'br' },
    },
    {
      rule: 'an image',
      target: '/logo.png',
      send: [accept],
      status: 200,
      fields: { vary: undefined, 'content-encoding': undefined },
    },
    { rule: 'a short file', target: '/digits.bin', send: [accept], status: 200, fields: { vary: undefined } },
    { rule: 'a redirect', target: '/folder', send: [accept], status: 301, fields: { vary: undefined } },
    {
      rule: 'the page for an absence',
      target: '/no',
      send: [accept],
      status: 404,
      fields: { vary: 'Accept-Encoding', 'content-encoding': 'br' },
    },
  ]);
});

test('other fields of negotiation change nothing', async () => {
  const { identity } = site.tags;
  const fields = { etag: identity, 'content-type': 'text/html; charset=utf-8' };
  await hold(site, [
    { rule: 'Accept', send: ['Accept: application/json'], status: 200, fields, body: page },
    { rule: 'Accept-Language', send: ['Accept-Language: de'], status: 200, fields, body: page },
    { rule: 'Accept-Charset', send: ['Accept-Charset: iso-8859-1'], status: 200, fields, body: page },
  ]);
});
