// The partition of a turn: its day, or Hive's name of no value, which readers take for null in a column of dates. Owns the
// name that earlier versions gave it, and the move of its turns. Refuses partitions that this state did not write.
// Invariant: wherever a run is killed, the next one finds each turn, and in the end it is there once.

import { PublishableError } from '#platform/wire/publishable-error.ts';
import type { PartLedger } from '../sink.ts';
import type { Turn } from '../turn.ts';
import { dayOf } from './line-sink.ts';
import { readParquet } from './parquet-file.ts';
import { type PartitionStore, rewritePartition } from './partition-store.ts';

/** A reader would take any other text for a sign that days are texts, and refuse to compare them with dates. */
const undated = 'day=__HIVE_DEFAULT_PARTITION__';
const formerUndated = 'day=undated';

/** `day=2026-11-26`, of a turn's own time in UTC. */
export const partitionOf = (turn: Pick<Turn, 'timestamp'>): string =>
  turn.timestamp === null ? undated : `day=${dayOf(turn)}`;

/** Moves what an earlier version put into its own name of the partition. */
export async function renameUndated(store: PartitionStore, ledger: PartLedger): Promise<void> {
  const [name, former] = [store.nameOf(undated), store.nameOf(formerUndated)];
  if (ledger.partSize(former) === undefined) return;
  // Also where a person has renamed it.
  if (ledger.partSize(name) === undefined) ledger.registerPart(name);
  if (!(await store.has(former))) return;
  const seen = new Map<string, unknown>();
  for await (const row of rowsIn(store, former)) seen.set(String(row['turn_key']), row['observed_at']);
  if (seen.size > 0) await rewritePartition(store, name, mergedRows(store, name, former, seen));
  await store.remove(former).catch(async (error: unknown) => {
    if (!(error instanceof PublishableError) || error.code !== 'Denied') throw error;
    // Without its rows each turn is there once. A person may delete what is left.
    if (seen.size > 0) await rewritePartition(store, former, rowsIn(store, undefined));
  });
}

/** Of a key that both have, the row that was read last. @param former when each of its rows was read */
async function* mergedRows(
  store: PartitionStore,
  name: string,
  formerName: string,
  former: Map<string, unknown>,
): AsyncGenerator<Record<string, unknown>> {
  for await (const row of rowsIn(store, name)) {
    const key = String(row['turn_key']);
    const other = former.get(key);
    if (other !== undefined && Number(other) > Number(row['observed_at'])) continue;
    former.delete(key);
    yield row;
  }
  for await (const row of rowsIn(store, formerName)) if (former.has(String(row['turn_key']))) yield row;
}

async function* rowsIn(
  store: PartitionStore,
  name: string | undefined,
): AsyncGenerator<Record<string, unknown>> {
  const path = name === undefined ? undefined : await store.read(name);
  if (path !== undefined && name !== undefined) yield* readParquet(path, name);
}
