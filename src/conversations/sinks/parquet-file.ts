// One Parquet file of turns: its schema, and its rows written and read a thousand at a time. Refuses a file that is not
// Parquet. Invariant: each reader takes times in UTC.

import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from 'hyparquet';
import { fileWriter, parquetWriteRows, type SchemaElement } from 'hyparquet-writer';
import { printable } from '#platform/wire/printable-text.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { instantColumns, turnColumns } from '../turn.ts';

/** One turn; its keys are the columns. */
export type Row = Readonly<Record<string, string | Date | null>>;

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

/** Rows that are in memory at once. */
const rowGroupSize = 1_000;

export async function writeParquet(
  path: string,
  rows: AsyncIterable<Record<string, unknown>>,
): Promise<void> {
  await parquetWriteRows({
    writer: fileWriter(path),
    rows,
    columns: turnColumns.map((column) => ({ name: column })),
    schema,
    rowGroupSize,
  });
}

/** @throws {PublishableError} `PartChanged`, which names the partition */
export async function* readParquet(path: string, name: string): AsyncGenerator<Record<string, unknown>> {
  try {
    const file = await asyncBufferFromFile(path);
    const metadata = await parquetMetadataAsync(file);
    for (let rowStart = 0; rowStart < Number(metadata.num_rows); rowStart += rowGroupSize) {
      const rowEnd = Math.min(rowStart + rowGroupSize, Number(metadata.num_rows));
      yield* await parquetReadObjects({ file, metadata, rowStart, rowEnd });
    }
  } catch (cause) {
    const message = `${printable(name)} cannot be read as Parquet (${publishableCode(cause)}); move it away, and run the command again`;
    throw new PublishableError('PartChanged', message, { cause });
  }
}
