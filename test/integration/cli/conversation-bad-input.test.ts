// `conversations export` against what an export API, a receiver or a clock may do wrong: each has its exit code and message,
// prints no text of an answer, and the next run has every turn once.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { portOf } from '../../support/storage-server.ts';
import {
  expectedQueries,
  hour,
  now,
  queriesOf,
  usualRows,
  workplace,
} from './environment/conversation-workplace.ts';
import { rowAt, type ScriptedAnswer, type SentRow } from './environment/scripted-listing.ts';

const expected = (rows: readonly SentRow[] = usualRows) => expectedQueries(rows, Date.now() - hour / 4);
const since = ['--since', '11d'];
const words = 'words of the answer';

/** As the specification has them, and as gateways answer in place of the export API. */
const refusals: readonly (readonly [name: string, answer: ScriptedAnswer])[] = [
  ...[
    'dateFrom must be a date-time',
    'dateTo must be a date',
    'limit must be 1 to 1000',
    'cursor must be a ULID',
  ].map((message): readonly [string, ScriptedAnswer] => [
    `of ${message.split(' ')[0]}`,
    { status: 400, body: JSON.stringify({ error: words, details: [{ message: `${words}: ${message}` }] }) },
  ]),
  ['without details', { status: 400, body: JSON.stringify({ error: words }) }],
  ['with details of another form', { status: 400, body: JSON.stringify({ error: [words], details: words }) }],
  ['of a gateway', { status: 400, body: `<html>${words}</html>`, headers: { 'content-type': 'text/html' } }],
  ['without a body', { status: 400, body: '' }],
];

test('each 400 of the export API exits with 4, prints none of it, and what was read before stays', async (t) => {
  const { listing, run, turns } = await workplace(t);
  listing.pageSize = 100;
  for (const [name, answer] of refusals) {
    listing.requests = 0;
    listing.before = async (_request, query) =>
      Date.parse(query.get('dateTo') ?? '') > now - 24 * hour && query.get('cursor') === null
        ? answer
        : undefined;
    const { code, stdout, stderr } = await run(...since, '-o', 'json');
    const document = JSON.parse(stdout);
    assert.deepEqual([code, document.code, document.retryable], [4, 'BadRequest', false], name);
    assert.match(String(document.next), /--since, --until and --limit/);
    assert.ok(!(stdout + stderr).includes(words), name);
    assert.ok(turns().length > 0);
  }
  listing.before = async () => undefined;
  assert.equal((await run(...since)).code, 0);
  assert.deepEqual(queriesOf(turns()), expected());
});

test('a server error exits with 5, and the next run goes on', async (t) => {
  const { listing, run, runLoud, turns } = await workplace(t);
  listing.pageSize = 100;
  listing.before = async (request) =>
    request > 3 ? { status: 500, body: `{"error":"${words}"}` } : undefined;
  // Its retries wait half a minute.
  const { code, stdout, stderr } = await runLoud({ speed: 10 }, ...since, '-o', 'json');
  const failure = JSON.parse(stdout);
  assert.deepEqual([code, failure.code, failure.retryable], [5, 'ServerError', true]);
  assert.match(failure.message, new RegExp(`\\(status 500\\). It answered: "${words}"`));
  assert.ok(stderr.includes(words));
  listing.before = async () => undefined;
  assert.equal((await run(...since)).code, 0);
  assert.deepEqual(queriesOf(turns()), expected());
});

/** No window is short enough for them to fit on one page. */
const sameTime = usualRows
  .slice(0, 12)
  .map((row) => ({ ...row, timestamp: new Date(now - 9 * hour).toISOString() }));
for (const status of [400, 404, 410]) {
  test(`cursors that always expire (${status}) exit with 5, and the next run goes on`, async (t) => {
    const { listing, run, turns } = await workplace(t, sameTime);
    listing.pageSize = 5;
    listing.before = async (_request, query) =>
      query.get('cursor') === null ? undefined : { status, body: '{"error":"expired"}' };
    const { code, stdout } = await run('--since', '2d', '-o', 'json');
    const document = JSON.parse(stdout);
    assert.deepEqual([code, document.code], [5, 'ListingIncomplete']);
    assert.match(document.message, /refused its own cursor.*next run reads these windows again/);
    listing.before = async () => undefined;
    assert.equal((await run('--since', '2d')).code, 0);
    assert.deepEqual(queriesOf(turns()), expected(sameTime));
  });
}

test('a page of more than 64 MiB exits with 5 and names --limit, and fewer turns are read', async (t) => {
  const { listing, run, turns } = await workplace(t, usualRows.slice(-40));
  const answer = 'x'.repeat(65 * 1024 * 1024);
  listing.before = async (_request, query) =>
    query.get('limit') === '10'
      ? undefined
      : { status: 200, body: `{"conversations":[{"response":"${answer}"}]}` };
  const { code, stdout } = await run(...since, '-o', 'json');
  const document = JSON.parse(stdout);
  assert.deepEqual([code, document.code], [5, 'UnexpectedAnswer']);
  assert.match(String(document.next), /lower --limit/);
  assert.equal((await run(...since, '--limit', '10')).code, 0);
  assert.deepEqual(queriesOf(turns()), expected(usualRows.slice(-40)));
});

