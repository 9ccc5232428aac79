import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { countJobs } from './count-jobs.ts';

test('jobs are counted exactly while the service writes to its database and checkpoints its write-ahead log', async () => {
  const scratch = await mkdtemp(join(tmpdir(), 'count-jobs-'));
  const folder = join(scratch, 'data');
  try {
    await mkdir(folder);
    const database = new DatabaseSync(join(folder, 'state.sqlite'));
    // A write that waits for the disk would keep the thread from copying.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF');
    database.exec('CREATE TABLE jobs (number INTEGER PRIMARY KEY AUTOINCREMENT, words TEXT)');
    assert.equal(await countJobs(folder), 0);
    let started = 0;
    const start = (): void => {
      database.prepare('INSERT INTO jobs (words) VALUES (?)').run('x'.repeat(20_000));
      started += 1;
      if (started % 3 === 0) database.exec('PRAGMA wal_checkpoint(RESTART)');
      if (started % 7 === 0) database.exec(`DELETE FROM jobs WHERE number < ${started}`);
    };
    const writing = setInterval(start, 20);
    for (let round = 0; round < 20; round += 1) {
      const before = started;
      const counted = await countJobs(folder);
      assert.ok(before <= counted && counted <= started, `${before} <= ${counted} <= ${started}`);
    }
    clearInterval(writing);
    start();
    assert.equal(await countJobs(folder), started);
    database.close();
    assert.equal(await countJobs(folder), started, 'after an end in order');
  } finally {
    await rm(scratch, { recursive: true });
  }
});
