// From typed texts to what the panel shows, with time and index in the hand of the test: the last text counts, titles fill a wait, and
// a text without a result is reported once.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SearchAnswer, SearchIndex } from '#site/search/search-results.ts';
import { createSearchSession, type SearchView } from '#site/search-client/search-session.ts';

const answerOf = (count: number, title = ''): SearchAnswer => ({
  count,
  results: Array.from({ length: count }, () => ({
    ...{ path: 'a.html', anchor: '', breadcrumbs: [] },
    title: { text: title, marks: [] },
    heading: { text: '', marks: [] },
    excerpt: { text: '', marks: [] },
  })),
});

function startSession(opening: Promise<void> = Promise.resolve()) {
  const waits = new Map<() => void, number>();
  const views: SearchView[] = [];
  const missing: string[] = [];
  const asked: { query: string; answer(found: SearchAnswer): void; fail(): void }[] = [];
  let now = 0;
  let isBroken = false;
  const index: SearchIndex = {
    language: 'en',
    searchTitles: (query) => answerOf(1, `title of ${query}`),
    search: (query) => {
      const { promise, resolve, reject } = Promise.withResolvers<SearchAnswer>();
      asked.push({ query, answer: resolve, fail: () => reject(new Error('gone')) });
      return promise;
    },
  };
  const session = createSearchSession({
    openIndex: async () => {
      if (isBroken) throw new Error('no index');
      await opening;
      return index;
    },
    timers: {
      after: (milliseconds, run) => {
        waits.set(run, now + milliseconds);
        return () => waits.delete(run);
      },
      whenIdle: (run) => run(),
    },
    show: (view) => views.push(view),
    reportMissing: (query) => missing.push(query),
  });
  const pass = async (milliseconds: number): Promise<void> => {
    now += milliseconds;
    for (const [run, at] of [...waits]) {
      if (at > now) continue;
      waits.delete(run);
      run();
    }
    for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
  };
  return { session, views, missing, asked, pass, breakIndex: () => (isBroken = true) };
}

const shown = (views: readonly SearchView[]): readonly string[] =>
  views.map((view) =>
    view.kind === 'answered'
      ? `${view.query}: ${view.answer.count}${view.isFinal ? '' : ' so far'}`
      : view.kind,
  );

test('titles are shown at once where the wait for the index was long enough', async () => {
  const opening = Promise.withResolvers<void>();
  const { session, views, pass, asked } = startSession(opening.promise);
  session.type('install');
  await pass(60);
  await pass(80);
  assert.deepEqual(shown(views), ['searching']);
  opening.resolve();
  await pass(0);
  assert.deepEqual(shown(views), ['searching', 'install: 1 so far']);
  asked[0]?.answer(answerOf(2));
  await pass(0);
  assert.deepEqual(shown(views).slice(2), ['install: 2']);
});

test('keys that follow each other quickly are one search', async () => {
  const { session, asked, views, pass } = startSession();
  for (const text of ['i', 'in', ' in ', 'ins  tall']) session.type(text);
  await pass(100);
  assert.deepEqual(
    asked.map(({ query }) => query),
    ['ins tall'],
  );
  asked[0]?.answer(answerOf(2));
  await pass(0);
  assert.deepEqual(shown(views), ['searching', 'searching', 'searching', 'ins tall: 2']);
});

test('titles are shown where the texts of pages take longer, and the answer replaces them', async () => {
  const { session, asked, views, pass } = startSession();
  session.type('a');
  await pass(60);
  await pass(80);
  asked[0]?.answer(answerOf(3));
  await pass(0);
  assert.deepEqual(shown(views), ['searching', 'a: 1 so far', 'a: 3']);
});

test('an answer to an earlier text is not shown', async () => {
  const { session, asked, views, pass } = startSession();
  session.type('a');
  await pass(60);
  session.type('b');
  await pass(60);
  asked[1]?.answer(answerOf(2));
  await pass(0);
  asked[0]?.answer(answerOf(9));
  await pass(1000);
  session.type('');
  assert.deepEqual(shown(views), ['searching', 'searching', 'b: 2', 'empty']);
});

test('an answer without a file of the index is a failure, and is not reported as a text without a result', async () => {
  const { session, asked, views, missing, pass } = startSession();
  session.type('a');
  await pass(60);
  asked[0]?.answer({ ...answerOf(0), isPartial: true });
  await pass(0);
  await pass(2000);
  session.settle();
  assert.deepEqual([shown(views), missing], [['searching', 'failed'], []]);
});

test('a text without a result is reported once, when a reader has left it as it is', async () => {
  const { session, asked, missing, pass } = startSession();
  const type = async (text: string): Promise<void> => {
    session.type(text);
    await pass(60);
    asked.at(-1)?.answer(answerOf(0));
    await pass(0);
  };
  await type('zeb');
  await type('zebra');
  assert.deepEqual(missing, []);
  await pass(1500);
  assert.deepEqual(missing, ['zebra']);
  session.settle();
  await type('gnu');
  session.settle();
  await pass(1500);
  await type('zebra');
  await pass(1500);
  assert.deepEqual(missing, ['zebra', 'gnu']);
});

test('an index that cannot be loaded is shown as failed, and the next text tries again', async () => {
  const { session, views, missing, asked, pass, breakIndex } = startSession();
  session.type('a');
  await pass(60);
  asked[0]?.fail();
  await pass(0);
  breakIndex();
  session.prepare();
  session.type('b');
  await pass(60);
  await pass(2000);
  assert.deepEqual(shown(views), ['searching', 'failed', 'searching', 'failed']);
  assert.deepEqual(missing, []);
});
