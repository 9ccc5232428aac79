// Meltano runs the tap into DuckDB as a user does: discovery, catalog, and a state that it keeps itself. Offline; tap and target
// are executables of its project.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { stringify } from 'yaml';
import {
  key,
  rowAt,
  type ScriptedListing,
  startListing,
} from '../../integration/cli/environment/scripted-listing.ts';
import { type CommandResult, mustRun, runCommand } from '../../support/command.ts';
import { programFile } from '../../support/program-file.ts';
import { requireHere } from '../requirement.ts';
import { findTableReaders } from './table-readers.ts';

const readers = await findTableReaders();
requireHere('missing' in readers ? readers.missing : false);
const python = 'python' in readers ? readers.python : [];

const day = 86_400_000;
/** Of the last days, which each run reads again, and of months ago. */
const daysAgo = [1, 2, 3, 30, 31, 59];
const rows = daysAgo.map((days, index) => rowAt(Date.now() - days * day, index));

describe('the tap in Meltano', () => {
  const folder = mkdtempSync(join(tmpdir(), 'conversation-meltano-'));
  const calls = join(folder, 'calls');
  const database = join(folder, 'turns.duckdb');
  let listing: ScriptedListing;
  const executable = (name: string, ...lines: readonly string[]): void =>
    writeFileSync(join(folder, name), ['#!/bin/sh', ...lines, ''].join('\n'), { mode: 0o755 });
  const meltano = (...args: readonly string[]): Promise<CommandResult> =>
    runCommand(
      ['sh', '-c', 'cd "$1" && shift && exec "$@"', '-', folder, ...python, '-c', runMeltano, ...args],
      {
        env: { XDG_STATE_HOME: join(folder, 'home'), TAP_STATIC_EXPORT_API_KEY: key, NO_COLOR: '1' },
        timeoutMs: 200_000,
      },
    );
  const ask = async (sql: string): Promise<unknown> => {
    const program = `import duckdb, json; print(json.dumps(duckdb.connect('${database}').execute("${sql}").fetchall()))`;
    return JSON.parse(await mustRun([...python, '-c', program]));
  };
  const stored = (): Promise<unknown> => ask('SELECT query, category FROM turns ORDER BY timestamp DESC');

  before(async () => {
    listing = await startListing(rows);
    const tap = [process.execPath, programFile('tap-static-export')].map((word) => `'${word}'`).join(' ');
    executable('tap', `echo "$@" >> '${calls}'`, `exec ${tap} "$@"`);
    executable('target', `exec ${python.join(' ')} -c 'from target_duckdb import main; main()' "$@"`);
    writeFileSync(join(folder, 'meltano.yml'), stringify(projectOf(listing.url, database)));
  });
  after(async () => {
    await listing.close();
    rmSync(folder, { recursive: true });
  });

  test('two runs store each turn once, and the second one adds what came late', async () => {
    const run = async (): Promise<void> => {
      const { code, stderr } = await meltano('run', 'tap-static-export', 'target-duckdb');
      assert.equal(code, 0, stderr);
    };
    await run();
    assert.deepEqual(
      await stored(),
      rows.map(({ query }) => [query, null]),
    );
    const requests = listing.requests;
    const added = rowAt(Date.now() - day / 2, 10);
    listing.rows = [
      ...rows.map((row, index) => (index === 1 ? { ...row, queryCategory: 'Late' } : row)),
      added,
    ];
    await run();
    const expected = [added, ...rows].map(({ query }) => [query, query === 'question 1' ? 'Late' : null]);
    assert.deepEqual(await stored(), expected);
    assert.ok(
      listing.requests - requests < requests,
      'the second run goes on from the state of the first one',
    );
    const called = readFileSync(calls, 'utf8');
    for (const option of ['--discover', '--catalog', '--state']) assert.ok(called.includes(option), called);
  });

  test('what the user does not select is not stored', async () => {
    const columns = await ask(
      "SELECT column_name FROM information_schema.columns WHERE table_name = 'turns'",
    );
    assert.ok(Array.isArray(columns));
    const names: readonly unknown[] = columns.flat();
    assert.deepEqual(
      ['query', 'response'].filter((name) => names.includes(name)),
      ['query'],
    );
  });

  test('its check of the configuration passes, and fails with a wrong key', async () => {
    const checked = await meltano('config', 'test', 'tap-static-export');
    assert.equal(checked.code, 0, checked.stderr);
    listing.before = async () => ({ status: 403, body: '{"error":"no"}' });
    const refused = await meltano('config', 'test', 'tap-static-export');
    assert.notEqual(refused.code, 0);
  });
});

const runMeltano = 'import sys; from meltano.cli import main; sys.argv[0] = "meltano"; main()';

const projectOf = (url: string, database: string): object => ({
  default_environment: 'dev',
  project_id: '5f0c0a9e-0000-4000-8000-000000000001',
  send_anonymous_usage_stats: false,
  environments: [{ name: 'dev' }],
  plugins: {
    extractors: [
      {
        name: 'tap-static-export',
        namespace: 'tap_static_export',
        executable: './tap',
        capabilities: ['catalog', 'discover', 'state'],
        settings: [{ name: 'api_key', sensitive: true }],
        select: ['turns.*', '!turns.response'],
        config: { api_base_url: url, project: 'docs', budget: '100000/h', start_date: '60d' },
      },
    ],
    loaders: [
      {
        name: 'target-duckdb',
        namespace: 'target_duckdb',
        executable: './target',
        config: { filepath: database, default_target_schema: 'main' },
      },
    ],
  },
});
