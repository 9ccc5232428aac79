// The data folder's database: its link secret, and folders of older versions.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type Database, loadLinkSecret, openJobDatabase } from '#export-service/store/database.ts';
import { createJobStore } from '#export-service/store/jobs.ts';
import { createKeptCrawlStore } from '#export-service/store/kept-crawls.ts';
import { systemRandom } from '#platform/runtime/random.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const folder = temporaryFolder();

test('the link secret is made at the first start, stays the same, and only its owner can read it', async () => {
  const first = await openJobDatabase(folder);
  const secret = loadLinkSecret(first, systemRandom);
  assert.equal(secret.byteLength, 32);
  for (const name of readdirSync(folder)) {
    assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
  }
  first.close();
  const second = await openJobDatabase(folder);
  assert.deepEqual(Buffer.from(loadLinkSecret(second, systemRandom)), Buffer.from(secret));
  second.close();
});

const versionOf = ({ connection }: Database): unknown =>
  connection.prepare('PRAGMA user_version').get()?.['user_version'];

for (const [name, change] of [
  ['version 4 without the table of kept crawls', 'DROP TABLE kept_crawls; PRAGMA user_version = 4;'],
  ['version 5, which builds before the first release wrote', 'PRAGMA user_version = 5;'],
] as const) {
  test(`a data folder of ${name} keeps its jobs, and can keep crawls`, async () => {
    const directory = await mkdtemp(join(folder, 'earlier-'));
    const older = await openJobDatabase(directory);
    createJobStore(older).start({ id: 'a', domain: 'docs.example.com', now: 1, maxQueued: 1 });
    older.connection.exec(change);
    older.close();
    const newer = await openJobDatabase(directory);
    assert.equal(createJobStore(newer).find('a')?.status, 'queued');
    const kept = createKeptCrawlStore(newer);
    kept.keep('docs.example.com', 1, 1);
    assert.deepEqual(kept.domains(), ['docs.example.com']);
    newer.close();
  });
}

test('a data folder has the version that the previous release opens, although it has one more table', async () => {
  const directory = await mkdtemp(join(folder, 'rolled-back-'));
  const database = await openJobDatabase(directory);
  assert.equal(versionOf(database), 4);
  database.connection.exec('PRAGMA user_version = 5;');
  database.close();
  const again = await openJobDatabase(directory);
  assert.equal(versionOf(again), 4);
  again.close();
});

test('a data folder of this version is opened without a write, as on a full volume', async () => {
  const directory = await mkdtemp(join(folder, 'full-'));
  const first = await openJobDatabase(directory);
  loadLinkSecret(first, systemRandom);
  first.close();
  const file = join(directory, 'state.sqlite');
  const before = readFileSync(file);
  const second = await openJobDatabase(directory);
  loadLinkSecret(second, systemRandom);
  // Until the file is closed, it has every write.
  assert.equal(statSync(`${file}-wal`).size, 0);
  second.close();
  assert.deepEqual(readFileSync(file), before);
});

// 6 is what follows 4: see `unreleasedVersion`.
for (const version of [6, 7]) {
  test(`a data folder of the later version ${version} is refused, and stays as it is`, async () => {
    const directory = await mkdtemp(join(folder, 'later-'));
    const later = await openJobDatabase(directory);
    later.connection.exec(`PRAGMA user_version = ${version};`);
    later.close();
    const before = readFileSync(join(directory, 'state.sqlite'));
    for (const _attempt of [1, 2]) await assert.rejects(openJobDatabase(directory), { code: 'StoreTooNew' });
    assert.deepEqual(readFileSync(join(directory, 'state.sqlite')), before);
  });
}

test('a data folder of an older version keeps its jobs', async () => {
  const older = await openJobDatabase(folder);
  createJobStore(older).start({ id: 'a', domain: 'docs.example.com', now: 1, maxQueued: 1 });
  older.connection.exec(
    'DROP TABLE link_secret; DROP TABLE project_starts; ALTER TABLE jobs DROP COLUMN base_path; PRAGMA user_version = 2;',
  );
  older.close();
  const newer = await openJobDatabase(folder);
  const store = createJobStore(newer);
  assert.deepEqual([store.find('a')?.status, store.find('a')?.basePath], ['queued', null]);
  const more = { basePath: '/docs', now: 2, maxQueued: 9, startsPerHour: 1 } as const;
  assert.equal(store.startOfProject({ id: 'b', domain: 'other.example.com', ...more }).kind, 'started');
  assert.equal(loadLinkSecret(newer, systemRandom).byteLength, 32);
  newer.close();
});
