// Types of an export that names do not show: which may be sent, how they get from an archive into the index, and who sees them.

import assert from 'node:assert/strict';
import { validateHeaderValue } from 'node:http';
import { test } from 'node:test';
import type { BundleIndex } from '#bundle/bundle-index.ts';
import { contentTypeOfFile } from '#bundle/content-type.ts';
import { siteTypesPath } from '#bundle/export-documents.ts';
import {
  createTypeJudge,
  formatSiteTypes,
  maxTypeEntries,
  maxTypeKinds,
  parseSiteTypes,
} from '#bundle/site-types.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import * as fc from '../../support/properties.ts';
import { readBytes } from '../../support/read-archive.ts';
import { entry, tarOf } from '../../support/tar-builder.ts';

const documentOf = (types: object): string => JSON.stringify({ schemaVersion: 1, types });
const site = { 'index.html': 'home', feed: '<rss/>', 'old.html': '\xef', 'a.js': 'a' };
const types = { feed: 'application/rss+xml', 'old.html': 'text/html; charset=windows-1251' };
const read = async (files: Readonly<Record<string, string>>): Promise<BundleIndex> =>
  (await readBytes(tarOf(files))).index;
const typesIn = ({ files }: BundleIndex): object =>
  Object.fromEntries(files.flatMap(({ path, type }) => (type === undefined ? [] : [[path, type]])));

test('types of an archive become fields of its files, and the digest names the document', async () => {
  const [plain, typed] = [await read(site), await read({ ...site, [siteTypesPath]: documentOf(types) })];
  assert.deepEqual(typesIn(typed), types);
  assert.deepEqual(typesIn(plain), {});
  assert.ok(plain.files.every((file) => !('type' in file)));
  assert.notEqual(typed.digest, plain.digest);
  assert.deepEqual([typed.pages, typed.notes], [plain.pages, []]);
});

test('in a wrapping folder the document is found, and in another folder it is a file like any other', async () => {
  const text = documentOf(types);
  const wrapped = Object.fromEntries(Object.entries(site).map(([path, body]) => [`site/${path}`, body]));
  assert.deepEqual(typesIn(await read({ ...wrapped, [`site/${siteTypesPath}`]: text })), types);
  assert.deepEqual(typesIn(await read({ ...site, [`docs/${siteTypesPath}`]: text })), {});
});

test('no visitor sees the document, also with --serve-dotfiles', () => {
  assert.equal(isHiddenFile(siteTypesPath, ['_sx', 'types.json', siteTypesPath]), true);
  assert.equal(isHiddenFile(`docs/${siteTypesPath}`), false);
});

test('a file that is named as a page and holds JSON keeps no type', async () => {
  const text = documentOf({ 'api/index.html': 'text/html; charset=windows-1251' });
  const index = await read({ ...site, 'api/index.html': '{"a": 1}', [siteTypesPath]: text });
  assert.deepEqual(typesIn(index), {});
});

const accepted: readonly (readonly [path: string, type: string, sent: string])[] = [
  ['feed', 'application/rss+xml', 'application/rss+xml; charset=utf-8'],
  ['notes', 'text/plain', 'text/plain; charset=utf-8'],
  ['notes', 'text/plain; charset=koi8-r', 'text/plain; charset=koi8-r'],
  ['logo', 'image/webp', 'image/webp'],
  ['app', 'text/javascript', 'text/javascript; charset=utf-8'],
  ['data/list', 'application/json', 'application/json; charset=utf-8'],
  ['manual.unknown', 'application/pdf', 'application/pdf'],
  ['old.html', 'text/html; charset=windows-1251', 'text/html; charset=windows-1251'],
  ['old.html', 'application/xhtml+xml', 'application/xhtml+xml; charset=utf-8'],
  ['page.xhtml', 'text/html', 'text/html; charset=utf-8'],
  ['a.js', 'text/javascript; charset=gbk', 'text/javascript; charset=gbk'],
];
for (const [path, type, sent] of accepted) {
  test(`${type} is sent for ${path}`, () => {
    assert.equal(createTypeJudge()(path, type), true);
    assert.equal(contentTypeOfFile({ path, type }), sent);
  });
}

const refused: readonly (readonly [why: string, path: string, type: unknown])[] = [
  ['a page of another name', 'feed', 'text/html'],
  ['a page of another name, as XML', 'feed', 'application/xhtml+xml'],
  ['a page that would be another type', 'old.html', 'text/plain'],
  ['a page that would be a program', 'old.html', 'text/javascript'],
  ['a program that would be text', 'a.js', 'text/plain'],
  ['a picture that would be a drawing', 'a.png', 'image/svg+xml'],
  ['a text that would be a page', 'a.txt', 'text/html'],
  ['files in a file', 'feed', 'multipart/x-mixed-replace'],
  ['a message', 'feed', 'message/rfc822'],
  ['an installer', 'feed', 'application/hta'],
  ['a profile', 'feed', 'application/x-apple-aspen-config'],
  ['a certificate', 'feed', 'application/x-x509-ca-cert'],
  ['a package for any site', 'feed', 'application/signed-exchange'],
  ['settings of a proxy', 'feed', 'application/x-ns-proxy-autoconfig'],
  ['a type that says nothing', 'feed', 'application/octet-stream'],
  ['capitals', 'feed', 'Application/rss+xml'],
  ['another parameter', 'feed', 'text/plain; format=flowed'],
  ['two parameters', 'feed', 'text/plain; charset=koi8-r; charset=gbk'],
  ['a quoted charset', 'feed', 'text/plain; charset="koi8-r"'],
  ['no space before the charset', 'feed', 'text/plain;charset=koi8-r'],
  ['a charset that browsers do not know', 'feed', 'text/plain; charset=utf-7'],
  ['a charset whose bytes mean nothing', 'feed', 'text/plain; charset=x-user-defined'],
  ['another name of a charset', 'feed', 'text/plain; charset=cp1251'],
  ['a charset of what is not text', 'logo', 'image/png; charset=koi8-r'],
  ['a line end', 'feed', 'text/plain\r\nset-cookie: a=b'],
  ['a line end at the end', 'feed', 'text/plain\n'],
  ['a NUL', 'feed', 'text/plain\0'],
  ['a byte beyond ASCII', 'feed', 'text/plain\u00e9'],
  ['201 characters', 'feed', `image/${'x'.repeat(195)}`],
  ['nothing', 'feed', ''],
  ['no slash', 'feed', 'text'],
  ['a number', 'feed', 7],
  ['a list', 'feed', ['text/plain']],
];
for (const [why, path, type] of refused) {
  test(`a type is passed over: ${why}`, async () => {
    const text = documentOf({ [path]: type, notes: 'text/plain' });
    const body = path === 'feed' || path === 'notes' ? {} : { [path]: 'x' };
    const index = await read({ ...site, notes: 'n', ...body, [siteTypesPath]: text });
    assert.deepEqual(typesIn(index), { notes: 'text/plain' });
  });
}

