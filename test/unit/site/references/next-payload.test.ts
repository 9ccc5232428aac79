// File names that the router of a Next.js export requests, from a build of Next 16.4 and from the earlier form of its
// tree.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { payloadAddress, payloadOf, readPageData, readPayload } from '#site/references/next-payload.ts';
import * as fc from '../../../support/properties.ts';

const names = (path: string, text: string): readonly string[] =>
  readPayload(path, text).map((found) => found.text);

const tree = `3:[["children",{"s":"__PAGE__","h":160}]]
2:[["children",{"s":"deep","h":96,"c":"$Q3"}]]
1:[["children",{"s":"guide","h":96,"c":"$Q2"}]]
0:{"b":"BUILD","t":{"t":{"s":"","h":80,"c":"$Q1"}}}
`;

test('a page leads to its data file', () => {
  assert.equal(payloadOf('/guide').text, '/guide.txt');
  assert.equal(payloadOf('/guide.html').text, '/guide.txt');
  assert.equal(payloadOf('/guide/').text, '/guide/index.txt');
  assert.equal(payloadOf('/').text, '/index.txt');
});

test('the data of a page leads to its tree and its parts, in the folder of the page’s name', () => {
  const data = '1:"$Sreact.fragment"\n0:{}';
  const parts = ['_tree', '_full', '_head', '_index'].map((part) => `/__next.${part}.txt`);
  assert.deepEqual(
    names('/guide/deep.txt', data),
    parts.map((part) => `/guide/deep${part}`),
  );
  assert.deepEqual(
    names('/guide/index.txt', data),
    parts.map((part) => `/guide${part}`),
  );
  assert.deepEqual(names('/index.txt', data), parts);
});

test('a tree leads to a file for every segment', () => {
  assert.deepEqual(names('/guide/deep/__next._tree.txt', tree), [
    '/guide/deep/__next.guide.txt',
    '/guide/deep/__next.guide.deep.txt',
    '/guide/deep/__next.guide.deep.__PAGE__.txt',
  ]);
});

test('parameters, groups and slots are spelled as in the file names of Next.js', () => {
  const text = `2:[["children",{"s":"__PAGE__"}],["side",{"s":"__DEFAULT__"}]]
1:[["children",{"s":["slug","x","d"],"c":"$Q2"}]]
0:{"t":{"t":{"s":"(docs)","c":"$Q1"}}}`;
  assert.deepEqual(names('/x/__next._tree.txt', text), [
    '/x/__next.!KGRvY3Mp.txt',
    '/x/__next.!KGRvY3Mp.$d$slug.txt',
    '/x/__next.!KGRvY3Mp.$d$slug.@side.__DEFAULT__.txt',
    '/x/__next.!KGRvY3Mp.$d$slug.__PAGE__.txt',
  ]);
});

test('the earlier form of a tree is read too', () => {
  const text =
    '0:{"tree":{"name":"","paramType":null,"slots":{"children":{"name":"slug","paramType":"d","slots":{"children":{"name":"__PAGE__","paramType":null,"slots":null}}}}}}';
  assert.deepEqual(names('/x/__next._tree.txt', text), [
    '/x/__next.$d$slug.txt',
    '/x/__next.$d$slug.__PAGE__.txt',
  ]);
});

test('other text leads to no file', () => {
  for (const text of ['', 'User-agent: *', '# Docs', 'a: plain', '{"json":1}']) {
    assert.deepEqual(names('/x.txt', text), []);
  }
});

test('trees with circles are read to an end, and no text makes the reader throw', () => {
  const circle = '1:[["children",{"s":"a","c":"$Q1"}]]\n0:{"t":{"t":{"s":"","c":"$Q1"}}}';
  assert.equal(names('/x/__next._tree.txt', circle).length, 500);
  const line = fc.oneof(
    fc.json().map((json) => `1:${json}`),
    fc.constantFrom('0:{"t":{"t":{"c":"$Q1","s":""}}}', '0:{"tree":[]}', '1:[["children",null]]', '1:[[]]'),
  );
  fc.assert(
    fc.property(fc.array(line), fc.constantFrom('/x.txt', '/__next._tree.txt'), (lines, path) => {
      for (const { text } of readPayload(path, lines.join('\n'))) assert.match(text, /^\/.*\.txt$/);
    }),
  );
});

const pageData = (members: string): string =>
  `{"props":{"pageProps":{"buildId":"other"}},"page":"/[x]","query":{},"buildId":"b1"${members}}`;
const anchors = ['/_next/static/chunks/main.js'];
const dataRows: readonly (readonly [string, string, string, readonly string[], readonly string[]])[] = [
  ['of a page', '/guides/x', pageData(',"gsp":true'), anchors, ['/_next/data/b1/guides/x.json']],
  ['of the home page', '/', pageData(',"gssp":true'), anchors, ['/_next/data/b1/index.json']],
  [
    'below a base path',
    '/docs/x.html',
    pageData(',"gsp":true'),
    ['/docs/_next/static/m.js'],
    ['/docs/_next/data/b1/x.json'],
  ],
  ['of a language', '/x', pageData(',"gsp":true,"locale":"en"'), anchors, ['/_next/data/b1/en/x.json']],
  [
    'of a page in the folder of its language',
    '/fr/x',
    pageData(',"gsp":true,"locale":"fr"'),
    anchors,
    ['/_next/data/b1/fr/x.json'],
  ],
  ['of a page without data', '/x', pageData(''), anchors, []],
  ['of a page without scripts of Next.js', '/x', pageData(',"gsp":true'), [], []],
];
for (const [name, path, script, scripts, expected] of dataRows) {
  test(`the data of the Pages Router: ${name}`, () => {
    assert.deepEqual(
      readPageData(script, path, scripts).map(({ text }) => text),
      expected,
    );
  });
}

test('a text file is the data of the page that asks for it', () => {
  for (const page of ['/', '/guides/', '/guides/x'])
    assert.equal(payloadAddress(payloadOf(page).text)?.path, page);
  assert.equal(payloadAddress('/guides/x.json'), undefined);
});
