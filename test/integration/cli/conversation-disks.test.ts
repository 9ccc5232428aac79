// `conversations export` with a real disk that is full or read-only, below its state and below each kind of destination: the
// exit code and what to do, and after room was made the next run has every turn once.

import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { noNamespaces } from '../../support/namespaces.ts';
import {
  expectedQueries,
  hour,
  largeRows,
  queriesOf,
  workplace,
} from './environment/conversation-workplace.ts';
import { withDisk } from './environment/small-disk.ts';

/** More than any of the disks below holds. */
const rows = largeRows;
const expected = () => expectedQueries(rows, Date.now() - hour / 4);

type Rows = readonly Readonly<Record<string, unknown>>[];
const linesOf = (path: string): readonly string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);

const destinations: readonly (readonly [
  format: string,
  name: string,
  read: (path: string) => Promise<Rows>,
])[] = [
  [
    ...(['ndjson', 'turns'] as const),
    async (path) =>
      readdirSync(path).flatMap((name) =>
        linesOf(join(path, name)).map((line): Rows[number] => JSON.parse(line)),
      ),
  ],
  [
    ...(['csv', 'turns.csv'] as const),
    async (path) =>
      linesOf(path)
        .slice(1)
        .map((line) => ({ query: /question \d+/.exec(line)?.[0] })),
  ],
  [
    ...(['sqlite', 'turns.sqlite'] as const),
    async (path) => {
      const database = new DatabaseSync(path);
      const found = database.prepare('SELECT query FROM turns').all();
      database.close();
      return found;
    },
  ],
  [
    ...(['parquet', 'turns'] as const),
    async (path) => {
      const parts = readdirSync(path).map(async (day) => {
        const file = await asyncBufferFromFile(join(path, day, 'turns.parquet'));
        return parquetReadObjects({ file });
      });
      return (await Promise.all(parts)).flat();
    },
  ],
];

for (const [format, name, read] of destinations) {
  test(`${format} on a full disk: exit 9, and the next run has each turn once`, {
    skip: noNamespaces,
  }, async (t) => {
    const { folder, run, listing } = await workplace(t, rows);
    listing.pageSize = 40;
    await withDisk(join(folder, 'disk'), '256k', async (disk) => {
      const to = join(disk.path, name);
      const flags = ['--format', format, '--to', to, '--since', '11d'];
      const { code, stdout, stderr } = await run(...flags, '-o', 'json');
      const document = JSON.parse(stdout);
      assert.equal(code, 9, stdout + stderr);
      assert.match(document.code, /^Destination(?:NotWritten|Full)$/);
      assert.match([document.message, ...document.next].join('\n'), /^--to .*disk is full[\s\S]*Free space/);
      assert.doesNotMatch(stdout + stderr, /question|answer/);
      const again = await run(...flags, '-o', 'json');
      assert.deepEqual([again.code, JSON.parse(again.stdout).code], [9, document.code]);
      disk.remount('size=16m');
      const last = await run(...flags);
      assert.equal(last.code, 0, last.stderr);
      assert.deepEqual(queriesOf(await read(to)), expected());
    });
  });
}

test('a state on a full disk: exit 9 at the turn that has no room, and the next run has each turn once', {
  skip: noNamespaces,
}, async (t) => {
  const { folder, run, listing, turns } = await workplace(t, rows);
  listing.pageSize = 40;
  await withDisk(join(folder, 'disk'), '64k', async (disk) => {
    const flags = ['--state', join(disk.path, 'state'), '--since', '11d'];
    const full = await run(...flags, '-o', 'json');
    const document = JSON.parse(full.stdout);
    assert.deepEqual([full.code, document.code, document.retryable], [9, 'StateFull', false]);
    assert.match(document.message, /^the state folder cannot be used: its disk is full\. Free space/);
    const written = new Set(queriesOf(turns())).size;
    assert.ok(written > 0 && written < rows.length, `${written} turns`);
    assert.equal((await run(...flags)).code, 9);
    disk.remount('size=8m');
    const last = await run(...flags);
    assert.equal(last.code, 0, last.stderr);
    assert.deepEqual(queriesOf(turns()), expected());
  });
});

test('a state on a disk without room for its first page: exit 9, and no turn is written', {
  skip: noNamespaces,
}, async (t) => {
  const { folder, run, listing, turns } = await workplace(t, rows);
  await withDisk(join(folder, 'disk'), '4k', async (disk) => {
    const flags = ['--state', join(disk.path, 'state'), '--since', '11d'];
    const { code, stdout } = await run(...flags, '-o', 'json');
    assert.deepEqual([code, JSON.parse(stdout).code, listing.requests], [9, 'StateFull', 0]);
    disk.remount('size=8m');
    assert.equal((await run(...flags)).code, 0);
    assert.deepEqual(queriesOf(turns()), expected());
  });
});

test('a read-only disk below state or destination: exit 2 or 9 before a turn is written', {
  skip: noNamespaces,
}, async (t) => {
  const { folder, run, listing } = await workplace(t, rows);
  await withDisk(join(folder, 'disk'), '1m', async (disk) => {
    disk.remount('ro');
    const state = await run('--state', join(disk.path, 'state'), '-o', 'json');
    assert.deepEqual([state.code, JSON.parse(state.stdout).code, listing.requests], [2, 'StateUnusable', 0]);
    for (const [format, name] of destinations) {
      const { code, stdout } = await run('--format', format, '--to', join(disk.path, name), '-o', 'json');
      const { message, code: errorCode } = JSON.parse(stdout);
      assert.deepEqual([code, errorCode], [9, 'DestinationNotWritten'], format);
      assert.match(message, /^--to .*\(EROFS\): its file system is read-only$/);
    }
    assert.deepEqual(readdirSync(disk.path), []);
  });
});

test('a full disk below the budgets, at the start or at a request: exit 9, and the next run goes on', {
  skip: noNamespaces,
}, async (t) => {
  const { folder, runWith, listing, turns } = await workplace(t, rows);
  listing.pageSize = 40;
  await withDisk(join(folder, 'disk'), '4k', async (disk) => {
    const fail = async (): Promise<void> => {
      const { code, stdout, stderr } = await runWith(home, ...flags, '-o', 'json');
      assert.deepEqual([code, JSON.parse(stdout).code], [9, 'BudgetFull'], stderr);
      assert.match(JSON.parse(stdout).message, /its disk is full\. Free space/);
    };
    const home = { XDG_STATE_HOME: disk.path };
    const flags = ['--state', join(folder, 'state'), '--since', '11d'];
    await fail();
    disk.remount('size=1m');
    let filled = 0;
    listing.before = async (request) => {
      if (request === 5) filled = fill(join(disk.path, 'other'));
      return undefined;
    };
    await fail();
    assert.ok(filled > 0 && turns().length > 0 && turns().length < rows.length);
    rmSync(join(disk.path, 'other'));
    listing.before = async () => undefined;
    assert.equal((await runWith(home, ...flags)).code, 0);
    assert.deepEqual(queriesOf(turns()), expected());
  });
});

/** Takes all room that is left. @returns its bytes */
function fill(path: string): number {
  const file = openSync(path, 'w');
  try {
    for (let bytes = 0; ; bytes += 4096) {
      try {
        writeSync(file, Buffer.alloc(4096));
      } catch {
        return bytes;
      }
    }
  } finally {
    closeSync(file);
  }
}
