// The listing against an oracle. For any rows, filters and page sizes, paging gives each matching row once, oldest
// first, and reports exactly when there are no more; also while rows are added between pages.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type ConversationDocument, ulidPattern } from '#export-api/contract.ts';
import { cursorOf, type StoredConversation } from '#export-service/conversations/cursor.ts';
import { buildIndex } from '#export-service/conversations/index-task.ts';
import { createConversationStore, pageQuery } from '#export-service/conversations/store.ts';
import { openSqlite } from '#export-service/store/database.ts';
import * as fc from '../../../support/properties.ts';

const folder = mkdtempSync(join(tmpdir(), 'conversations-'));
const store = createConversationStore(folder);
after(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const day = 86_400_000;
type Rows = Iterable<StoredConversation> | AsyncIterable<StoredConversation>;

async function* each(rows: Rows): AsyncGenerator<StoredConversation> {
  yield* rows;
}

/** Lists these rows and no others. @returns how many are different */
async function replaceAll(rows: Rows): Promise<number> {
  const path = store.nextPath();
  const count = await buildIndex(path, each(rows));
  await store.use(path);
  return count;
}

const noBounds = { dateFrom: undefined, dateTo: undefined, cursor: undefined };

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
  between: () => Promise<void> = () => Promise.resolve(),
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

test('a text that was cut inside of a character is listed as UTF-8 writes it', async () => {
  const { document, ...row } = conversation('cut', 0);
  await replaceAll([{ ...row, document: { ...document, query: 'cut \ud83d', response: '\\ud83d 😀' } }]);
  const { documents } = store.page('p', { ...noBounds, limit: 1 });
  assert.ok(
    documents.join('').includes('"query":"cut \ufffd","response":"\\\\ud83d 😀"'),
    documents.join(''),
  );
});

test('paging gives every matching row exactly once, oldest first', async () => {
  await fc.assertAsync(
    fc.asyncProperty(
      rows,
      bound,
      bound,
      fc.integer({ min: 1, max: 15 }),
      async (entries, from, to, limit) => {
        const all = entries.map(([id, days, project]) => conversation(String(id), days * day, project));
        const distinct = new Map(all.map((one) => [cursorOf(one), one]));
        assert.equal(await replaceAll(all), distinct.size);
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

test('rows added between pages neither hide nor repeat an earlier row', async () => {
  const first = Array.from({ length: 30 }, (_, index) => conversation(`a${index}`, index * 1000));
  await replaceAll(first);
  let added = 0;
  const seen = await collect({ dateFrom: undefined, dateTo: undefined }, 4, async () => {
    added += 1;
    const more = Array.from({ length: added }, (_, index) => conversation(`b${index}`, index * 7000));
    await replaceAll([...first, ...more]);
  });
  const ids = seen.map((one) => JSON.stringify(one));
  for (const one of first) assert.equal(ids.filter((id) => id === JSON.stringify(one.document)).length, 1);
  assert.equal(new Set(ids).size, ids.length);
});

test('a cursor is a ULID made from the row alone, with its time first', () => {
  const one = conversation('a', 1_700_000_000_000);
  assert.match(cursorOf(one), ulidPattern);
  assert.equal(cursorOf(one), cursorOf(structuredClone(one)));
  assert.notEqual(cursorOf(one), cursorOf({ ...one, project: 'other' }));
  assert.notEqual(cursorOf(one), cursorOf(conversation('b', one.at)));
  assert.ok(cursorOf(one) < cursorOf(conversation('a', one.at + 1)));
  assert.ok(cursorOf(conversation('z', 0)).startsWith('0000000000'));
});

test('date bounds are exact at the first and last instant of a ULID and a Date', async () => {
  await replaceAll([conversation('a', 0), conversation('b', 1), conversation('c', 2)]);
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

test('a page that ends at the last row has no next cursor', async () => {
  await replaceAll([conversation('a', 1), conversation('b', 2)]);
  const page = store.page('p', { dateFrom: undefined, dateTo: undefined, limit: 2, cursor: undefined });
  assert.equal(page.documents.length, 2);
  assert.equal(page.nextCursor, null);
});

test('a page of large rows is shorter than its limit, and the next page continues after it', async () => {
  const large = Array.from({ length: 50 }, (_, at) => {
    const { document, ...rest } = conversation(`l${at}`, at);
    return { ...rest, document: { ...document, extra: 'x'.repeat(200_000) } };
  });
  await replaceAll(large);
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

test('fields that the contract does not name are kept', async () => {
  const one = conversation('a', 5);
  await replaceAll([{ ...one, document: { ...one.document, conversationId: 'c', nested: { a: [1] } } }]);
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
  await replaceAll([conversation('a', 1, 'one')]);
  assert.deepEqual([store.hasProject('one'), store.hasProject('two')], [true, false]);
});

test('each load removes the file of the load before, and an interrupted load changes nothing', async () => {
  async function* failing(): AsyncGenerator<StoredConversation> {
    yield conversation('a', 1);
    throw new Error('cut off');
  }
  await replaceAll([conversation('a', 1, 'one')]);
  for (let round = 0; round < 2; round += 1) {
    await assert.rejects(replaceAll(failing()), { message: 'cut off' });
    assert.deepEqual([store.hasProject('one'), store.hasProject('p')], [true, false]);
    await replaceAll([conversation('b', 1, 'one')]);
    const main = readdirSync(folder).filter((name) => name.endsWith('.sqlite'));
    assert.equal(main.length, 1);
  }
});

test('a turn that comes again with another category replaces the one before, at the same cursor', async () => {
  const [early, late, other] = [conversation('a', 1000), conversation('a', 1000), conversation('a', 2000)];
  const categorised = { ...late, document: { ...late.document, queryCategory: 'setup', response: 'more' } };
  assert.equal(await replaceAll([early, other]), 2);
  const before = store.page('p', { ...noBounds, limit: 1 });
  assert.equal(await replaceAll([early, other, categorised]), 2);
  const after = store.page('p', { ...noBounds, limit: 1 });
  assert.equal(after.nextCursor, before.nextCursor);
  assert.deepEqual(
    after.documents.map((json): unknown => JSON.parse(json)),
    [categorised.document],
  );
  assert.deepEqual(
    store.page('p', { ...noBounds, limit: 9 }).documents.map((json): unknown => JSON.parse(json)),
    [categorised.document, other.document],
  );
});

test('a made-up cursor is a position in the asked project and shows no other', async () => {
  await replaceAll([conversation('a', 1), conversation('b', 5), conversation('c', 9, 'other')]);
  const ends = [
    '00000000000000000000000000',
    '7ZZZZZZZZZZZZZZZZZZZZZZZZZ',
    cursorOf(conversation('c', 9, 'other')),
  ];
  const counts = ends.map((cursor) => store.page('p', { ...noBounds, cursor, limit: 9 }).documents.length);
  assert.deepEqual(counts, [2, 0, 0]);
});

test('a page is found by both bounds of its positions, and its turns by their numbers', async () => {
  const path = store.nextPath();
  await replaceAll([conversation('a', 1)]);
  const connection = openSqlite(path);
  const plan = connection.prepare(`EXPLAIN QUERY PLAN ${pageQuery}`).all('p', '', '~', 1);
  connection.close();
  assert.deepEqual(
    plan.map((step) => String(step['detail'])),
    [
      'SEARCH positions USING PRIMARY KEY (project=? AND cursor>? AND cursor<?)',
      'SEARCH turns USING INTEGER PRIMARY KEY (rowid=?)',
    ],
  );
});
