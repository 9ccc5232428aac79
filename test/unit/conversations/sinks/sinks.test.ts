// Every sink that keeps turns: what was committed is there once, whatever a killed run left; nothing foreign is overwritten.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import type { PartLedger, Sink } from '#conversations/sink.ts';
import { bucketSink } from '#conversations/sinks/bucket-sink.ts';
import { csv } from '#conversations/sinks/csv.ts';
import { lineFileSink, lineFolderSink, ndjson } from '#conversations/sinks/line-sink.ts';
import { parquetSink } from '#conversations/sinks/parquet-sink.ts';
import { bucketPartitions, folderPartitions } from '#conversations/sinks/partition-store.ts';
import { openSqliteSink } from '#conversations/sinks/sqlite-sink.ts';
import type { Turn } from '#conversations/turn.ts';
import { memoryBucket } from '../../../support/memory-bucket.ts';
import { sampleTurn } from '../../../support/sample-turn.ts';

const { signal } = new AbortController();

/** What the state knows of parts; a commit adds sizes. */
function memoryLedger(): PartLedger & { commit(parts: ReadonlyMap<string, number>): void } {
  const sizes = new Map<string, number>();
  return {
    partSize: (name) => sizes.get(name),
    registerPart: (name) => void sizes.set(name, 0),
    committedParts: () => [...sizes.values()].filter((size) => size > 0).length,
    commit: (parts) => {
      for (const [name, size] of parts) sizes.set(name, size);
    },
  };
}

interface Kind {
  readonly name: string;
  readonly open: (folder: string, ledger: PartLedger) => Promise<Sink>;
  /** Keys, and the last category of each. */
  readonly read: (folder: string) => Promise<readonly (readonly [key: string, category: string | null])[]>;
  readonly foreignFile?: string;
}

