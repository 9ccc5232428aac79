// Turns without a date in Parquet: under Hive's name of no value. What an earlier version put elsewhere is moved, and each turn
// is there once in the end, wherever a run is killed.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { PartLedger } from '#conversations/sink.ts';
import { readParquet } from '#conversations/sinks/parquet-file.ts';
import { parquetSink } from '#conversations/sinks/parquet-sink.ts';
import {
  bucketPartitions,
  folderPartitions,
  type PartitionStore,
  rewritePartition,
} from '#conversations/sinks/partition-store.ts';
import type { Turn } from '#conversations/turn.ts';
import { PublishableError } from '#platform/wire/publishable-error.ts';
import { memoryBucket } from '../../../support/memory-bucket.ts';
import { sampleTurn } from '../../../support/sample-turn.ts';

const { signal } = new AbortController();
const [undated, former] = ['day=__HIVE_DEFAULT_PARTITION__', 'day=undated'];

const turn = (name: string, fields: Partial<Turn> = {}): Turn =>
  sampleTurn({ query: name, timestamp: null, timestamp_raw: 'yesterday', ...fields });
const late = { observed_at: '2026-11-09T00:00:00.000Z' };

async function* rowsOf(turns: readonly Turn[]) {
  for (const one of turns) {
    const observed_at = new Date(one.observed_at);
    yield { ...one, timestamp: null, observed_at, sources: JSON.stringify(one.sources) };
  }
}

interface Place {
  readonly ledger: PartLedger;
  readonly open: () => Promise<PartitionStore>;
  /** Such as `a inserted`, of all partitions. */
  readonly turns: () => Promise<readonly string[]>;
  readonly partitions: () => readonly string[];
}

const bucketOf = (t: TestContext) => {
  const scratch = mkdtempSync(join(tmpdir(), 'undated-'));
  t.after(() => rmSync(scratch, { recursive: true }));
  const bucket = memoryBucket({ now: () => 0 });
  const open = () => bucketPartitions({ bucket, prefix: 'p' }, join(scratch, 'merge'), signal);
  return { bucket, open, partitions: () => bucket.keys().map((key) => key.split('/')[1] ?? '') };
};

const placeOf = (t: TestContext, kind: string): Place => {
  const folder = mkdtempSync(join(tmpdir(), 'undated-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const { open, partitions } =
    kind === 'a bucket'
      ? bucketOf(t)
      : { open: async () => folderPartitions(folder), partitions: () => readdirSync(folder).toSorted() };
  const parts = new Map<string, number>();
  return {
    ledger: {
      partSize: (name) => parts.get(name),
      registerPart: (name) => void parts.set(name, 0),
      committedParts: () => 0,
    },
    open,
    partitions,
    turns: async () => {
      const store = await open();
      const found: string[] = [];
      for (const partition of partitions()) {
        const path = await store.read(store.nameOf(partition));
        if (path === undefined) continue;
        for await (const row of readParquet(path, partition)) found.push(`${row['query']} ${row['change']}`);
      }
      return found.toSorted();
    },
  };
};

const put = async ({ open, ledger }: Place, partition: string, turns: readonly Turn[]): Promise<void> => {
  const store = await open();
  ledger.registerPart(store.nameOf(partition));
  await rewritePartition(store, store.nameOf(partition), rowsOf(turns));
};

for (const kind of ['a folder', 'a bucket']) {
  test(`in ${kind}, turns of the former partition are moved by the next run, and counted once`, async (t) => {
    const place = placeOf(t, kind);
    await put(place, former, [turn('a'), turn('b')]);
    const sink = await parquetSink(await place.open(), place.ledger);
    assert.deepEqual([place.partitions(), await place.turns()], [[undated], ['a insert', 'b insert']]);
    await sink.write([turn('b', { change: 'update', category: 'Late' }), turn('c')]);
    await sink.flush();
    await sink.close();
    assert.deepEqual(place.partitions(), [undated]);
    assert.deepEqual(await place.turns(), ['a insert', 'b update', 'c insert']);
  });

  test(`in ${kind}, a run that was killed within the move, and an older program between, double nothing`, async (t) => {
    const place = placeOf(t, kind);
    await put(place, former, [turn('a'), turn('b')]);
    const killed = await place.open();
    const remove = (): Promise<never> => Promise.reject(new Error('killed'));
    await assert.rejects(parquetSink({ ...killed, remove }, place.ledger), /killed/);
    assert.deepEqual(place.partitions(), [undated, former]);
    await put(place, former, [turn('a', { change: 'update', ...late }), turn('b'), turn('d')]);
    for (const _run of [1, 2]) await (await parquetSink(await place.open(), place.ledger)).close();
    assert.deepEqual(place.partitions(), [undated]);
    assert.deepEqual(await place.turns(), ['a update', 'b insert', 'd insert']);
  });

  test(`in ${kind}, a partition that another program wrote stays, and one that a person renamed goes on`, async (t) => {
    const place = placeOf(t, kind);
    await put(place, former, [turn('a')]);
    const stranger: PartLedger = { ...place.ledger, partSize: () => undefined };
    await (await parquetSink(await place.open(), stranger)).close();
    assert.deepEqual(place.partitions(), [former]);
    const renamed = placeOf(t, kind);
    renamed.ledger.registerPart((await renamed.open()).nameOf(former));
    await put({ ...renamed, ledger: stranger }, undated, [turn('a')]);
    const sink = await parquetSink(await renamed.open(), renamed.ledger);
    await sink.write([turn('b')]);
    await sink.flush();
    assert.deepEqual(await renamed.turns(), ['a insert', 'b insert']);
  });
}

test('where the key may not delete, an object without rows is left, and goes when it may', async (t) => {
  const { bucket, open, partitions } = bucketOf(t);
  const place = { ...placeOf(t, 'a folder'), open, partitions };
  await put(place, former, [turn('a')]);
  bucket.before = (call) => {
    if (call.startsWith('delete')) throw new PublishableError('Denied', 'no');
  };
  for (const _run of [1, 2]) await (await parquetSink(await open(), place.ledger)).close();
  const rowsIn = async (partition: string): Promise<number> => {
    const store = await open();
    return (await Array.fromAsync(readParquet((await store.read(store.nameOf(partition))) ?? '', ''))).length;
  };
  assert.deepEqual([await rowsIn(undated), await rowsIn(former)], [1, 0]);
  bucket.before = () => {};
  await (await parquetSink(await open(), place.ledger)).close();
  assert.deepEqual([partitions(), await rowsIn(undated)], [[undated], 1]);
});
