// The NDJSON file: which lines it accepts, how reading continues where it ended, and errors that name the line and never
// its content.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import {
  ConversationFileError,
  type ReadPosition,
  readConversations,
  readLine,
} from '../../../../src/export-service/conversations/file-lines.ts';
import * as fc from '../../../support/properties.ts';

const folder = mkdtempSync(join(tmpdir(), 'conversation-file-'));
after(() => rmSync(folder, { recursive: true }));

async function readAll(path: string, from?: ReadPosition) {
  const file = await open(path, 'r');
  try {
    const { rows, position } = readConversations(file, from, 'default');
    return { rows: await Array.fromAsync(rows), position: position() };
  } finally {
    await file.close();
  }
}

const good = {
  id: 'c1',
  timestamp: '2024-01-15T10:30:00.000Z',
  query: 'how?',
  response: 'so.',
  sources: [{ title: 'T', url: 'https://docs.example.com/t' }],
  queryCategory: null,
  pageUrl: null,
  resolutionStatus: 'answered',
  conversationId: 'thread',
};

test('a line is a conversation of its project or of the default project; unknown fields are kept', () => {
  const row = readLine(JSON.stringify(good), 1, 'default');
  assert.deepEqual(row, { project: 'default', at: Date.UTC(2024, 0, 15, 10, 30), document: good });
  const other = readLine(JSON.stringify({ ...good, projectId: 'p2' }), 1, 'default');
  assert.equal(other.project, 'p2');
  assert.equal('projectId' in other.document, false);
  assert.equal(
    readLine(JSON.stringify({ ...good, timestamp: '2024-01-15T12:30:00+02:00' }), 1, 'd').at,
    row.at,
  );
});

test('a bad line is refused with its number and field', () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['{', /line 7 .*not JSON/],
    ['[]', /line 7 .*the object/],
    [JSON.stringify({ ...good, id: undefined }), /line 7 .*in id:/],
    [JSON.stringify({ ...good, id: '', query: 3 }), /line 7 .*in id, query:/],
    [JSON.stringify({ ...good, timestamp: 'hush' }), /line 7 .*in timestamp:/],
    [JSON.stringify({ ...good, timestamp: '2024-01-15' }), /line 7 .*in timestamp:/],
    [JSON.stringify({ ...good, timestamp: '1969-12-31T23:59:59Z' }), /line 7 .*before 1970/],
    [JSON.stringify({ ...good, resolutionStatus: 'maybe' }), /line 7 .*resolutionStatus/],
    [JSON.stringify({ ...good, sources: [{ title: 'T' }] }), /line 7 .*sources/],
  ];
  for (const [line, words] of rows) {
    assert.throws(
      () => readLine(line, 7, 'default'),
      (error) =>
        error instanceof ConversationFileError && words.test(error.message) && !/hush/.test(error.message),
      line,
    );
  }
});

test('a file may have a byte order mark, blank lines and any line end', async () => {
  const path = join(folder, 'mixed.ndjson');
  const line = (id: string): string => JSON.stringify({ ...good, id });
  writeFileSync(path, `\uFEFF${line('a')}\r\n\n${line('b')}\n  \n${line('c')}`);
  const { rows } = await readAll(path);
  assert.deepEqual(
    rows.map((row) => row.document.id),
    ['a', 'b', 'c'],
  );
});

test('a file with a line above its limit is refused before the line is in memory', async () => {
  const path = join(folder, 'long.ndjson');
  const long = JSON.stringify({ ...good, response: 'x'.repeat(256 * 1024) });
  writeFileSync(path, `${JSON.stringify(good)}\n\n${long}\n`);
  const expected = { code: 'ConversationsInvalid', message: /^line 3 .* is longer than 262144 bytes/ };
  await assert.rejects(() => readAll(path), expected);
  writeFileSync(path, `${JSON.stringify(good)}\n${'x'.repeat(3_000_000)}`);
  await assert.rejects(() => readAll(path), {
    message: /^line 2 .* is longer/,
  });
  const fitting = JSON.stringify({ ...good, response: 'x'.repeat(250_000) });
  writeFileSync(path, `${fitting}\r\n${fitting}`);
  assert.equal((await readAll(path)).rows.length, 2);
});

test('reading continues after the last newline, and errors keep counting lines', async () => {
  const path = join(folder, 'grown.ndjson');
  const line = (id: string): string => JSON.stringify({ ...good, id });
  writeFileSync(path, `${line('a')}\n\n${line('ü')}\n`);
  const { position } = await readAll(path);
  assert.deepEqual(position, { bytes: Buffer.byteLength(`${line('a')}\n\n${line('ü')}\n`), lines: 3 });

  writeFileSync(path, `${line('b')}\n${line('c')}`, { flag: 'a' });
  const grown = await readAll(path, position);
  assert.deepEqual(
    grown.rows.map((row) => row.document.id),
    ['b', 'c'],
  );
  assert.equal(grown.position.lines, 4, 'the line without newline is read again');

  writeFileSync(path, '\n{"id":', { flag: 'a' });
  const half = await readAll(path, grown.position);
  assert.deepEqual(
    half.rows.map((row) => row.document.id),
    ['c'],
  );
  assert.equal(half.position.lines, 5, 'a line that is being written is left');
  writeFileSync(path, '3}\n', { flag: 'a' });
  await assert.rejects(readAll(path, half.position), { message: /^line 6 .* in id, timestamp/ });
});

test('a whole file whose last line is cut is refused', async () => {
  const path = join(folder, 'cut.ndjson');
  writeFileSync(path, `${JSON.stringify(good)}\n{"id":`);
  await assert.rejects(readAll(path), { code: 'ConversationsInvalid', message: /^line 2 .* is not JSON/ });
});

test('read in two parts at any byte, a file gives the rows that it gives at once', async () => {
  const path = join(folder, 'parts.ndjson');
  const text = fc.string({ unit: 'grapheme', maxLength: 9 });
  await fc.assertAsync(
    fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 6 }), fc.nat(), async (queries, cut) => {
      const whole = Buffer.from(
        queries.map((query, at) => `${JSON.stringify({ ...good, id: `i${at}`, query })}\n`).join(''),
      );
      // The first line is there: a file of half a line is refused.
      const first = whole.indexOf(10) + 1;
      const end = first + (cut % (whole.length - first + 1));
      writeFileSync(path, whole.subarray(0, end));
      const start = await readAll(path, { bytes: 0, lines: 0 });
      writeFileSync(path, whole);
      const rest = await readAll(path, start.position);
      const seen = new Map(
        [...start.rows, ...rest.rows].map(({ document }) => [document.id, document.query]),
      );
      assert.deepEqual([...seen.values()], queries);
      assert.deepEqual(rest.position, { bytes: whole.length, lines: queries.length });
    }),
    { numRuns: 100 },
  );
});
