// `static-export conversations export` as a cron job runs it: a process that is killed, refused answers, odd rows, full disks.
// Each fault has its exit code, and nothing is lost or doubled. A long loop of kills is in test/extended/kills.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { turnKey } from '#conversations/turn.ts';
import { startProgram } from '../../support/child-program.ts';
import { runInProcess } from '../../support/cli-in-process.ts';
import { type CommandResult, runCommand } from '../../support/command.ts';
import { programFile } from '../../support/program-file.ts';
import { seeText } from '../../support/secret-watch.ts';
import {
  expectedQueries,
  hour,
  now,
  queriesOf,
  usualRows,
  workplace,
} from './environment/conversation-workplace.ts';
import { key, rowAt, type ScriptedAnswer, type SentRow } from './environment/scripted-listing.ts';

test('a program that is killed at pages and commits loses nothing and doubles nothing', async (t) => {
  const { listing, run, args, env, turns } = await workplace(t);
  listing.pageSize = 40;
  let kill = (): void => {};
  let killAt = 1;
  listing.before = async (request) => {
    if (request === killAt) kill();
    return undefined;
  };
  for (const [round, request] of [1, 3, 4, 6].entries()) {
    listing.requests = 0;
    killAt = request;
    const child = startProgram(process.execPath, { args: args(), env });
    // At the request itself, and then at moments of the commit that follows it.
    kill = () =>
      void sleep(round * 6)
        .then(() => process.kill(child.pid, 'SIGKILL'))
        .catch(() => {});
    await child.exited;
  }
  kill = () => {};
  const last = await run();
  assert.equal(last.code, 0, last.stderr);
  assert.deepEqual(queriesOf(turns()), expectedQueries(usualRows, Date.now() - hour / 4));
});

test('SQLite that is killed at its commits has each turn once', async (t) => {
  const { folder, listing, run, args, env } = await workplace(t);
  listing.pageSize = 40;
  const to = join(folder, 'turns.sqlite');
  for (const [round, killAt] of [2, 4, 6].entries()) {
    listing.requests = 0;
    const child = startProgram(process.execPath, { args: args('--format', 'sqlite', '--to', to), env });
    listing.before = async (request) => {
      if (request === killAt)
        void sleep(round * 8)
          .then(() => process.kill(child.pid, 'SIGKILL'))
          .catch(() => {});
      return undefined;
    };
    await child.exited;
  }
  listing.before = async () => undefined;
  const last = await run('--format', 'sqlite', '--to', to);
  assert.equal(last.code, 0, last.stderr);
  const database = new DatabaseSync(to);
  const rows = database.prepare('SELECT query FROM turns').all();
  database.close();
  assert.deepEqual(queriesOf(rows), expectedQueries(usualRows, Date.now() - hour / 4));
});

test('a late category comes once, as an update', async (t) => {
  const { listing, run, turns } = await workplace(t, usualRows.slice(-40, -10));
  assert.equal((await run()).code, 0);
  listing.rows = listing.rows.map((row, index) => (index === 3 ? { ...row, queryCategory: 'Late' } : row));
  for (const expected of [1, 0]) {
    const { stdout } = await run('-o', 'json');
    assert.deepEqual([JSON.parse(stdout).inserted, JSON.parse(stdout).updated], [0, expected]);
  }
  const updates = turns().filter(({ change }) => change === 'update');
  assert.deepEqual(
    updates.map(({ category }) => category),
    ['Late'],
  );
});

const refused = (status: number, headers: Readonly<Record<string, string>> = {}): ScriptedAnswer => ({
  status,
  body: '{"error":"refused","details":[{"message":"limit"}]}',
  headers,
});

