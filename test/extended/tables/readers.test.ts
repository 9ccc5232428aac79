// Readers of others: DuckDB, pyarrow, pandas, Python's sqlite3 and csv, and a Singer target read what the export wrote.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  key,
  rowAt,
  type ScriptedListing,
  startListing,
} from '../../integration/cli/environment/scripted-listing.ts';
import { mustRun } from '../../support/command.ts';
import { programFile } from '../../support/program-file.ts';
import { payloads } from '../payloads.ts';
import { requireHere } from '../requirement.ts';
import { findTableReaders } from './table-readers.ts';

const readers = await findTableReaders();
requireHere('missing' in readers ? readers.missing : false);
const python = 'python' in readers ? readers.python : [];

const at = Date.now() - 5 * 86_400_000;
const rows = payloads.map((query, index) => rowAt(at + index * 60_000, index, { query }));

/** As the page of the command says. */
const plainInPython = String.raw`
import re
plain = lambda cell: re.sub(r'(^|[;\r\n])\t', r'\1', cell)`;

describe('conversations in readers of others', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conversation-readers-'));
  let listing: ScriptedListing;
  const exportTo = (format: string, to: string) =>
    mustRun(
      [
        ...[process.execPath, programFile('static-export'), 'conversations', 'export', '--format', format],
        ...[
          '--to',
          to,
          '--project',
          'docs',
          '--api-base-url',
          listing.url,
          '--budget',
          '100000/h',
          '--quiet',
        ],
      ],
      { env: { XDG_STATE_HOME: join(folder, 'home'), STATIC_EXPORT_API_KEY: key } },
    );
  const answerOf = async (program: string): Promise<unknown> =>
    JSON.parse(await mustRun([...python, '-c', program]));

  before(async () => {
    listing = await startListing(rows);
  });
  after(async () => {
    await listing.close();
    rmSync(folder, { recursive: true });
  });

  test('DuckDB and pyarrow read Parquet with times in UTC', async () => {
    const to = join(folder, 'parquet');
    await exportTo('parquet', to);
    const found = await answerOf(`
import duckdb, json, pyarrow.parquet as pq, glob
files = ${JSON.stringify(to)} + '/*/turns.parquet'
kind, count, first = duckdb.sql(f"SELECT typeof(any_value(timestamp)), count(DISTINCT turn_key), epoch_ms(min(timestamp)) FROM '{files}'").fetchall()[0]
queries = [row[0] for row in duckdb.sql(f"SELECT query FROM '{files}' ORDER BY timestamp").fetchall()]
table = pq.read_table(glob.glob(files)[0])
print(json.dumps([kind, count, first, queries, str(table.schema.field('timestamp').type)]))`);
    assert.deepEqual(found, ['TIMESTAMP WITH TIME ZONE', rows.length, at, payloads, 'timestamp[ms, tz=UTC]']);
  });

  test('DuckDB, pyarrow and pandas compare days with dates, also where a turn has none', async () => {
    const undated = { timestamp: 'yesterday', query: 'undated' };
    listing.rows = [...rows, rowAt(at, rows.length, undated)];
    const to = join(folder, 'undated');
    await exportTo('parquet', to).finally(() => {
      listing.rows = rows;
    });
    const found = await answerOf(`
import duckdb, json, datetime, pandas as pd, pyarrow as pa, pyarrow.dataset as ds
to = ${JSON.stringify(to)}
day = datetime.date(2000, 1, 1)
duck = lambda where: duckdb.sql(f"SELECT count(DISTINCT turn_key) FROM read_parquet('{to}/*/*.parquet', hive_partitioning = true) WHERE {where}").fetchall()[0][0]
kind = duckdb.sql(f"SELECT typeof(any_value(day)) FROM read_parquet('{to}/*/*.parquet', hive_partitioning = true)").fetchall()[0][0]
dates = ds.partitioning(pa.schema([('day', pa.date32())]), flavor = 'hive')
arrow = ds.dataset(to, partitioning = dates)
count = lambda filter: arrow.count_rows(filter = filter)
frame = pd.read_parquet(to, partitioning = dates)
print(json.dumps([
  [kind, duck("day >= DATE '2000-01-01'"), duck('day IS NULL')],
  [count(ds.field('day') >= day), count(ds.field('day').is_null())],
  [int((frame['day'].dropna() >= day).sum()), int(frame['day'].isna().sum())],
]))`);
    assert.deepEqual(found, [
      ['DATE', rows.length, 1],
      [rows.length, 1],
      [rows.length, 1],
    ]);
  });

  test('DuckDB reads NDJSON', async () => {
    const to = join(folder, 'ndjson');
    await exportTo('ndjson', to);
    const found = await answerOf(`
import duckdb, json
print(json.dumps([row[0] for row in duckdb.sql("SELECT query FROM read_json('${to}/*.ndjson') ORDER BY timestamp").fetchall()]))`);
    assert.deepEqual(found, payloads);
  });

  test('Python reads SQLite', async () => {
    const to = join(folder, 'turns.sqlite');
    await exportTo('sqlite', to);
    const found = await answerOf(`
import json, sqlite3
rows = sqlite3.connect('${to}').execute('SELECT query, url FROM turns JOIN sources USING (turn_key) ORDER BY timestamp').fetchall()
print(json.dumps([query for query, url in rows]))`);
    assert.deepEqual(found, payloads);
  });

  test('Python reads CSV, and gets each text back', async () => {
    const to = join(folder, 'turns.csv');
    await exportTo('csv', to);
    const found = await answerOf(`
import csv, json
rows = list(csv.DictReader(open('${to}', newline='')))
rows.sort(key=lambda row: row['timestamp'])
assert all(row['query'][:1] not in '=+-@' for row in rows)
${plainInPython}
print(json.dumps([plain(row['query']) for row in rows]))`);
    assert.deepEqual(found, payloads);
  });

  test('pandas reads the same turns from Parquet, CSV and NDJSON', async () => {
    const [parquet, csv, ndjson] = ['pandas-parquet', 'pandas.csv', 'pandas-ndjson'].map((name) =>
      join(folder, name),
    );
    for (const [format, to = ''] of [
      ['parquet', parquet],
      ['csv', csv],
      ['ndjson', ndjson],
    ] as const)
      await exportTo(format, to);
    const found = await answerOf(`
import glob, json, pandas as pd
${plainInPython}
parquet = pd.concat([pd.read_parquet(file) for file in glob.glob('${parquet}/*/turns.parquet')])
csv = pd.read_csv('${csv}', dtype=str, keep_default_na=False, na_values=['']).map(plain, na_action='ignore')
ndjson = pd.concat([pd.read_json(file, lines=True, dtype=False, convert_dates=False) for file in glob.glob('${ndjson}/*.ndjson')])
for table in (parquet, csv): table['sources'] = table['sources'].map(json.loads)
for table in (csv, ndjson): table['timestamp'] = pd.to_datetime(table['timestamp'], utc=True)
def turns(table):
    table = table.drop(columns='observed_at').sort_values('timestamp')
    table['timestamp'] = table['timestamp'].map(lambda at: at.isoformat(timespec='milliseconds').replace('+00:00', 'Z'))
    return table.astype(object).where(table.notna(), None)[sorted(table.columns)].to_dict('records')
print(json.dumps([turns(table) for table in (parquet, csv, ndjson)]))`);
    assert.ok(Array.isArray(found));
    const [first, ...others] = found;
    assert.deepEqual(
      first.map(({ query }: { readonly query: string }) => query),
      payloads,
    );
    assert.deepEqual(
      first.map(({ timestamp }: { readonly timestamp: string }) => timestamp),
      rows.map(({ timestamp }) => timestamp),
    );
    for (const other of others) assert.deepEqual(other, first);
  });

  test('a Singer target has each turn once after two runs, with its late category', async () => {
    const database = join(folder, 'singer.duckdb');
    const [config, targetConfig, state] = ['tap.json', 'target.json', 'state.json'].map((name) =>
      join(folder, name),
    );
    const settings = { api_base_url: listing.url, project: 'docs', api_key: key, budget: '100000/h' };
    writeFileSync(config ?? '', JSON.stringify(settings));
    writeFileSync(targetConfig ?? '', JSON.stringify({ filepath: database, default_target_schema: 'main' }));
    const tap = `${process.execPath} ${programFile('tap-static-export')} --config ${config}`;
    const target = [
      ...python,
      '-c',
      "'from target_duckdb import main; main()'",
      '--config',
      targetConfig,
    ].join(' ');
    const pipe = async (more: string): Promise<string> => {
      const command = `set -o pipefail; ${tap} ${more} | ${target}`;
      const env = { XDG_STATE_HOME: join(folder, 'home') };
      return await mustRun(['bash', '-c', command], { env });
    };
    const printed = await pipe('');
    writeFileSync(state ?? '', printed.trim().split('\n').at(-1) ?? '');
    listing.rows = rows.map((row, index) => (index === 2 ? { ...row, queryCategory: 'Late' } : row));
    await pipe(`--state ${state}`);
    const found = await answerOf(`
import duckdb, json
print(json.dumps(duckdb.connect('${database}').execute("SELECT count(*), count(DISTINCT turn_key), count(category) FROM turns").fetchall()[0]))`);
    assert.deepEqual(found, [rows.length, rows.length, 1]);
  });
});
