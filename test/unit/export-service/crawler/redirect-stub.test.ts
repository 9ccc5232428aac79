// A stub leads to its target at any address: with a prefix, with and without .html.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redirectStub } from '#export-service/crawler/redirect-stub.ts';
import { readHtmlReferences } from '#site/references/html-references.ts';
import * as fc from '../../../support/properties.ts';

test('a redirect stub refreshes to its target with the fragment, and is well-formed for any path', () => {
  const stub = Buffer.from(redirectStub('/a/old', '/b/"new"&<x>', '#part')).toString();
  const targets = readHtmlReferences(stub).references.map(({ text }) => text);
  assert.deepEqual(targets, ['../b/"new"&<x>#part', '../b/"new"&<x>#part']);
});

test('a relative path leads from any address to any other, with any prefix', () => {
  const segment = fc.constantFrom('a', 'b', 'c:d', 'x.html', '%C3%A9');
  const path = fc
    .tuple(fc.array(segment, { maxLength: 4 }), fc.boolean())
    .map(([segments, isFolder]) => `/${segments.join('/')}${isFolder && segments.length > 0 ? '/' : ''}`);
  fc.assert(
    fc.property(path, path, fc.constantFrom('', '/base', '/a/b'), (source, target, prefix) => {
      const stub = Buffer.from(redirectStub(source, target, '')).toString();
      const [found] = readHtmlReferences(stub).references;
      const relative = found?.text ?? '';
      assert.equal(new URL(relative, `http://h${prefix}${source}`).pathname, `${prefix}${target}`);
      assert.match(relative, /^\.{1,2}\//);
    }),
  );
});