const linesOf = (path: string): readonly (readonly [string, string | null])[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .map(({ turn_key, category }) => [turn_key, category]);
const buckets = new Map<string, ReturnType<typeof memoryBucket>>();
const bucketOf = (folder: string) => {
  const bucket = buckets.get(folder) ?? memoryBucket({ now: () => 0 });
  buckets.set(folder, bucket);
  return bucket;
};

const kinds: readonly Kind[] = [
  {
    name: 'a folder of NDJSON',
    open: async (folder, ledger) => lineFolderSink(join(folder, 'turns'), ndjson, ledger),
    read: async (folder) =>
      readdirSync(join(folder, 'turns')).flatMap((name) => linesOf(join(folder, 'turns', name))),
    foreignFile: 'turns/turns-2026-11-01.ndjson',
  },
  {
    name: 'a file of NDJSON',
    open: async (folder, ledger) => lineFileSink(folder, 'turns.ndjson', ndjson, ledger),
    read: async (folder) => linesOf(join(folder, 'turns.ndjson')),
    foreignFile: 'turns.ndjson',
  },
  {
    name: 'a file of CSV',
    open: async (folder, ledger) => lineFileSink(folder, 'turns.csv', csv, ledger),
    read: async (folder) => {
      const [header = '', ...rows] = readFileSync(join(folder, 'turns.csv'), 'utf8')
        .split('\r\n')
        .slice(0, -1);
      const column = header.split(',').indexOf('category');
      return rows.map((row) => {
        const cells =
          row.match(/(?:"(?:[^"]|"")*"|[^,]*)(?:,|$)/g)?.map((cell) => cell.replace(/,$/, '')) ?? [];
        return [cells[0] ?? '', cells[column] || null];
      });
    },
    foreignFile: 'turns.csv',
  },
  {
    name: 'SQLite',
    open: async (folder) => openSqliteSink(join(folder, 'turns.sqlite')),
    read: async (folder) => {
      const database = new DatabaseSync(join(folder, 'turns.sqlite'));
      const rows = database.prepare('SELECT turn_key, category FROM turns').all();
      database.close();
      return rows.map(({ turn_key, category }) => [
        String(turn_key),
        category === null ? null : String(category),
      ]);
    },
    foreignFile: 'turns.sqlite',
  },
  {
    name: 'Parquet',
    open: async (folder, ledger) => parquetSink(folderPartitions(join(folder, 'turns')), ledger),
    read: async (folder) => {
      const rows: (readonly [string, string | null])[] = [];
      for (const day of readdirSync(join(folder, 'turns'))) {
        const file = await asyncBufferFromFile(join(folder, 'turns', day, 'turns.parquet'));
        for (const row of await parquetReadObjects({ file }))
          rows.push([String(row['turn_key']), row['category'] === null ? null : String(row['category'])]);
      }
      return rows;
    },
    foreignFile: 'turns/day=2026-11-01/turns.parquet',
  },
  {
    name: 'Parquet in a bucket',
    open: async (folder, ledger) => {
      const place = { bucket: bucketOf(folder), prefix: 'p' };
      return parquetSink(await bucketPartitions(place, join(folder, 'scratch'), signal), ledger);
    },
    read: async (folder) => {
      const rows: (readonly [string, string | null])[] = [];
      for (const { bytes } of bucketOf(folder).objects.values()) {
        const file = new Uint8Array(bytes).buffer;
        for (const row of await parquetReadObjects({ file }))
          rows.push([String(row['turn_key']), row['category'] === null ? null : String(row['category'])]);
      }
      return rows;
    },
  },
  {
    name: 'a bucket',
    open: async (folder, ledger) =>
      bucketSink({ bucket: bucketOf(folder), prefix: 'p' }, ndjson, ledger, signal),
    read: async (folder) => {
      const bucket = bucketOf(folder);
      const keys: string[] = [];
      for await (const { key } of bucket.list('p/', signal)) keys.push(key);
      const rows: (readonly [string, string | null])[] = [];
      for (const key of keys.sort()) {
        let text = '';
        for await (const piece of (await bucket.get(key, signal)) ?? []) text += piece.toString('utf8');
        for (const line of text.split('\n').slice(0, -1)) {
          const { turn_key, category } = JSON.parse(line);
          rows.push([turn_key, category]);
        }
      }
      return rows;
    },
  },
];

const turnsOf = (count: number, fields: Partial<Turn> = {}): readonly Turn[] =>
  Array.from({ length: count }, (_, index) => {
    const day = String(1 + (index % 3)).padStart(2, '0');
    const timestamp = index % 7 === 6 ? null : `2026-11-${day}T00:00:00.000Z`;
    return sampleTurn({ query: `q ${index}, "quoted"`, timestamp, ...fields });
  });

for (const { name, open, read, foreignFile } of kinds) {
  const inFolder = (use: (folder: string) => Promise<void>) => async (): Promise<void> => {
    const folder = mkdtempSync(join(tmpdir(), 'conversation-sink-'));
    await use(folder).finally(() => rmSync(folder, { recursive: true }));
  };

  test(
    `${name}: what a killed run left is there once`,
    inFolder(async (folder) => {
      const ledger = memoryLedger();
      const [first, second] = [turnsOf(20).slice(0, 10), turnsOf(20).slice(10)];
      const sink = await open(folder, ledger);
      await sink.write(first);
      ledger.commit(await sink.flush());
      // Killed after the flush, before the state has it.
      await sink.write(second);
      await sink.flush();
      await sink.close();
      const killedInWrite = await open(folder, ledger);
      await killedInWrite.write(second.slice(0, 4));
      await killedInWrite.close();
      const last = await open(folder, ledger);
      await last.write(second);
      ledger.commit(await last.flush());
      await last.close();
      const keys = (await read(folder)).map(([key]) => key);
      assert.deepEqual(keys.toSorted(), [...first, ...second].map(({ turn_key }) => turn_key).toSorted());
    }),
  );

  test(
    `${name}: a late category is the last form of its turn`,
    inFolder(async (folder) => {
      const ledger = memoryLedger();
      for (const turns of [turnsOf(9), turnsOf(2, { category: 'Late', change: 'update' })]) {
        const sink = await open(folder, ledger);
        await sink.write(turns);
        ledger.commit(await sink.flush());
        await sink.close();
      }
      const last = new Map(await read(folder));
      assert.equal(last.size, 9);
      assert.equal([...last.values()].filter((category) => category === 'Late').length, 2);
    }),
  );

  if (foreignFile === undefined) continue;
  test(
    `${name}: a file of another program stays as it is`,
    inFolder(async (folder) => {
      const path = join(folder, foreignFile);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, 'something else\n');
      const ledger = memoryLedger();
      for (const attempt of [1, 2]) {
        const write = async (): Promise<void> => {
          const sink = await open(folder, ledger);
          await sink
            .write(turnsOf(3))
            .then(() => sink.flush())
            .finally(() => sink.close());
        };
        await assert.rejects(write(), { code: 'DestinationExists' }, `attempt ${attempt}`);
        assert.equal(readFileSync(path, 'utf8'), 'something else\n');
      }
    }),
  );

  test(
    `${name}: only its owner can read it`,
    inFolder(async (folder) => {
      const sink = await open(folder, memoryLedger());
      await sink.write(turnsOf(3));
      await sink.flush();
      await sink.close();
      assert.equal(statSync(join(folder, foreignFile)).mode & 0o077, 0);
    }),
  );
}

