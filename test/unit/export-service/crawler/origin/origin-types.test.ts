// Which types of an origin go into the archive: what name and bytes show is not among them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { siteReportPath, siteTypesPath } from '#bundle/export-documents.ts';
import type { CrawlResult } from '#export-service/crawler/contract.ts';
import { originTypeOf, typeToKeep } from '#export-service/crawler/origin/origin-types.ts';
import { withDocuments } from '#export-service/crawler/report.ts';
import { crawl, serveSite } from '../site-server.ts';

const cyrillic = Buffer.from([0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2]);
const inCyrillic = (head = '<p>'): Buffer => Buffer.concat([Buffer.from(head), cyrillic]);

async function textOf(result: CrawlResult, path: string): Promise<string | undefined> {
  const file = withDocuments(result).find((one) => one.path === path);
  if (file === undefined) return undefined;
  const bytes: Uint8Array[] = [];
  for await (const chunk of file.read()) bytes.push(chunk);
  return Buffer.concat(bytes).toString();
}

const answers: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
  '/': [
    'text/html',
    '<a href="/old"><a href="/new"><a href="/download"><img src="/logo"><script src="/app.js"></script><link rel=alternate href="/feed">',
  ],
  '/old': ['text/html; charset=windows-1251', inCyrillic()],
  '/new': ['text/html; charset=windows-1251', '<p>Привет'],
  '/feed': ['Application/RSS+XML; charset="utf-8"', '<rss/>'],
  '/logo': ['image/webp', 'RIFF'],
  '/app.js': ['text/plain', 'a()'],
  '/404': ['text/html; charset=windows-1251', inCyrillic('<h1>')],
  '/manual.pdf': ['application/pdf', '%PDF'],
};

test('an archive keeps the types that names and bytes do not show, sorted, and the same for the same site', async (t) => {
  const { origin } = await serveSite(t, (path, _request, response) => {
    if (path === '/download') response.writeHead(302, { location: '/manual.pdf' }).end();
    const [type, body] = answers[path] ?? [];
    return type === undefined ? undefined : { headers: { 'content-type': type }, body: body ?? '' };
  });
  const result = await crawl(t, origin);
  const text = await textOf(result, siteTypesPath);
  assert.equal(
    text,
    '{"schemaVersion":1,"types":{"404.html":"text/html; charset=windows-1251","download":"application/pdf",' +
      '"feed":"application/rss+xml","logo":"image/webp","old.html":"text/html; charset=windows-1251"}}\n',
  );
  const paths = withDocuments(result).map(({ path }) => path);
  assert.deepEqual(paths, paths.toSorted());
  assert.equal(await textOf(await crawl(t, origin), siteTypesPath), text);
});

test('a site whose names and bytes show all types has no such document', async (t) => {
  const { origin } = await serveSite(t, (path) =>
    path === '/' ? { headers: { 'content-type': 'text/html; charset=utf-8' }, body: '<p>é' } : undefined,
  );
  const result = await crawl(t, origin);
  assert.equal(await textOf(result, siteTypesPath), undefined);
  assert.notEqual(await textOf(result, siteReportPath), undefined);
});

test('types beyond the bounds are counted in the report', async (t) => {
  const { origin } = await serveSite(t, (path) =>
    path === '/' ? { headers: { 'content-type': 'text/html' }, body: '' } : undefined,
  );
  const result = await crawl(t, origin);
  const types = new Map(Array.from({ length: 20_001 }, (_, n) => [`f${100_000 + n}`, 'text/plain']));
  const report = JSON.parse((await textOf({ ...result, types }, siteReportPath)) ?? '');
  assert.deepEqual(report.notes.entries, [{ code: 'TypesNotKept', count: 1, example: 'f120000' }]);
});

const long = 'a'.repeat(2000);
const rows: readonly (readonly [
  why: string,
  path: string,
  header: string,
  body: string | Buffer,
  kept: string | undefined,
])[] = [
  [
    'a charset that bytes need',
    'a.html',
    'text/html;charset=CP1251',
    inCyrillic(),
    'text/html; charset=windows-1251',
  ],
  [
    '… after the first KiB',
    'a.html',
    'text/html; charset=windows-1251',
    inCyrillic(long),
    'text/html; charset=windows-1251',
  ],
  [
    '… of a program',
    'a.js',
    'application/javascript; charset=gbk',
    inCyrillic(),
    'text/javascript; charset=gbk',
  ],
  [
    '… against the page',
    'a.html',
    'text/html; charset=koi8-r',
    inCyrillic('<meta charset=utf-8>'),
    'text/html; charset=koi8-r',
  ],
  [
    '… of a text that spells a declaration',
    'a.txt',
    'text/plain; charset=koi8-r',
    inCyrillic('<?xml version="1.0" encoding="koi8-r"?>'),
    'text/plain; charset=koi8-r',
  ],
  ['ISO-2022-JP', 'a.html', 'text/html; charset=iso-2022-jp', '\u001b$B', 'text/html; charset=iso-2022-jp'],
  [
    'a charset that the page declares',
    'a.html',
    'text/html; charset=windows-1251',
    inCyrillic('<meta charset=cp1251>'),
    undefined,
  ],
  [
    'a byte order mark',
    'a.html',
    'text/html; charset=windows-1251',
    Buffer.from('\ufeffa', 'utf16le'),
    undefined,
  ],
  ['ASCII', 'a.html', 'text/html; charset=windows-1251', 'a', undefined],
  ['UTF-8 in spite of the header', 'a.html', 'text/html; charset=iso-8859-1', 'é', undefined],
  ['a charset that nobody knows', 'a.html', 'text/html; charset=klingon', inCyrillic(), undefined],
  ['a charset of a picture', 'a.png', 'image/png; charset=windows-1251', inCyrillic(), undefined],
  ['a page as XML', 'a.html', 'application/xhtml+xml', '<html/>', 'application/xhtml+xml'],
  ['another type of a known name', 'a.css', 'text/plain', 'a', undefined],
  ['a page’s name for a text', 'a.html', 'text/plain', 'a', undefined],
  ['no type', 'feed', '', 'a', undefined],
  ['a type that says nothing', 'feed', 'application/octet-stream', 'a', undefined],
  ['a type that no server may send', 'feed', 'message/rfc822', 'a', undefined],
  ['a header that is none', 'feed', 'text/plain\u00e9', 'a', undefined],
  ['a name that is known by itself', 'LICENSE', 'text/plain', 'a', undefined],
  ['an unknown extension', 'a.unknown', 'text/csv', 'a', 'text/csv'],
];
for (const [why, path, header, body, kept] of rows) {
  test(`${kept === undefined ? 'not kept' : 'kept'}: ${why}`, async () => {
    const type = originTypeOf(header);
    const bytes = Buffer.from(body);
    const read = async function* () {
      // In pieces that cut characters.
      for (let at = 0; at < bytes.length; at += 7) yield bytes.subarray(at, at + 7);
    };
    assert.equal(type && (await typeToKeep(path, type, read)), kept);
  });
}

test('a body is read only where its bytes decide', async () => {
  const read = (): never => assert.fail('read');
  for (const [path, header] of [
    ['a.html', 'text/html; charset=utf-8'],
    ['a.html', 'text/html'],
    ['feed', 'application/rss+xml; charset=UTF-8'],
    ['a.png', 'image/png; charset=koi8-r'],
  ] as const) {
    const type = originTypeOf(header);
    assert.ok(type !== undefined || path === 'a.png');
    if (type !== undefined) await typeToKeep(path, type, read);
  }
});