const unread: readonly (readonly [string, string])[] = [
  ['text', 'not JSON'],
  ['nested deeper than a stack holds', `${'['.repeat(400_000)}${']'.repeat(400_000)}`],
  ['of another version', JSON.stringify({ schemaVersion: 2, types })],
  ['a list', JSON.stringify({ schemaVersion: 1, types: [] })],
  ['without types', '{"schemaVersion":1}'],
  ['longer than 2 MiB', documentOf(types).padEnd(2 * 1024 * 1024 + 1)],
  [
    'of more entries than allowed',
    documentOf({
      ...types,
      ...Object.fromEntries(Array.from({ length: maxTypeEntries }, (_, n) => [n, 'x'])),
    }),
  ],
];
for (const [name, text] of unread) {
  test(`a document that is ${name} counts as none, and the archive is read`, async () => {
    assert.deepEqual(typesIn(await read({ ...site, [siteTypesPath]: text })), {});
  });
}

test('a later document replaces an earlier one, also where it is not read', async () => {
  const twice = async (second: string): Promise<object> => {
    const first = entry(siteTypesPath, documentOf(types));
    return typesIn(
      (await readBytes(Buffer.concat([first, tarOf({ ...site, [siteTypesPath]: second })]))).index,
    );
  };
  assert.deepEqual(await twice(documentOf({ feed: 'text/plain' })), { feed: 'text/plain' });
  assert.deepEqual(await twice(documentOf(types).padEnd(2 * 1024 * 1024 + 1)), {});
});

test('whatever a document says, what is sent is a header value, and no file becomes a page', () => {
  const paths = fc.constantFrom('feed', 'a.html', 'a.js', '404', '__proto__', 'constructor', 'a.png');
  const texts = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .tuple(
        fc.constantFrom('text', 'application', 'image', 'multipart', 'x'),
        fc.constantFrom('html', 'plain', 'xhtml+xml', 'rss+xml', 'javascript', 'a\nb', 'hta'),
        fc.constantFrom('', '; charset=koi8-r', '; charset=utf-8', ';charset=a', '; charset=\r'),
      )
      .map(([type, subtype, rest]) => `${type}/${subtype}${rest}`),
  );
  fc.assert(
    fc.property(fc.dictionary(paths, texts), (entries) => {
      for (const [path, type] of parseSiteTypes(Buffer.from(documentOf(entries))) ?? []) {
        const sent = contentTypeOfFile({ path, type });
        validateHeaderValue('content-type', sent);
        assert.match(sent, /^[\x21-\x7e]+(?:; charset=[a-z0-9._:-]+)?$/);
        assert.equal(/html/.test(sent), path.endsWith('.html'));
      }
    }),
  );
});

test('what is written is read back in its order, also names that are numbers', () => {
  const sorted = new Map([
    ['10', 'text/plain'],
    ['404', 'application/json'],
    ['Z', 'text/css'],
    ['__proto__', 'text/plain'],
    ['a"\\b', 'image/gif'],
  ]);
  const { text, leftOut } = formatSiteTypes(sorted);
  assert.deepEqual([...(parseSiteTypes(Buffer.from(text)) ?? [])].toSorted(), [...sorted].toSorted());
  assert.ok(text.indexOf('"404"') < text.indexOf('"Z"') && leftOut.length === 0);
});

test('the document is cut at its bounds, and says what is beyond them', () => {
  const many = (count: number, path: (n: number) => string, type: (n: number) => string) =>
    formatSiteTypes(new Map(Array.from({ length: count }, (_, n) => [path(n), type(n)])));
  const plain = (): string => 'text/plain';
  const cases = [
    many(maxTypeEntries + 3, (n) => `f${n}`, plain),
    many(3000, (n) => `${'x'.repeat(900)}${n}`, plain),
    many(
      maxTypeKinds + 5,
      (n) => `f${n}`,
      (n) => `image/x-${n}`,
    ),
  ];
  for (const { text } of cases) assert.ok(parseSiteTypes(Buffer.from(text)) !== undefined);
  const [entries, bytes, kinds] = cases.map(({ leftOut }) => leftOut.length);
  assert.deepEqual([entries, kinds], [3, 5]);
  assert.ok(bytes !== undefined && bytes > 500 && bytes < 1000);
});
