// The real LibreOffice opens exported CSV: what visitors wrote is never a formula, whichever way the file is opened, and each
// text comes back.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { plainText } from '#conversations/sinks/csv.ts';
import { key, rowAt, startListing } from '../../integration/cli/environment/scripted-listing.ts';
import { runInProcess } from '../../support/cli-in-process.ts';
import { readCsv } from '../../support/csv-reader.ts';
import { payloads } from '../payloads.ts';
import { openInSpreadsheet, saveFromSpreadsheet } from './spreadsheet.ts';

const at = Date.now() - 5 * 86_400_000;
const rows = payloads.map((query, index) => rowAt(at + index * 60_000, index, { query, response: query }));

/** Separators, quote, UTF-8, first line, formats, language, quoted as text, numbers, as shown, formulas, trim, sheet, evaluate. */
const ways = {
  'with its usual settings': '44,34,76,1',
  'with formulas evaluated and spaces trimmed': '44,34,76,1,,0,false,true,false,false,true,0,true',
  'with semicolons between cells': '59,34,76,1,,0,false,true,false,false,true,0,true',
  'with each separator': '44/59/9,34,76,1,,0,false,true,false,false,true,0,true',
};

/** LibreOffice keeps one kind of line break in a cell, and drops NUL. */
const asKept = (text: string): string => text.replace(/\r\n?/g, '\n').replaceAll('\0', '');

describe('exported CSV in a spreadsheet', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conversation-spreadsheet-'));
  const file = join(folder, 'turns.csv');
  const unguarded = join(folder, 'unguarded.csv');

  before(async () => {
    const listing = await startListing(rows);
    const source = ['--project', 'docs', '--api-base-url', listing.url, '--budget', '100000/h', '--quiet'];
    const words = ['conversations', 'export', ...source, '--format', 'csv', '--to', file];
    const env = { XDG_STATE_HOME: join(folder, 'home'), STATIC_EXPORT_API_KEY: key };
    const { code, stderr } = await runInProcess(words, { env }).finally(() => listing.close());
    assert.equal(code, 0, stderr);
    const quoted = payloads.map((text) => `x,"${text.replaceAll('"', '""')}"\r\n`);
    writeFileSync(unguarded, `name,query\r\n${quoted.join('')}`);
  });
  after(() => rmSync(folder, { recursive: true }));

  for (const [way, options] of Object.entries(ways)) {
    test(`no text is a formula ${way}, where the same texts without a tab are`, async () => {
      const [sheet, plain] = await openInSpreadsheet([file, unguarded], options);
      assert.ok((sheet?.rows ?? 0) > payloads.length, `${sheet?.rows} rows`);
      assert.deepEqual(sheet?.formulas, []);
      assert.ok((plain?.formulas.length ?? 0) >= 5, `${plain?.formulas.length} formulas without a tab`);
    });
  }

  test('each text comes back from what it saves again', async () => {
    const saved = await saveFromSpreadsheet(file, ways['with its usual settings']);
    const [header = [], ...cells] = readCsv(saved, '\n');
    for (const column of ['query', 'response']) {
      const index = header.indexOf(column);
      const texts = cells.map((row) => plainText(row[index] ?? ''));
      assert.deepEqual(texts.toSorted(), payloads.map(asKept).toSorted());
    }
  });
});
