// The listing against an oracle: whatever the rows, filters and page sizes, paging gives each matching row
// once, oldest first, and says exactly when there is no more; also while rows are added between pages.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { type ConversationDocument, ulidPattern } from '../../../../src/export-api/contract.ts';
import {
  createConversationStore,
  cursorOf,
  type StoredConversation,
} from '../../../../src/export-service/store/conversations.ts';
import { openDatabase } from '../../../../src/export-service/store/database.ts';
import { createJobStore } from '../../../../src/export-service/store/jobs.ts';

const folder = mkdtempSync(join(tmpdir(), 'conversations-'));
const database = await openDatabase(folder);
const store = createConversationStore(database);
after(() => {
  database.close();
  rmSync(folder, { recursive: true });
});

const day = 86_400_000;
const pause = (): Promise<void> => Promise.resolve();

function conversation(id: string, at: number, project = 'p'): StoredConversation {
  const document: ConversationDocument = {
    id,
    timestamp: new Date(at).toISOString(),
    query: `q${id}`,
    response: 'r',
    sources: [],
    queryCategory: null,
    pageUrl: null,
  };
  return { project, at, document };
}

interface Filters {
  readonly dateFrom: number | undefined;
  readonly dateTo: number | undefined;
}

async function collect(
  filters: Filters,
  limit: number,
  between: () => Promise<void> = pause,
): Promise<readonly unknown[]> {
  const rows: unknown[] = [];
  let cursor: string | undefined;
  for (let pages = 0; pages < 200; pages += 1) {
    const page = store.page('p', { ...filters, limit, cursor });
    rows.push(...page.documents.map((json): unknown => JSON.parse(json)));
    assert.ok(page.documents.length <= limit);
    if (page.nextCursor === null) return rows;
    assert.equal(page.documents.length, limit, 'only the last page may be short');
    assert.match(page.nextCursor, ulidPattern);
    cursor = page.nextCursor;
    await between();
  }
  assert.fail('paging does not end');
}

/** Few instants, so that equal timestamps are common. */
const rows = fc.array(fc.tuple(fc.nat(20), fc.nat(6), fc.constantFrom('p', 'other')), { maxLength: 60 });
const bound = fc.option(fc.nat(7), { nil: undefined });

test('paging gives every matching row exactly once, oldest first', async () => {
  await fc.assert(
    fc.asyncProperty(
      rows,
      bound,
      bound,
      fc.integer({ min: 1, max: 15 }),
      async (entries, from, to, limit) => {
        const all = entries.map(([id, days, project]) => conversation(String(id), days * day, project));
        const distinct = new Map(all.map((one) => [cursorOf(one), one]));
        assert.equal(await store.replaceAll(all, pause), distinct.size);
        const dateFrom = from === undefined ? undefined : from * day;
        const dateTo = to === undefined ? undefined : to * day;
        const expected = [...distinct]
          .filter(([, one]) => one.project === 'p')
          .filter(([, one]) => dateFrom === undefined || one.at >= dateFrom)
          .filter(([, one]) => dateTo === undefined || one.at < dateTo)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([, one]) => one.document);
        const seen = await collect({ dateFrom, dateTo }, limit);
        assert.deepEqual(seen, expected);
        const times = expected.map((one) => one.timestamp);
        assert.deepEqual(times, times.toSorted());
      },
    ),
    { numRuns: 200 },
  );
});

test('rows added between pages disturb no row that was there before', async () => {
  const first = Array.from({ length: 30 }, (_, index) => conversation(`a${index}`, index * 1000));
  await store.replaceAll(first, pause);
  let added = 0;
  const seen = await collect({ dateFrom: undefined, dateTo: undefined }, 4, async () => {
    added += 1;
    const more = Array.from({ length: added }, (_, index) => conversation(`b${index}`, index * 7000));
    await store.replaceAll([...first, ...more], pause);
  });
  const ids = seen.map((one) => JSON.stringify(one));
  for (const one of first) assert.equal(ids.filter((id) => id === JSON.stringify(one.document)).length, 1);
  assert.equal(new Set(ids).size, ids.length);
});

test('a cursor is a ULID of the row alone: its time first, and the same after every load', () => {
  const one = conversation('a', 1_700_000_000_000);
  assert.match(cursorOf(one), ulidPattern);
  assert.equal(cursorOf(one), cursorOf(structuredClone(one)));
  assert.notEqual(cursorOf(one), cursorOf({ ...one, project: 'other' }));
  assert.notEqual(cursorOf(one), cursorOf(conversation('b', one.at)));
  assert.ok(cursorOf(one) < cursorOf(conversation('a', one.at + 1)));
  assert.ok(cursorOf(conversation('z', 0)).startsWith('0000000000'));
});

