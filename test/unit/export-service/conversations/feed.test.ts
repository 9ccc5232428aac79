// The feed with its real thread: the listing follows a file that grows, is edited, replaced, cut or spoiled, and answers
// from the old rows meanwhile.

import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { feedConversations } from '#export-service/conversations/feed.ts';
import { createConversationStore } from '#export-service/conversations/store.ts';
import { type Clock, systemClock } from '#platform/runtime/clock.ts';
import { silentLogger } from '#platform/runtime/logger.ts';

const program = new URL('../../../../src/bin/conversations-worker.ts', import.meta.url);

const line = (id: string, category: string | null = null): string =>
  JSON.stringify({
    id,
    timestamp: '2024-01-15T10:30:00.000Z',
    query: 'how?',
    response: 'so.',
    sources: [],
    queryCategory: category,
    pageUrl: null,
  });

/** No listing gives up waiting, however busy the machine is. */
const patient: Clock = { ...systemClock, after: (_ms, signal) => systemClock.after(1e9, signal) };
/** No listing waits. */
const impatient: Clock = {
  ...systemClock,
  after: (ms, signal) => systemClock.after(ms === 1000 ? 0 : ms, signal),
};

async function startFeed(context: TestContext, text: string, clock = patient) {
  const folder = mkdtempSync(join(tmpdir(), 'conversation-feed-'));
  const path = join(folder, 'turns.ndjson');
  writeFileSync(path, text);
  const store = createConversationStore(folder);
  const warnings: string[] = [];
  const logger = {
    ...silentLogger,
    warn: (fields: object) => {
      if ('error' in fields && fields.error instanceof Error) warnings.push(fields.error.message);
    },
  };
  const feed = await feedConversations(store, { path, defaultProject: 'p', program }, { clock, logger });
  context.after(async () => {
    await feed.stop();
    store.close();
    rmSync(folder, { recursive: true });
  });
  const listed = (): readonly string[] =>
    store
      .page('p', { dateFrom: undefined, dateTo: undefined, limit: 9999, cursor: undefined })
      .documents.map((json) => {
        const { id, queryCategory } = JSON.parse(json);
        return `${id} ${queryCategory}`;
      })
      .toSorted();
  return { path, feed, listed, warnings };
}

test('added lines are listed by the next listing, and a line that is being written once it is whole', async (context) => {
  const { path, feed, listed } = await startFeed(context, `${line('a')}\n`);
  appendFileSync(path, `${line('b')}\n${line('a', 'late')}\n`);
  await Promise.all([feed.refresh(), feed.refresh()]);
  assert.deepEqual(listed(), ['a late', 'b null']);
  appendFileSync(path, line('c').slice(0, 20));
  await feed.refresh();
  assert.deepEqual(listed(), ['a late', 'b null']);
  appendFileSync(path, `${line('c').slice(20)}\n`);
  await feed.refresh();
  assert.deepEqual(listed(), ['a late', 'b null', 'c null']);
});

test('a file that is replaced, edited or cut is listed as it is', async (context) => {
  const { path, feed, listed } = await startFeed(context, `${line('a')}\n${line('b')}\n`);
  writeFileSync(`${path}.new`, `${line('c')}\n${line('d')}\n${line('e')}\n`);
  renameSync(`${path}.new`, path);
  await feed.refresh();
  assert.deepEqual(listed(), ['c null', 'd null', 'e null']);
  writeFileSync(path, `${line('c')}\n${line('f')}\n${line('g')}\n${line('h')}\n`);
  await feed.refresh();
  assert.deepEqual(listed(), ['c null', 'f null', 'g null', 'h null']);
  truncateSync(path, line('c').length + 1);
  await feed.refresh();
  assert.deepEqual(listed(), ['c null']);
  truncateSync(path, 0);
  await feed.refresh();
  assert.deepEqual(listed(), []);
  appendFileSync(path, line('i'));
  await feed.refresh();
  assert.deepEqual(listed(), ['i null']);
});

test('a change that is not usable keeps the old rows, is reported once with its line, and is read when corrected', async (context) => {
  const { path, feed, listed, warnings } = await startFeed(context, `${line('a')}\n`);
  appendFileSync(path, `${line('b')}\n{"secret": 1}\n`);
  await feed.refresh();
  await feed.refresh();
  assert.deepEqual(listed(), ['a null']);
  rmSync(path);
  await feed.refresh();
  assert.deepEqual(listed(), ['a null']);
  assert.equal(warnings.length, 2, warnings.join());
  assert.match(warnings[0] ?? '', /^line 3 of the conversations file does not fit the contract in id/);
  assert.match(warnings[1] ?? '', /^cannot read the conversations file \(ENOENT\)/);
  assert.doesNotMatch(warnings.join(), /secret/);
  writeFileSync(path, `${line('a')}\n${line('b')}\n`);
  await feed.refresh();
  assert.deepEqual(listed(), ['a null', 'b null']);
});

test('a listing does not wait for a long load, and an interrupted load changes nothing', async (context) => {
  const { path, feed, listed } = await startFeed(context, `${line('a')}\n`, impatient);
  const lines = (count: number): string =>
    Array.from({ length: count }, (_, at) => `${line(`n${at}`)}\n`).join('');
  writeFileSync(`${path}.new`, lines(3000));
  renameSync(`${path}.new`, path);
  await feed.refresh();
  assert.deepEqual(listed(), ['a null']);
  while (listed().length === 1) {
    await feed.refresh();
    await systemClock.after(5);
  }
  assert.equal(listed().length, 3000);
  writeFileSync(path, lines(20_000));
  await feed.refresh();
  await feed.stop();
  assert.equal(listed().length, 3000);
});

test('a file that cannot be used at the start is an error with its line', async (context) => {
  await assert.rejects(startFeed(context, 'not json at all'), {
    code: 'ConversationsInvalid',
    message: /^line 1 of the conversations file is not JSON/,
  });
});
