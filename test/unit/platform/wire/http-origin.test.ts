// Origins of URLs and the entries that stand for them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readHttpOrigin, readOriginEntry, shortOriginEntry } from '#platform/wire/http-origin.ts';
import * as fc from '../../../support/properties.ts';

for (const [entry, origin] of [
  ['api.example.com', 'https://api.example.com'],
  ['API.Example.com.', 'https://api.example.com'],
  ['api.example.com..', 'https://api.example.com..'],
  ['api.example.com:443', 'https://api.example.com'],
  ['api.example.com:80', 'https://api.example.com:80'],
  ['https://api.example.com:8443', 'https://api.example.com:8443'],
  ['http://api.example.com', 'http://api.example.com'],
  ['http://api.example.com:80', 'http://api.example.com'],
  ['HTTP://127.0.0.1:8080', 'http://127.0.0.1:8080'],
  ['[2001:DB8:0::1]', 'https://[2001:db8::1]'],
  ['http://[::1]:8080', 'http://[::1]:8080'],
  ['b\u00fccher.example', 'https://xn--bcher-kva.example'],
  ['2001:db8::1', undefined],
  ['*.example.com', undefined],
  ['*', undefined],
  ['', undefined],
  ['api.example.com/', undefined],
  ['https://api.example.com/prefix', undefined],
  ['user@api.example.com', undefined],
  ['ftp://api.example.com', undefined],
  ['//api.example.com', undefined],
  ['api.example.com:', undefined],
  ['api.example.com:65536', undefined],
  ['api.example.com?x', undefined],
  ['api%2eexample.com', undefined],
  ['api.example.com:80:80', undefined],
  ['a b', undefined],
] as const) {
  test(`the entry ${JSON.stringify(entry)} stands for ${origin ?? 'nothing'}`, () => {
    assert.equal(readOriginEntry(entry), origin);
  });
}

test('the entry of the origin of any URL names that origin', () => {
  fc.assert(
    fc.property(fc.webUrl({ withQueryParameters: true }), fc.nat(65_535), (url, port) => {
      const moved = new URL(url);
      moved.port = String(port);
      for (const one of [url, moved.href, moved.href.replace(/^https?/, 'http')]) {
        const origin = readHttpOrigin(one);
        assert.ok(origin !== undefined);
        assert.equal(readOriginEntry(shortOriginEntry(origin)), origin);
        assert.equal(readOriginEntry(origin), origin);
        assert.equal(readHttpOrigin(origin), origin);
      }
    }),
  );
});