for (const [name, answer, code, errorCode, message] of [
  ['a query that is refused', refused(400), 4, 'BadRequest', /refused the query/],
  ['a key that is unknown', refused(401), 3, 'KeyRefused', /returned 401 for this key/],
  ['a key with another scope', refused(403), 3, 'KeyForbidden', /refused this key for the project docs/],
  ['a project that is unknown', refused(404), 4, 'NotFound', /no project docs/],
  [
    'a long pause',
    refused(429, { 'retry-after': '7200' }),
    5,
    'RateLimited',
    /Run the command again from \d{4}-/,
  ],
  ['a page of another site', { status: 200, body: '<html>' }, 5, 'UnexpectedAnswer', /HTML page/],
  [
    'rows that are no list',
    { status: 200, body: '{"conversations":{}}' },
    5,
    'UnexpectedAnswer',
    /conversations/,
  ],
] as const) {
  test(`${name} exits with ${code}, and what was read before stays`, async (t) => {
    const { listing, run, turns } = await workplace(t);
    listing.pageSize = 100;
    listing.before = async (request) => (request > 8 ? answer : undefined);
    const { code: exitCode, stdout, stderr } = await run('-o', 'json');
    assert.equal(exitCode, code, stderr);
    const document = JSON.parse(stdout);
    assert.equal(document.code, errorCode);
    assert.match(document.message, message);
    const kept = turns().length;
    assert.ok(kept > 0);
    listing.before = async () => undefined;
    if (errorCode === 'RateLimited') return;
    assert.equal((await run()).code, 0);
    assert.deepEqual(queriesOf(turns()), expectedQueries(usualRows, Date.now() - hour / 4));
  });
}

test('a cursor that is refused within a run starts its window again', async (t) => {
  const { listing, run, turns } = await workplace(t);
  listing.pageSize = 20;
  let left = 2;
  listing.before = async (_request, query) => {
    if (query.get('cursor') === null || left === 0) return undefined;
    left -= 1;
    return refused(400);
  };
  const { code, stderr } = await run();
  assert.equal(code, 0, stderr);
  assert.deepEqual(queriesOf(turns()), expectedQueries(usualRows, Date.now() - hour / 4));
});

/** Cursors of a service that ignores them for a span of half a day, by page. Other spans are as they should be. */
const ignored: Readonly<Record<string, readonly [cursorOf: (page: number) => string, why: RegExp]>> = {
  'always new': [(page) => `new-${page}`, /gave no new conversation on two pages in a row/],
  'always the same': [() => 'same', /gave the same cursor twice/],
  'in a circle': [(page) => `${page % 3}`, /gave no new conversation on two pages in a row/],
};
for (const [kind, [cursorOf, why]] of Object.entries(ignored)) {
  test(`a cursor that is ignored and ${kind} ends its window alone, and later runs read it again`, async (t) => {
    // At a whole hour for the program: how it halves a window depends on the minute.
    const clockMs = -(Date.now() % hour);
    const start = Date.now() + clockMs;
    const rows = Array.from({ length: 480 }, (_, index) => rowAt(start + (index - 480) * (hour / 2), index));
    const { listing, args, env, turns } = await workplace(t, rows);
    const run = () => runInProcess(args('-o', 'json').slice(1), { env, clockMs });
    const expected = expectedQueries(rows, start - hour / 4);
    let page = 0;
    listing.before = async (_request, query) => {
      const from = Date.parse(query.get('dateFrom') ?? '');
      const until = Date.parse(query.get('dateTo') ?? '');
      if (until < start - 120 * hour || from > start - 108 * hour) return undefined;
      const inside = rows.filter(
        ({ timestamp }) => Date.parse(timestamp) >= from && Date.parse(timestamp) < until,
      );
      if (inside.length === 0) return undefined;
      page += 1;
      const body = { conversations: inside.slice(0, 30), nextCursor: cursorOf(page), hasMore: true };
      return { status: 200, body: JSON.stringify(body) };
    };
    for (const _run of [1, 2]) {
      listing.requests = 0;
      const { code, stdout } = await run();
      const document = JSON.parse(stdout);
      assert.deepEqual([code, document.code, document.retryable], [5, 'ListingIncomplete', true], stdout);
      assert.match(document.message, why);
      assert.ok(listing.requests < 150, `${listing.requests} requests`);
      assert.deepEqual(queriesOf(turns()), expected);
    }
    listing.before = async () => undefined;
    const healed = await run();
    assert.equal(healed.code, 0, healed.stderr);
    assert.deepEqual([JSON.parse(healed.stdout).inserted, queriesOf(turns())], [0, expected]);
  });
}

test('rows of any shape are kept', async (t) => {
  const at = now - 2 * hour;
  const rows: readonly SentRow[] = [
    rowAt(at, 1, { timestamp: 'yesterday at noon' }),
    rowAt(at, 2, { sources: null }),
    rowAt(at, 3, { id: undefined, response: undefined, pageUrl: 7, queryCategory: {} }),
    rowAt(at, 4, { response: 'x'.repeat(10 * 1024 * 1024) }),
    rowAt(at, 5),
    rowAt(at, 5, { response: 'another answer' }),
    rowAt(at, 5),
  ];
  const { run, turns } = await workplace(t, rows);
  const first = await run('-o', 'json');
  assert.equal(first.code, 0, first.stderr);
  assert.equal(JSON.parse(first.stdout).undated, 1);
  assert.equal(turns().length, rows.length);
  assert.equal(new Set(turns().map(({ turn_key }) => turn_key)).size, rows.length);
  assert.equal(JSON.parse((await run('-o', 'json')).stdout).inserted, 0);
  assert.equal(turns().length, rows.length);
});

