// Which formats go where, and names of files that say another format than the flag.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkPlace } from '#conversations/sinks/open-sink.ts';

for (const [format, to] of [
  ['ndjson', 'turns'],
  ['ndjson', 'turns.ndjson'],
  ['ndjson', 'turns.jsonl'],
  ['ndjson', 'turns.v2'],
  ['ndjson', 's3://bucket/turns.csv'],
  ['ndjson', 'https://hook.example.com/turns.csv'],
  ['csv', 'Turns.CSV'],
  ['parquet', 'turns.parquet'],
  ['sqlite', 'turns.db'],
  ['sqlite', 'turns'],
  ['singer', '-'],
] as const) {
  test(`--format ${format} goes to ${to}`, () => assert.equal(checkPlace(format, to), undefined));
}

for (const [format, to, wrong] of [
  ['ndjson', 'turns.csv', /^--to has the ending of csv, and --format is ndjson; add --format csv/],
  ['ndjson', 'turns.sqlite', /add --format sqlite/],
  ['ndjson', 'turns.parquet', /add --format parquet/],
  ['csv', 'turns.jsonl', /add --format ndjson/],
  ['sqlite', 'turns.csv', /add --format csv/],
  ['sqlite', 's3://bucket/x', /^--format sqlite needs --to with a path$/],
  ['singer', 'turns', /^--format singer needs --to with -$/],
  ['ndjson', 'ftp://example.com/turns', /^--format ndjson needs --to with a path, -, s3:/],
] as const) {
  test(`--format ${format} does not go to ${to}`, () => assert.match(checkPlace(format, to) ?? '', wrong));
}
