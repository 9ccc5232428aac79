// The report of an export: read while its archive is read, hidden from visitors, and told as notes.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { siteReportPath } from '#bundle/export-documents.ts';
import { parseSiteReport, type SiteReport } from '#bundle/site-report.ts';
import { isHiddenFile } from '#bundle/store/hidden-files.ts';
import * as fc from '../../../support/properties.ts';
import { readBytes } from '../../../support/read-archive.ts';
import { tarOf } from '../../../support/tar-builder.ts';

const none = { count: 0, entries: [] };
const report: SiteReport = {
  ...{ schemaVersion: 1, pages: 1, files: 2, sizeBytes: 9 },
  missing: { asked: 7, count: 2, entries: [{ path: '/lost', reason: 'NotFound', from: '/' }] },
  leftOut: { count: 1, entries: [{ path: '/private', reason: 'RobotsDisallowed' }] },
  external: { count: 1, entries: [{ path: 'cdn.example/x.css', reason: 'External', from: '/a' }] },
  queryVariants: none,
  searchIndexes: none,
  notes: none,
};
const site = { 'index.html': 'home', 'a.css': 'a' };
const read = async (files: Readonly<Record<string, string>>) => (await readBytes(tarOf(files))).index;

test('the report of an archive is told as notes, each with a count and the page that asks', async () => {
  const { notes, report: found, pages } = await read({ ...site, [siteReportPath]: JSON.stringify(report) });
  assert.deepEqual(
    notes.map(({ code, count, example }) => [code, count, example]),
    [
      ['LeftOutOfExport', 1, '/private (RobotsDisallowed)'],
      ['LoadedFromElsewhere', 1, 'cdn.example/x.css (from /a)'],
      ['MissingFromExport', 2, '/lost (NotFound, from /)'],
    ],
  );
  assert.deepEqual(found, report);
  assert.equal(pages, 1);
});

test('a report that has nothing to say gives no note', async () => {
  const whole = { ...report, missing: { ...none, asked: 7 }, leftOut: none, external: none };
  assert.deepEqual((await read({ ...site, [siteReportPath]: JSON.stringify(whole) })).notes, []);
});

test('at the root it proves that the one top folder is a part of the addresses', async () => {
  const text = JSON.stringify(report);
  const files = { 'docs/index.html': 'd', 'docs/a.html': 'a', [siteReportPath]: text };
  const { files: found, notes } = await read(files);
  assert.deepEqual(found.map(({ path }) => path).sort(), Object.keys(files).sort());
  assert.equal(
    notes.some(({ code }) => code === 'WrappingFolderRemoved'),
    false,
  );
});

test('in a wrapping folder it is found, and one in another folder is a file like any other', async () => {
  const text = JSON.stringify(report);
  const wrapped = await read({ 'site/index.html': 'home', [`site/${siteReportPath}`]: text });
  assert.deepEqual(
    [wrapped.report, wrapped.files.map(({ path }) => path)],
    [report, [siteReportPath, 'index.html']],
  );
  const beside = await read({ ...site, [`docs/${siteReportPath}`]: text, [`x/${siteReportPath}`]: text });
  assert.equal(beside.report, undefined);
});

test('no visitor sees it, also with --serve-dotfiles, and what lies beside it is served', () => {
  assert.equal(isHiddenFile(siteReportPath, ['_sx', 'report.json', siteReportPath]), true);
  assert.equal(isHiddenFile('_sx/other.json'), false);
  assert.equal(isHiddenFile(`docs/${siteReportPath}`), false);
});

const texts: readonly (readonly [string, string])[] = [
  ['text', 'not JSON'],
  ['nested deeper than a stack holds', `${'['.repeat(400_000)}${']'.repeat(400_000)}`],
  ['another version', JSON.stringify({ ...report, schemaVersion: 2 })],
  ['a long list', JSON.stringify({ ...report, leftOut: { count: 1, entries: Array(201).fill({}) } })],
  ['a negative count', JSON.stringify({ ...report, pages: -1 })],
  ['a long text', JSON.stringify({ ...report, notes: { count: 1, entries: [{ code: 'x'.repeat(301) }] } })],
  ['a megabyte more', JSON.stringify(report).padEnd(1024 * 1024 + 1)],
];
for (const [name, text] of texts) {
  test(`a report that is ${name} counts as none, and the archive is read`, async () => {
    const { report: found, notes } = await read({ ...site, [siteReportPath]: text });
    assert.deepEqual([found, notes], [undefined, []]);
  });
}

test('a note of a report is short, shows no query, and takes a code for a reason', async () => {
  const entries = Array.from({ length: 200 }, (_, n) => ({
    path: `/${n}${'"'.repeat(200)}?X-Amz-Signature=secret`,
    reason: 'NotFound',
    from: `/${'y'.repeat(250)}?token=secret`,
  }));
  const text = JSON.stringify({ ...report, missing: { asked: 300, count: 200, entries } });
  const { notes } = await read({ ...site, [siteReportPath]: text });
  assert.ok(JSON.stringify(notes).length < 8 * 1024, `${JSON.stringify(notes).length}`);
  assert.doesNotMatch(JSON.stringify(notes), /secret/);
  const worded = {
    ...report,
    leftOut: { count: 1, entries: [{ path: '/a', reason: 'see http://x.example' }] },
  };
  assert.equal((await read({ ...site, [siteReportPath]: JSON.stringify(worded) })).report, undefined);
});

test('what a report says is printable, whatever stands in it', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (path) => {
      const bytes = Buffer.from(
        JSON.stringify({ ...report, leftOut: { count: 1, entries: [{ path, reason: 'NotFound' }] } }),
      );
      const [entry] = parseSiteReport(bytes)?.leftOut.entries ?? [];
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
      assert.doesNotMatch(`${entry?.path}${entry?.reason}`, /[\u0000-\u001f\u007f-\u009f\u202e\u2028]/);
    }),
  );
});
