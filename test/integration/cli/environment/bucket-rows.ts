// The rows of an object in a bucket, in each format of `conversations export`.

import { parquetReadObjects } from 'hyparquet';

export const formats = ['ndjson', 'csv', 'parquet'] as const;
export type Format = (typeof formats)[number];
export type Row = Readonly<Record<string, string | null>>;

/** Of this project's own form: a text is in quotes where it needs them. */
function readCsv(text: string): readonly Row[] {
  const lines = [...text.matchAll(/((?:"(?:[^"]|"")*"|[^",\r])*(?:,(?:"(?:[^"]|"")*"|[^",\r])*)*)\r\n/g)];
  const [header = [], ...rows] = lines.map(([, line = '']) =>
    [...`${line},`.matchAll(/("(?:[^"]|"")*"|[^",]*),/g)].map(([, cell = '']) =>
      cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell,
    ),
  );
  return rows.map((cells) => Object.fromEntries(header.map((name, index) => [name, cells[index] || null])));
}

export async function rowsOf(format: Format, bytes: Buffer): Promise<readonly Row[]> {
  const text = bytes.toString('utf8');
  const plain = (row: Readonly<Record<string, unknown>>): Row =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        value === null ? null : value instanceof Date ? value.toISOString() : textOf(value),
      ]),
    );
  if (format === 'csv') return readCsv(text);
  if (format === 'parquet')
    return (await parquetReadObjects({ file: new Uint8Array(bytes).buffer })).map(plain);
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => plain(JSON.parse(line)));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
/** By key, without the time of the run. */
export const comparable = (rows: readonly Row[]): readonly Row[] =>
  rows
    .map((row): Row => ({ ...row, observed_at: null }))
    .toSorted((one, other) => String(one['turn_key']).localeCompare(String(other['turn_key'])));