test('a state of another project is refused, and so is one that another run uses', async (t) => {
  const { folder, run, listing, args, env } = await workplace(t);
  const state = ['--state', join(folder, 'state')];
  assert.equal((await run(...state)).code, 0);
  const other = await run(...state, '--project', 'other');
  assert.equal(other.code, 2);
  assert.match(other.stderr, /another --project;.*StateMismatch/);
  let release = (): void => {};
  listing.requests = 0;
  const isHeld = new Promise<void>((resolve) => {
    listing.before = () => {
      resolve();
      return new Promise((done) => {
        release = () => done(undefined);
      });
    };
  });
  const first = startProgram(process.execPath, { args: args(...state), env });
  await isHeld;
  const second = await run(...state);
  assert.equal(second.code, 5);
  assert.match(second.stderr, /another run uses this state folder/);
  listing.before = async () => undefined;
  release();
  assert.equal(await first.exited, 0);
});

test('a full disk exits with 9, and the next run goes on', async (t) => {
  const { folder, run, turns } = await workplace(t);
  const file = join(folder, 'turns', 'turns.ndjson');
  mkdirSync(join(folder, 'turns'));
  symlinkSync('/dev/full', file);
  const full = await run('--to', file);
  assert.equal(full.code, 9, full.stderr);
  assert.match(full.stderr, /its disk is full/);
  rmSync(file);
  assert.equal((await run('--to', file)).code, 0);
  assert.deepEqual(queriesOf(turns()), expectedQueries(usualRows, Date.now() - hour / 4));
});

test('a budget that is spent exits with 5, says when to come back, and is shared by projects', async (t) => {
  const { run, turns, folder } = await workplace(t);
  const limited = await run('--budget', '4/h', '--max-wait', '1s', '-o', 'json');
  assert.equal(limited.code, 5, limited.stderr);
  assert.equal(JSON.parse(limited.stdout).code, 'BudgetSpent');
  assert.match(limited.stdout, /again from \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/);
  const other = await run('--budget', '4/h', '--max-wait', '1s', '--project', 'b', '--to', join(folder, 'b'));
  assert.equal(other.code, 5, other.stderr);
  assert.ok(!existsSync(join(folder, 'b')));
  assert.equal((await run()).code, 0);
  assert.deepEqual(queriesOf(turns()), expectedQueries(usualRows, Date.now() - hour / 4));
});

test('standard output has turns alone, and redaction comes before it', async (t) => {
  const at = now - 2 * hour;
  const { run, folder } = await workplace(t, [rowAt(at, 1, { query: 'I am a@example.com at 10.1.2.3' })]);
  const { stdout } = await run('--to', '-', '--redact', 'email,ip', '--drop-response');
  const turn = JSON.parse(stdout);
  assert.match(turn.query, /^I am \[email:[0-9a-f]{12}\] at \[ip:[0-9a-f]{12}\]$/);
  assert.equal(turn.response, null);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true });
  for (const file of files.filter((one) => one.isFile())) {
    const text = readFileSync(join(file.parentPath, file.name), 'latin1');
    seeText(file.name, text);
    assert.ok(!text.includes('a@example.com') && !text.includes('question'), file.name);
  }
});

