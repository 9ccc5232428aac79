// The NDJSON file: which lines it accepts, and errors that name the line and never its content. Also the feed that keeps
// the store equal to the file.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { feedConversations } from '../../../src/export-service/conversation-feed.ts';
import {
  ConversationFileError,
  readConversationFile,
  readLine,
} from '../../../src/export-service/conversation-file.ts';
import { createConversationStore } from '../../../src/export-service/store/conversations.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { silentLogger } from '../../../src/runtime/logger.ts';

const folder = mkdtempSync(join(tmpdir(), 'conversation-file-'));
after(() => rmSync(folder, { recursive: true }));

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

test('a file may have a byte order mark, blank lines and any line end; a missing file is an error', async () => {
  const path = join(folder, 'mixed.ndjson');
  const line = (id: string): string => JSON.stringify({ ...good, id });
  writeFileSync(path, `\uFEFF${line('a')}\r\n\n${line('b')}\n  \n${line('c')}`);
  const rows = await Array.fromAsync(readConversationFile(path, 'default'));
  assert.deepEqual(
    rows.map((row) => row.document.id),
    ['a', 'b', 'c'],
  );
  await assert.rejects(
    () => Array.fromAsync(readConversationFile(join(folder, 'absent'), 'default')),
    (error) => error instanceof ConversationFileError && error.code === 'ENOENT',
  );
});

test('a file with a line above its limit is refused before the line is in memory', async () => {
  const path = join(folder, 'long.ndjson');
  const long = JSON.stringify({ ...good, response: 'x'.repeat(256 * 1024) });
  writeFileSync(path, `${JSON.stringify(good)}\n\n${long}\n`);
  const expected = { code: 'ConversationsInvalid', message: /^line 3 .* is longer than 262144 bytes/ };
  await assert.rejects(() => Array.fromAsync(readConversationFile(path, 'default')), expected);
  writeFileSync(path, `${JSON.stringify(good)}\n${'x'.repeat(3_000_000)}`);
  await assert.rejects(() => Array.fromAsync(readConversationFile(path, 'default')), {
    message: /^line 2 .* is longer/,
  });
  const fitting = JSON.stringify({ ...good, response: 'x'.repeat(250_000) });
  writeFileSync(path, `${fitting}\r\n${fitting}`);
  assert.equal((await Array.fromAsync(readConversationFile(path, 'default'))).length, 2);
});

test('the store follows its file, and keeps the old rows when an edit is not usable', async () => {
  const path = join(folder, 'fed.ndjson');
  const store = createConversationStore(folder);
  const count = (): number =>
    store.page('default', { dateFrom: undefined, dateTo: undefined, limit: 9, cursor: undefined }).documents
      .length;
  const warnings: string[] = [];
  const logger = { ...silentLogger, warn: (_fields: object, message: string) => warnings.push(message) };
  writeFileSync(path, JSON.stringify(good));
  const edge = { clock: systemClock, logger };
  const { refresh } = await feedConversations(store, { path, defaultProject: 'default' }, edge);
  assert.equal(count(), 1);
  writeFileSync(path, `${JSON.stringify(good)}\n${JSON.stringify({ ...good, id: 'c2' })}\n`);
  await Promise.all([refresh(), refresh()]);
  assert.equal(count(), 2);
  writeFileSync(path, 'not json at all');
  await refresh();
  await refresh();
  assert.equal(count(), 2);
  assert.equal(warnings.length, 1);
  await assert.rejects(() => feedConversations(store, { path, defaultProject: 'default' }, edge));
  store.close();
});

test('a large file is loaded in the background, and the old rows are listed until it is complete', async () => {
  const path = join(folder, 'large.ndjson');
  const store = createConversationStore(folder);
  const ids = (limit: number): readonly unknown[] =>
    store
      .page('default', { dateFrom: undefined, dateTo: undefined, limit, cursor: undefined })
      .documents.map((json): unknown => JSON.parse(json));
  let turns = 0;
  let whole = (): void => {};
  const loaded = new Promise<void>((resolve) => {
    whole = resolve;
  });
  const clock = {
    ...systemClock,
    after: (ms: number, signal?: AbortSignal) => {
      turns += 1;
      return systemClock.after(ms, signal);
    },
  };
  writeFileSync(path, JSON.stringify(good));
  const logger = {
    ...silentLogger,
    info: (fields: object) => {
      if ('conversations' in fields && fields.conversations === 2000) whole();
    },
  };
  const feed = await feedConversations(store, { path, defaultProject: 'default' }, { clock, logger });
  const rows = Array.from({ length: 2000 }, (_, index) => JSON.stringify({ ...good, id: `n${index}` }));
  writeFileSync(path, rows.join('\n'));
  turns = 0;
  await feed.refresh();
  assert.deepEqual(ids(9), [good]);
  await loaded;
  assert.equal(ids(5000).length, 2000);
  assert.ok(turns >= 20, `other work ran ${turns} times`);

  writeFileSync(path, rows.slice(1).join('\n'));
  await feed.refresh();
  await feed.stop();
  assert.equal(ids(5000).length, 2000, 'an interrupted load has changed nothing');
  const again = await feedConversations(store, { path, defaultProject: 'default' }, { clock, logger });
  assert.equal(ids(5000).length, 1999);
  await again.stop();
  store.close();
});
