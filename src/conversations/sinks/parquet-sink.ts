// Turns as Parquet: a partition for each day, replaced whole, with one row for each key in its last form. Owns the schema and
// the merge with what a partition holds. Refuses a partition that this state did not write.

import { rm } from 'node:fs/promises';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { fileWriter, parquetWriteRows, type SchemaElement } from 'hyparquet-writer';
import { printable } from '../../wire/printable-text.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { ConversationError } from '../conversation-error.ts';
import type { PartLedger, Sink } from '../sink.ts';
import { instantColumns, type Turn, turnColumns } from '../turn.ts';
import { dayOf } from './line-sink.ts';
import { foreignPart } from './part-files.ts';
import type { PartitionStore } from './partition-store.ts';

type Row = Readonly<Record<string, string | Date | null>>;

const textElement = (name: string): SchemaElement => ({
  name,
  type: 'BYTE_ARRAY',
  converted_type: 'UTF8',
  repetition_type: 'OPTIONAL',
});
/** Without `isAdjustedToUTC`, DuckDB would read a time without a zone. */
const instantElement = (name: string): SchemaElement => ({
  name,
  type: 'INT64',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  repetition_type: 'OPTIONAL',
});
const schema: SchemaElement[] = [
  { name: 'root', num_children: turnColumns.length },
  ...turnColumns.map((name) => (instantColumns.has(name) ? instantElement(name) : textElement(name))),
];

/** Rows that are in memory at once when a partition is merged. */
const rowGroupSize = 1_000;
/** A partition is written again for each flush, so that few are better. */
const mostLength = 16 * 1024 * 1024;
const mostTurns = 10_000;

/** @param store is closed with the sink */
export function parquetSink(store: PartitionStore, ledger: PartLedger): Sink {
  let partitions = new Map<string, Map<string, Row>>();
  let turns = 0;
  let length = 0;
  const partitionOf = (name: string): Map<string, Row> => {
    const found = partitions.get(name) ?? new Map<string, Row>();
    partitions.set(name, found);
    return found;
  };
  return {
    write: async (batch) => {
      for (const turn of batch) {
        partitionOf(store.nameOf(`day=${dayOf(turn)}`)).set(turn.turn_key, rowOf(turn));
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
  const file = await store.newFile(name);
  try {
    await parquetWriteRows({
      writer: fileWriter(file),
      rows: mergedRows(stored, name, rows),
      columns: turnColumns.map((column) => ({ name: column })),
      schema,
      rowGroupSize,
    });
    return await store.replace(name, file);
  } catch (error) {
    await rm(file, { force: true });
    throw error;
  }
}

/** What the partition has of other keys, then the new rows. */
async function* mergedRows(
  path: string | undefined,
  name: string,
  rows: ReadonlyMap<string, Row>,
): AsyncGenerator<Record<string, unknown>> {
  if (path !== undefined) {
    for await (const row of readRows(path, name)) {
      const key = row['turn_key'];
      if (typeof key === 'string' && !rows.has(key)) yield row;
    }
  }
  for (const row of rows.values()) yield { ...row };
}

async function* readRows(path: string, name: string): AsyncGenerator<Record<string, unknown>> {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    for (let rowStart = 0; rowStart < Number(metadata.num_rows); rowStart += rowGroupSize) {
      const rowEnd = Math.min(rowStart + rowGroupSize, Number(metadata.num_rows));
      yield* await parquetReadObjects({ file, metadata, rowStart, rowEnd });
    }
  } catch (cause) {
    const message = `${printable(name)} cannot be read as Parquet (${publishableCode(cause)}); move it away, and run the command again`;
    throw new ConversationError('sink', 'PartChanged', message, { cause });
  }
}