test('a text that was cut inside of a character is whole in each format, and stays one turn', async (t) => {
  const at = now - 2 * hour;
  const half = { query: 'cut \ud83d', response: '\udc00 cut', queryCategory: '\ud83d' };
  const sources = [{ title: 'cut \ud83d', url: 'https://docs.example.com/\ud83d' }];
  const { run, folder, turns } = await workplace(t, [
    rowAt(at, 1, { ...half, sources, pageUrl: '/\ud83d', resolutionStatus: '\ud83d' }),
    rowAt(at, 1, { ...half, query: 'cut \ud83c' }),
  ]);
  assert.equal((await run()).code, 0);
  // As the program wrote it before it made texts whole: a run delivers no turn again.
  const keyOf = (query: string): string =>
    turnKey({ project: 'docs', conversation: 'c0', timestamp_raw: new Date(at).toISOString(), query }, 0);
  assert.deepEqual(
    turns()
      .map((turn) => turn['turn_key'])
      .toSorted(),
    ['cut \ud83d', 'cut \ud83c'].map(keyOf).toSorted(),
  );
  const again = await run('-o', 'json');
  assert.deepEqual([JSON.parse(again.stdout).inserted, JSON.parse(again.stdout).updated], [0, 0]);
  const to = (name: string): string => join(folder, name);
  for (const [format, ...place] of [
    ['csv', '--to', to('csv')],
    ['sqlite', '--to', to('turns.sqlite')],
    ['parquet', '--to', to('parquet')],
  ] as const) {
    assert.equal((await run('--format', format, ...place)).code, 0, format);
  }
  const singer = await run('--format', 'singer', '--to', '-');
  const texts = new Map([['singer', singer.stdout]]);
  for (const format of ['md', 'html', 'csv', 'json']) {
    const report = await runInProcess(
      ['conversations', 'gaps', '--from', to('turns'), '--format', format],
      {},
    );
    assert.equal(report.code, 0, report.stderr);
    texts.set(format, report.stdout);
  }
  for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })) {
    if (!file.isFile() || file.parentPath.includes('home')) continue;
    texts.set(file.name, readFileSync(join(file.parentPath, file.name), 'utf8'));
  }
  assert.equal(texts.size, 9, [...texts.keys()].join(' '));
  for (const [name, text] of texts) {
    assert.ok(text.includes('\ufffd'), name);
    assert.doesNotMatch(text, /\\u?\{?d[89a-f][0-9a-f]{2}/i, name);
  }
});

test('with turns on standard output, retries and counts are on standard error', async (t) => {
  const { listing, runLoud } = await workplace(t);
  listing.before = async (request) => (request === 1 ? { status: 503, body: '{}' } : undefined);
  const { stdout, stderr } = await runLoud({}, '--to', '-');
  assert.equal(stdout.trim().split('\n').length, expectedQueries(usualRows, Date.now() - hour / 4).length);
  assert.match(stderr, /^The request failed \(ServerError\)\. Repeating it in 2 s$/m);
  assert.match(stderr, /^Exported \d+ new turns and 0 changed turns of docs$/m);
});

test('a run that is stopped says how to go on, and the next one does', async (t) => {
  const { listing, run, args, env, turns } = await workplace(t);
  listing.pageSize = 40;
  listing.before = async (request) => {
    if (request === 8) process.kill(child.pid, 'SIGTERM');
    await sleep(request === 8 ? 500 : 0);
    return undefined;
  };
  const child = startProgram(process.execPath, { args: args(), env });
  await child.exited;
  assert.match(child.tail(), /stopped by SIGTERM \(Stopped\)\s+Run the same command again: it goes on/);
  listing.before = async () => undefined;
  assert.equal((await run()).code, 0);
  assert.deepEqual(queriesOf(turns()), expectedQueries(usualRows, Date.now() - hour / 4));
});

test('the tap goes on from the STATE of its target', async (t) => {
  const { folder, listing } = await workplace(t);
  const config = join(folder, 'config.json');
  const state = join(folder, 'state.json');
  const settings = {
    api_base_url: listing.url,
    project: 'docs',
    api_key: key,
    budget: '100000/h',
    start_date: '20d',
  };
  writeFileSync(config, JSON.stringify(settings));
  const tap = (...more: readonly string[]) =>
    runCommand([process.execPath, programFile('tap-static-export'), '--config', config, ...more], {
      env: { XDG_STATE_HOME: join(folder, 'home') },
    });
  const messagesOf = ({ stdout }: CommandResult) =>
    stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const first = messagesOf(await tap());
  const records = first.filter(({ type }) => type === 'RECORD');
  assert.deepEqual(
    queriesOf(records.map(({ record }) => record)),
    expectedQueries(usualRows, Date.now() - hour / 4),
  );
  writeFileSync(state, JSON.stringify(first.findLast(({ type }) => type === 'STATE').value));
  const second = messagesOf(await tap('--state', state)).filter(({ type }) => type === 'RECORD');
  assert.ok(second.length > 0 && second.length < records.length, `${second.length} of ${records.length}`);
  const catalog = await tap('--discover');
  assert.equal(JSON.parse(catalog.stdout).streams[0].stream, 'turns');
});