for (const [name, key, open] of [
  [
    'NDJSON',
    'p/turns-0000000001.ndjson',
    async (folder: string, ledger: PartLedger) =>
      bucketSink({ bucket: bucketOf(folder), prefix: 'p' }, ndjson, ledger, signal),
  ],
  [
    'Parquet',
    'p/day=2026-11-01/turns.parquet',
    async (folder: string, ledger: PartLedger) => {
      const place = { bucket: bucketOf(folder), prefix: 'p' };
      return parquetSink(await bucketPartitions(place, join(folder, 'scratch'), signal), ledger);
    },
  ],
] as const) {
  test(`${name} in a bucket: an object of another program stays, and the folder for merges is removed`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'conversation-sink-'));
    const bytes = Buffer.from('something else');
    bucketOf(folder).objects.set(key, { bytes, modifiedAt: 0 });
    const sink = await open(folder, memoryLedger());
    await sink.write(turnsOf(3));
    await assert.rejects(sink.flush(), { code: 'DestinationExists' });
    await sink.close();
    assert.equal(bucketOf(folder).text(key), 'something else');
    assert.deepEqual(readdirSync(folder), []);
    rmSync(folder, { recursive: true });
  });
}

test('a SQLite file of a version with fewer columns gets the new ones, and keeps its rows', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'conversation-sink-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'turns.sqlite');
  const write = async (query: string): Promise<void> => {
    const sink = await openSqliteSink(path);
    await sink.write([sampleTurn({ query, category: 'How-To' })]);
    await sink.flush();
    await sink.close();
  };
  await write('before');
  const older = new DatabaseSync(path);
  older.exec('ALTER TABLE turns DROP COLUMN category');
  older.close();
  await write('after');
  const database = new DatabaseSync(path);
  const rows = database.prepare('SELECT query, category FROM turns ORDER BY query DESC').all();
  database.close();
  assert.deepEqual(
    rows.map(({ query, category }) => [query, category]),
    [
      ['before', null],
      ['after', 'How-To'],
    ],
  );
});

test('a part that was moved away begins again, and one that was cut is refused', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'conversation-sink-'));
  try {
    const ledger = memoryLedger();
    const path = join(folder, 'turns.ndjson');
    const write = async (turns: readonly Turn[]): Promise<void> => {
      const sink = lineFileSink(folder, 'turns.ndjson', ndjson, ledger);
      await sink.write(turns).finally(() => sink.close());
      ledger.commit(await sink.flush());
    };
    await write(turnsOf(3));
    renameSync(path, `${path}.taken`);
    await write(turnsOf(4).slice(3));
    assert.equal(linesOf(path).length, 1);
    writeFileSync(path, readFileSync(path).subarray(0, 10));
    await assert.rejects(write(turnsOf(2)), { code: 'PartChanged' });
    assert.ok(existsSync(path));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
