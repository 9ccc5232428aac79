// The NDJSON file: which lines it accepts, and errors that name the line and never its content.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { readConversations } from '#export-service/conversations/file-lines.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();

async function readAll(path: string, mayGrow = false) {
  const file = await open(path, 'r');
  try {
    return await Array.fromAsync(readConversations(file, { defaultProject: 'default', mayGrow }));
  } finally {
    await file.close();
  }
}

const writeLines = (...lines: readonly string[]): string => {
  const path = join(folder, 'lines.ndjson');
  writeFileSync(path, lines.join('\n'));
  return path;
};

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

test('a line is a conversation of its project or of the default project; unknown fields are kept', async () => {
  const [row, other, shifted] = await readAll(
    writeLines(
      JSON.stringify(good),
      JSON.stringify({ ...good, projectId: 'p2' }),
      JSON.stringify({ ...good, timestamp: '2024-01-15T12:30:00+02:00' }),
    ),
  );
  assert.deepEqual(row, { project: 'default', at: Date.UTC(2024, 0, 15, 10, 30), document: good });
  assert.deepEqual(other, { ...row, project: 'p2' });
  assert.equal(shifted?.at, row?.at);
});

test('a bad line is refused with its number and field', async () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ['{', /line 3 .*not JSON/],
    ['[]', /line 3 .*the object/],
    [JSON.stringify({ ...good, id: undefined }), /line 3 .*in id:/],
    [JSON.stringify({ ...good, id: '', query: 3 }), /line 3 .*in id, query:/],
    [JSON.stringify({ ...good, timestamp: 'hush' }), /line 3 .*in timestamp:/],
    [JSON.stringify({ ...good, timestamp: '2024-01-15' }), /line 3 .*in timestamp:/],
    [JSON.stringify({ ...good, timestamp: '1969-12-31T23:59:59Z' }), /line 3 .*before 1970/],
    [JSON.stringify({ ...good, resolutionStatus: 'maybe' }), /line 3 .*resolutionStatus/],
    [JSON.stringify({ ...good, sources: [{ title: 'T' }] }), /line 3 .*sources/],
  ];
  for (const [line, words] of rows) {
    await assert.rejects(
      readAll(writeLines(JSON.stringify(good), '', line)),
      (error) =>
        error instanceof PublishableError && words.test(error.message) && !/hush/.test(error.message),
      line,
    );
  }
});

test('a file may have a byte order mark, blank lines and any line end', async () => {
  const path = join(folder, 'mixed.ndjson');
  const line = (id: string): string => JSON.stringify({ ...good, id });
  writeFileSync(path, `\uFEFF${line('a')}\r\n\n${line('b')}\n  \n${line('c')}`);
  const rows = await readAll(path);
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
  assert.equal((await readAll(path)).length, 2);
});

test('a last line that is cut is refused at the start, and left out of a file that may grow', async () => {
  const path = writeLines(JSON.stringify(good), '{"id":');
  await assert.rejects(readAll(path), { code: 'ConversationsInvalid', message: /^line 2 .* is not JSON/ });
  assert.equal((await readAll(path, true)).length, 1);
  assert.equal((await readAll(writeLines(JSON.stringify(good)), true)).length, 1);
  await assert.rejects(readAll(writeLines('{"id":', JSON.stringify(good)), true), { message: /^line 1 / });
});
