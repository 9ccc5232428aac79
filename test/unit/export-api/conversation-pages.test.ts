// Paging: identical filters, only the last cursor, and an end to endless listings.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExportApiError } from '#export-api/answers.ts';
import { type ConversationQuery, readConversationPage } from '#export-api/conversation-answers.ts';
import { pagesOf } from '#export-api/conversation-pages.ts';

const never = new AbortController().signal;

function serviceOf(bodies: readonly unknown[]) {
  const asked: ConversationQuery[] = [];
  return {
    asked,
    listConversations: async (query: ConversationQuery) => {
      asked.push(query);
      const page = readConversationPage(bodies[asked.length - 1] ?? bodies.at(-1));
      assert.ok(page);
      return page;
    },
  };
}

async function collect(bodies: readonly unknown[]) {
  const service = serviceOf(bodies);
  const rows: (string | undefined)[] = [];
  let error: unknown;
  try {
    for await (const page of pagesOf(service, { projectId: 'p', dateTo: 5, limit: 2 }, never)) {
      rows.push(...page.rows.map((row) => row.id));
    }
  } catch (thrown) {
    error = thrown;
  }
  return { rows, error, asked: service.asked };
}

const page = (ids: readonly string[], nextCursor: unknown, hasMore: unknown) => ({
  conversations: ids.map((id) => ({ id })),
  nextCursor,
  hasMore,
});

test('pages are read by cursor, with unchanged filters, until hasMore is false or nextCursor is null', async () => {
  for (const last of [page(['c'], null, false), page(['c'], 'X', false), page(['c'], null, undefined)]) {
    const { rows, error, asked } = await collect([page(['a', 'b'], 'C1', true), page([], 'C2', true), last]);
    assert.equal(error, undefined);
    assert.deepEqual(rows, ['a', 'b', 'c']);
    assert.deepEqual(asked, [
      { projectId: 'p', dateTo: 5, limit: 2, cursor: undefined },
      { projectId: 'p', dateTo: 5, limit: 2, cursor: 'C1' },
      { projectId: 'p', dateTo: 5, limit: 2, cursor: 'C2' },
    ]);
  }
});

/** Always with a cursor that was not used before. */
const repeating = (idsOf: (at: number) => readonly string[]) =>
  Array.from({ length: 50 }, (_, at) => page(idsOf(at), `C${at}`, true));

test('pages that come twice, or repeat some rows, lead to the end of the listing', async () => {
  for (const pages of [
    [['a'], ['a'], ['b'], ['b'], ['c']],
    [['a', 'b'], ['b', 'a'], ['b', 'c'], ['a'], [], ['d'], ['d']],
    // The last page needs nothing new.
    [['a'], ['a'], ['a']],
    [['a', 'a'], ['a', 'a'], ['b']],
  ]) {
    const bodies = pages.map((ids, at) => page(ids, `C${at}`, at < pages.length - 1));
    const { rows, error } = await collect(bodies);
    assert.equal(error, undefined);
    assert.deepEqual(rows, pages.flat());
  }
});

test('a listing without an end, or with a missing cursor, is an error after its rows', async () => {
  const endless = Array.from({ length: 50 }, (_, index) => page([], `C${index}`, true));
  const cases = [
    { bodies: [page(['a'], null, true)], rows: ['a'], words: /no cursor/ },
    { bodies: [page(['a'], 'C1', true), page(['b'], 'C1', true)], rows: ['a', 'b'], words: /same cursor/ },
    { bodies: [page(['a'], 'C', true), ...endless], rows: ['a'], words: /empty pages/ },
    { bodies: repeating((at) => [['a']][at] ?? ['a']), rows: ['a', 'a', 'a'], words: /no new conversation/ },
    {
      // A part of what came before is nothing new, and an empty page between is no progress.
      bodies: repeating((at) => [['a', 'b'], ['b'], [], ['a']][at] ?? []),
      rows: ['a', 'b', 'b', 'a'],
      words: /no new conversation/,
    },
    {
      bodies: repeating((at) => [['a'], ['b'], ['c']][at % 3] ?? []),
      rows: ['a', 'b', 'c', 'a', 'b'],
      words: /no new conversation/,
    },
  ];
  for (const { bodies, rows, words } of cases) {
    const seen = await collect(bodies);
    assert.deepEqual(seen.rows, rows);
    assert.ok(seen.error instanceof ExportApiError);
    assert.equal(seen.error.code, 'UnexpectedAnswer');
    assert.match(seen.error.message, words);
  }
});