test('pages that repeat, that are empty, or that come in any order give each turn once', async (t) => {
  const rows = usualRows.map((row, index) => usualRows[(index * 7919) % usualRows.length] ?? row);
  assert.equal(new Set(rows).size, usualRows.length);
  const { listing, run, turns } = await workplace(t, [...rows, ...rows.slice(0, 40)]);
  listing.pageSize = 30;
  const asked = new Map<string, number>();
  listing.before = async (_request, query) => {
    const place = `${query.get('dateFrom')} ${query.get('cursor')}`;
    const count = (asked.get(place) ?? 0) + 1;
    asked.set(place, count);
    const cursor = Number(query.get('cursor') ?? 0);
    // Every second page comes twice, and every third one is announced by an empty page.
    const isInside = (at: string): boolean =>
      at >= (query.get('dateFrom') ?? '') && at < (query.get('dateTo') ?? '9');
    const found = listing.rows.filter(({ timestamp }) => isInside(timestamp)).toReversed();
    if (cursor % 1 !== 0 || found.length <= 30) return undefined;
    const page = Math.floor(cursor / 30);
    if (page % 2 === 1) return pageOf(found.slice(cursor, cursor + 30), `${cursor + 0.5}`);
    return page % 3 === 2 ? pageOf([], `${cursor + 0.5}`) : undefined;
  };
  const pageOf = (conversations: readonly SentRow[], nextCursor: string): ScriptedAnswer => ({
    status: 200,
    body: JSON.stringify({ conversations, nextCursor, hasMore: true }),
  });
  const { code, stderr } = await run(...since);
  assert.equal(code, 0, stderr);
  assert.ok(
    [...asked.keys()].some((place) => place.endsWith('.5')),
    'a page was repeated',
  );
  const found = queriesOf(turns());
  assert.deepEqual([...new Set(found)], expected());
  // Equal rows of one page are twins, and not one row that came twice.
  assert.ok(found.length - usualRows.length <= 40);
});

test('flags that are not valid exit with 2 before a request', async (t) => {
  const { listing, run } = await workplace(t);
  for (const flags of [
    ['--limit', '0'],
    ['--limit', '1001'],
    ['--since', 'yesterday'],
    ['--since', '2026-02-30'],
    ['--since', '2d', '--until', '3d'],
    ['--budget', '0/h'],
    ['--budget', '5/h', '--reserve', '5'],
    ['--to', 'ftp://example.com/turns'],
    ['--to', 's3://bucket/../x'],
    ['--format', 'sqlite', '--to', 's3://bucket/x'],
    ['--to', 'http://example.com/hook'],
  ]) {
    const { code, stderr } = await run(...flags);
    assert.equal(code, 2, `${flags.join(' ')}: ${stderr}`);
  }
  assert.equal(listing.requests, 0);
});

test('a clock that was set back warns and loses nothing, and a right one reads on', async (t) => {
  const { listing, run, runLoud, turns } = await workplace(t);
  assert.equal((await run(...since)).code, 0);
  const before = queriesOf(turns());
  listing.rows = [...usualRows, rowAt(Date.now() - hour, 777)];
  const back = await runLoud({ clockMs: -86_400_000 }, ...since);
  assert.equal(back.code, 0, back.stderr);
  assert.match(back.stderr, /The clock is behind the last run, which read until .*Check the clock/);
  assert.deepEqual(queriesOf(turns()), before);
  const last = await runLoud({}, ...since);
  assert.equal(last.code, 0, last.stderr);
  assert.doesNotMatch(last.stderr, /clock/);
  assert.deepEqual(queriesOf(turns()), expected(listing.rows));
});

test('a receiver that refuses exits with 9, and gets every turn when it accepts', async (t) => {
  const { folder, run } = await workplace(t, usualRows.slice(-40));
  const taken = new Map<string, unknown>();
  let status = 401;
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await Array.fromAsync<Buffer>(request)).toString('utf8');
    if (status === 204) for (const turn of JSON.parse(text).turns) taken.set(turn.turn_key, turn.query);
    response.writeHead(status).end(status === 204 ? undefined : words);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const secret = join(folder, 'webhook-secret');
  writeFileSync(secret, 'a-secret-of-the-webhook');
  const flags = [
    ...since,
    '--to',
    `http://127.0.0.1:${portOf(server)}/hook`,
    '--webhook-secret-file',
    secret,
  ];
  const refused = await run(...flags, '-o', 'json');
  const { code, message } = JSON.parse(refused.stdout);
  assert.deepEqual([refused.code, code], [9, 'WebhookRefused']);
  assert.match(message, /answered 401; check its secret and what it allows/);
  assert.ok(!(refused.stdout + refused.stderr).includes(words));
  status = 204;
  assert.equal((await run(...flags)).code, 0);
  assert.deepEqual([...taken.values()].toSorted(), expected(usualRows.slice(-40)));
});
