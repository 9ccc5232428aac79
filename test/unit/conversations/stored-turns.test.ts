// Turns read back from each kind of store: each once, in its last form, in the order of days.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { readStoredTurns, type StoredTurn } from '#conversations/stored-turns.ts';
import type { Turn } from '#conversations/turn.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { sampleTurn } from '../../support/sample-turn.ts';

const folder = mkdtempSync(join(tmpdir(), 'stored-turns-'));
after(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

const turn = (name: string, fields: Partial<Turn> = {}): Turn =>
  sampleTurn({
    turn_key: createHash('sha256').update(name).digest('hex'),
    conversation: name,
    timestamp: '2026-11-02T10:00:00.000Z',
    query: `Question of ${name}: "change":"update"`,
    sources: [{ title: 'Guide', url: 'https://docs.example.com/guide' }],
    ...fields,
  });
const lines = (...turns: readonly Turn[]): string => turns.map((one) => `${JSON.stringify(one)}\n`).join('');

async function readAll(path: string): Promise<readonly StoredTurn[]> {
  const found: StoredTurn[] = [];
  for await (const one of readStoredTurns(path)) found.push(one);
  return found;
}
const summaryOf = (turns: readonly StoredTurn[]) =>
  turns.map(({ conversation, resolution_status: status }) => `${conversation} ${status}`);

const update = (name: string, status: string) => turn(name, { change: 'update', resolution_status: status });

test('the last line of a key counts, wherever it is in its file', async () => {
  const path = at('one.ndjson');
  writeFileSync(
    path,
    lines(turn('a'), turn('b'), update('a', 'unanswered'), turn('c'), update('a', 'answered')),
  );
  assert.deepEqual(summaryOf(await readAll(path)), ['b null', 'c null', 'a answered']);
});

test('half of a character, as an earlier version wrote it, is read as a text that is whole', async () => {
  const cut = turn('cut', {
    query: 'cut \ud83d',
    sources: [{ title: '\udc00', url: '/' }],
    category: '\ud83d',
  });
  writeFileSync(at('cut.ndjson'), lines(cut));
  const [read] = await readAll(at('cut.ndjson'));
  assert.deepEqual(
    [read?.query, read?.sources[0]?.title, read?.category],
    ['cut \ufffd', '\ufffd', '\ufffd'],
  );
});

test('a folder is read day after day, other files are left alone, and an unfinished line is none', async () => {
  const store = mkdtempSync(join(folder, 'days-'));
  writeFileSync(join(store, 'turns-2026-11-02.ndjson'), lines(turn('late')));
  writeFileSync(join(store, 'turns-2026-11-01.ndjson'), `${lines(turn('early'))}{"turn_key":`);
  writeFileSync(join(store, 'turns-undated.ndjson'), lines(turn('undated', { timestamp: null })));
  writeFileSync(join(store, 'notes.txt'), 'not turns');
  assert.deepEqual(summaryOf(await readAll(store)), ['early null', 'late null', 'undated null']);
});

test('a SQLite file is read in the order of time, with its sources', async () => {
  const path = at('turns.sqlite');
  const database = new DatabaseSync(path);
  database.exec(`CREATE TABLE turns (turn_key TEXT PRIMARY KEY, project TEXT NOT NULL, conversation TEXT, timestamp TEXT,
    query TEXT, category TEXT, resolution_status TEXT, page_url TEXT) WITHOUT ROWID;
    CREATE TABLE sources (turn_key TEXT NOT NULL, position INTEGER NOT NULL, title TEXT NOT NULL, url TEXT NOT NULL)`);
  const insert = database.prepare('INSERT INTO turns VALUES (?, ?, ?, ?, ?, NULL, NULL, NULL)');
  for (const [name, time] of [
    ['late', '2026-11-03'],
    ['early', '2026-11-01'],
  ] as const) {
    const { turn_key: key, project, conversation, query } = turn(name);
    insert.run(key, project, conversation, `${time}T00:00:00.000Z`, query);
  }
  database.prepare('INSERT INTO sources VALUES (?, 0, ?, ?)').run(turn('early').turn_key, 'Guide', '/guide');
  database.close();
  const found = await readAll(path);
  assert.deepEqual(summaryOf(found), ['early null', 'late null']);
  assert.deepEqual(
    found.map(({ sources }) => sources.map(({ url }) => url)),
    [['/guide'], []],
  );
});

const refusals: readonly (readonly [name: string, content: string, code: string, message: RegExp])[] = [
  ['text.ndjson', 'hello\n', 'StoreInvalid', /^line 1 of --from is not a turn/],
  ['second.ndjson', `${lines(turn('a'))}{}\n`, 'StoreInvalid', /^line 2 of --from/],
  ['other.sqlite', 'SQLite format 3\0', 'StoreUnreadable', /not a SQLite file/],
];
for (const [name, content, code, message] of refusals) {
  test(`${name} is refused with ${code}, and no text of a turn is in the message`, async () => {
    writeFileSync(at(name), content);
    await assert.rejects(readAll(at(name)), (error: unknown) => {
      assert.ok(error instanceof PublishableError && error.code === code, String(error));
      assert.match(error.message, message);
      return !error.message.includes('hello');
    });
  });
}

test('a missing store and an empty folder are refused', async () => {
  await assert.rejects(readAll(at('nowhere')), { code: 'StoreUnreadable' });
  await assert.rejects(readAll(mkdtempSync(join(folder, 'empty-'))), { code: 'StoreEmpty' });
});
