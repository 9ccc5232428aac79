// Turns as Parquet: a partition for each day, replaced whole, with one row for each key in its last form. Owns the schema and
// the merge with what a partition holds. Invariant: a partition is as before or complete, so that readers see no half file.

import { open, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { fileWriter, parquetWriteRows, type SchemaElement } from 'hyparquet-writer';
import { makeFolder, syncFolder } from '../../runtime/folder.ts';
import { publishableCode } from '../../wire/publishable-error.ts';
import { ConversationError } from '../conversation-error.ts';
import type { PartLedger, Sink } from '../sink.ts';
import type { Turn } from '../turn.ts';
import { dayOf } from './line-sink.ts';

const texts = [
  'project',
  'conversation',
  'timestamp_raw',
  'query',
  'response',
  'category',
  'resolution_status',
  'page_url',
  'sources',
  'content_hash',
  'change',
] as const;
const instants = ['timestamp', 'observed_at'] as const;
const names = ['turn_key', ...instants, ...texts] as const;
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
const isInstant = (name: string): boolean => instants.some((one) => one === name);
const schema: SchemaElement[] = [
  { name: 'root', num_children: names.length },
  ...names.map((name) => (isInstant(name) ? instantElement(name) : textElement(name))),
];

/** Rows that are in memory at once when a partition is merged. */
const rowGroupSize = 2_000;
/** A partition is written again for each flush, so that few are better. */
const mostLength = 32 * 1024 * 1024;
const mostTurns = 20_000;

/** @param folder created if absent */
export function parquetSink(folder: string, ledger: PartLedger): Sink {
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
        partitionOf(`day=${dayOf(turn)}/turns.parquet`).set(turn.turn_key, rowOf(turn));
        turns += 1;
        length += (turn.response?.length ?? 0) + (turn.query?.length ?? 0);
      }
    },
    isFull: () => turns >= mostTurns || length >= mostLength,
    flush: async () => {
      const sizes = new Map<string, number>();
      for (const [name, rows] of partitions)
        sizes.set(name, await replacePartition(folder, name, rows, ledger));
      partitions = new Map();
      turns = 0;
      length = 0;
      return sizes;
    },
    close: async () => {},
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
  folder: string,
  name: string,
  rows: ReadonlyMap<string, Row>,
  ledger: PartLedger,
): Promise<number> {
  const path = join(folder, name);
  const present = await sizeOf(path);
  if (ledger.partSize(name) === undefined) {
    if (present !== undefined) throw foreign(name);
    ledger.registerPart(name);
  }
  await makeFolder(dirname(path), 0o700);
  // Of one run at a time, because the state has a lock.
  const partial = join(dirname(path), '.turns.parquet.partial');
  await rm(partial, { force: true });
  await (await open(partial, 'wx', 0o600)).close();
  try {
    await parquetWriteRows({
      writer: fileWriter(partial),
      rows: mergedRows(present === undefined ? undefined : path, name, rows),
      columns: names.map((column) => ({ name: column })),
      schema,
      rowGroupSize,
    });
    const file = await open(partial, 'r+');
    await file.sync().finally(() => file.close());
    await rename(partial, path);
    await syncFolder(dirname(path));
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
  return (await sizeOf(path)) ?? 0;
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
    const message = `${name} cannot be read as Parquet (${publishableCode(cause)}); move it away, and run the command again`;
    throw new ConversationError('sink', 'PartChanged', message, { cause });
  }
}

const sizeOf = (path: string): Promise<number | undefined> =>
  stat(path).then(
    ({ size }) => size,
    () => undefined,
  );

const foreign = (name: string): ConversationError =>
  new ConversationError(
    'usage',
    'DestinationExists',
    `${name} exists, and was not written with this state; move it away, or name the state or another destination`,
  );
