// Turns as Parquet: a partition for each day, replaced whole, with one row for each key in its last form. Owns
// the merge with what a partition holds. Refuses a partition that this state did not write.

import type { PartLedger, Sink } from '../sink.ts';
import type { Turn } from '../turn.ts';
import { type Row, readParquet } from './parquet-file.ts';
import { foreignPart } from './part-files.ts';
import { type PartitionStore, rewritePartition } from './partition-store.ts';
import { partitionOf, renameUndated } from './undated-partition.ts';

/** A partition is written again for each flush, so that few are better. */
const mostLength = 16 * 1024 * 1024;
const mostTurns = 10_000;

/** @param store is closed with the sink */
export async function parquetSink(store: PartitionStore, ledger: PartLedger): Promise<Sink> {
  await renameUndated(store, ledger).catch(async (error: unknown) => {
    await store.close();
    throw error;
  });
  let partitions = new Map<string, Map<string, Row>>();
  let turns = 0;
  let length = 0;
  const rowsOf = (name: string): Map<string, Row> => {
    const found = partitions.get(name) ?? new Map<string, Row>();
    partitions.set(name, found);
    return found;
  };
  return {
    write: async (batch) => {
      for (const turn of batch) {
        rowsOf(store.nameOf(partitionOf(turn))).set(turn.turn_key, rowOf(turn));
        turns += 1;
        length += (turn.response?.length ?? 0) + (turn.query?.length ?? 0);
      }
    },
    isFull: () => turns >= mostTurns || length >= mostLength,
    flush: async () => {
      const sizes = new Map<string, number>();
      for (const [name, rows] of partitions)
        sizes.set(name, await replacePartition(store, name, rows, ledger));
      partitions = new Map();
      turns = 0;
      length = 0;
      return sizes;
    },
    close: () => store.close(),
  };
}

function rowOf(turn: Turn): Row {
  return {
    ...turn,
    timestamp: turn.timestamp === null ? null : new Date(turn.timestamp),
    observed_at: new Date(turn.observed_at),
    sources: JSON.stringify(turn.sources),
  };
}

/** @returns the size of the new file */
async function replacePartition(
  store: PartitionStore,
  name: string,
  rows: ReadonlyMap<string, Row>,
  ledger: PartLedger,
): Promise<number> {
  if (ledger.partSize(name) === undefined) {
    if (await store.has(name)) throw foreignPart(name);
    ledger.registerPart(name);
  }
  const stored = await store.read(name);
  return await rewritePartition(store, name, mergedRows(stored, name, rows));
}

/** What the partition has of other keys, then the new rows. */
async function* mergedRows(
  path: string | undefined,
  name: string,
  rows: ReadonlyMap<string, Row>,
): AsyncGenerator<Record<string, unknown>> {
  if (path !== undefined) {
    for await (const row of readParquet(path, name)) {
      const key = row['turn_key'];
      if (typeof key === 'string' && !rows.has(key)) yield row;
    }
  }
  for (const row of rows.values()) yield { ...row };
}