test('date bounds are exact at the edges of what a ULID and a Date can say', async () => {
  await store.replaceAll([conversation('a', 0), conversation('b', 1), conversation('c', 2)], pause);
  const count = async (dateFrom: number | undefined, dateTo: number | undefined): Promise<number> =>
    (await collect({ dateFrom, dateTo }, 10)).length;
  const rows: readonly (readonly [number | undefined, number | undefined, number])[] = [
    [undefined, undefined, 3],
    [0, 3, 3],
    [1, 2, 1],
    [1, 1, 0],
    [2, 1, 0],
    [-5, 0, 0],
    [-5, 1, 1],
    [-8.64e15, 8.64e15, 3],
    [8.64e15, undefined, 0],
  ];
  for (const [from, to, expected] of rows) assert.equal(await count(from, to), expected, `${from} ${to}`);
});

test('a page that ends exactly at the last row says that there is no more', async () => {
  await store.replaceAll([conversation('a', 1), conversation('b', 2)], pause);
  const page = store.page('p', { dateFrom: undefined, dateTo: undefined, limit: 2, cursor: undefined });
  assert.equal(page.documents.length, 2);
  assert.equal(page.nextCursor, null);
});

test('a page of large rows is shorter than asked for, and the next one goes on behind it', async () => {
  const large = Array.from({ length: 50 }, (_, at) => {
    const { document, ...rest } = conversation(`l${at}`, at);
    return { ...rest, document: { ...document, extra: 'x'.repeat(200_000) } };
  });
  await store.replaceAll(large, pause);
  const seen: string[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = store.page('p', { dateFrom: undefined, dateTo: undefined, limit: 1000, cursor });
    assert.ok(page.documents.length > 0);
    assert.ok(page.documents.join('').length <= 4 * 1024 * 1024);
    seen.push(...page.documents);
    if (page.nextCursor === null) break;
    cursor = page.nextCursor;
  }
  assert.deepEqual(
    seen,
    large.map(({ document }) => JSON.stringify(document)),
  );
});

test('rows are written in slices by all that they hold, not by question and answer alone', async () => {
  const large = Array.from({ length: 20 }, (_, at) => {
    const { document, ...rest } = conversation(`s${at}`, at);
    return { ...rest, document: { ...document, extra: 'x'.repeat(200_000) } };
  });
  let pauses = 0;
  await store.replaceAll(large, async () => {
    pauses += 1;
  });
  // Two rows reach the length of a slice; all twenty would be one by their number.
  assert.ok(pauses >= 10, `${pauses}`);
});

test('fields that the contract does not name survive storing', async () => {
  const one = conversation('a', 5);
  await store.replaceAll(
    [{ ...one, document: { ...one.document, conversationId: 'c', nested: { a: [1] } } }],
    pause,
  );
  const { documents } = store.page('p', {
    dateFrom: undefined,
    dateTo: undefined,
    limit: 1,
    cursor: undefined,
  });
  assert.deepEqual(
    documents.map((json): unknown => JSON.parse(json)),
    [{ ...one.document, conversationId: 'c', nested: { a: [1] } }],
  );
});

test('a project is known while it has a row', async () => {
  await store.replaceAll([conversation('a', 1, 'one')], pause);
  assert.deepEqual([store.hasProject('one'), store.hasProject('two')], [true, false]);
});

test('a data folder of the version before keeps its jobs, and reads its conversations anew', async () => {
  const older = mkdtempSync(join(tmpdir(), 'conversations-older-'));
  const first = await openDatabase(older);
  createJobStore(first).start({ id: 'a', domain: 'docs.example.com', now: 1, maxQueued: 1 });
  first.connection.exec(`
    DROP TABLE conversations; DROP TABLE current_load;
    CREATE TABLE conversations (project TEXT NOT NULL, cursor TEXT NOT NULL, document TEXT NOT NULL,
      PRIMARY KEY (project, cursor)) STRICT, WITHOUT ROWID;
    INSERT INTO conversations VALUES ('p', '0', '{}');
    PRAGMA user_version = 1;`);
  first.close();
  const second = await openDatabase(older);
  assert.equal(createJobStore(second).find('a')?.status, 'queued');
  const conversations = createConversationStore(second);
  assert.equal(conversations.hasProject('p'), false);
  assert.equal(await conversations.replaceAll([conversation('a', 1)], pause), 1);
  assert.equal(conversations.hasProject('p'), true);
  second.close();
  rmSync(older, { recursive: true });
});
