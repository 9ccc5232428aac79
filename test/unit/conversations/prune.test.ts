// Pruning: old turns leave the destination and the state, stay away, and what this state did not write stays where it is.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import { checkPrunable, pruneTurns } from '#conversations/prune.ts';
import { exportTurns } from '#conversations/run.ts';
import { openSink, type SinkFormat } from '#conversations/sinks/open-sink.ts';
import { openState } from '#conversations/state.ts';
import {
  ConversationModel,
  leapingClock,
  modelRows,
  seededRandom,
} from '../../support/conversation-model.ts';

const start = Date.UTC(2026, 10, 20, 12);
const day = 86_400_000;
const { signal } = new AbortController();
const never = (): never => assert.fail('nothing else is opened');

async function workplace(t: TestContext, format: SinkFormat) {
  const folder = mkdtempSync(join(tmpdir(), 'conversation-prune-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const clock = leapingClock(start);
  const random = seededRandom(1);
  const rows = modelRows(random, { from: start - 9 * day, until: start }, 60).map((row) => ({
    ...row,
    appearsAt: row.at,
  }));
  const model = new ConversationModel(rows, clock, { random });
  const to = join(folder, format === 'sqlite' ? 'turns.sqlite' : 'turns');
  const open = () => openState(join(folder, 'state'), { project: 'p' });
  const run = async () => {
    const state = await open();
    const sink = await openSink(
      { format, to, project: 'p' },
      {
        ledger: state,
        writeOut: never,
        openBucket: never,
        openWebhook: never,
        scratch: join(folder, 'scratch'),
        signal,
      },
    );
    const listing = { requests: 0, listConversations: model.listConversations.bind(model) };
    try {
      return await exportTurns(
        {
          project: 'p',
          since: start - 60 * day,
          until: undefined,
          lagMs: 0,
          lookBackMs: 30 * day,
          limit: 50,
        },
        {
          ...{ listing, state, sink, clock, dropsResponse: false },
          redact: (turn) => turn,
          onProgress: () => {},
        },
        signal,
      );
    } finally {
      await sink.close();
      state.close();
    }
  };
  const prune = async (before: number) => {
    const state = await open();
    return await pruneTurns({ state, format, to, project: 'p', before }).finally(() => state.close());
  };
  return { to, run, prune, clock, rows };
}

const limit = Date.UTC(2026, 10, 15);

for (const format of ['ndjson', 'csv', 'parquet', 'sqlite'] as const) {
  test(`${format}: old turns are removed, and later runs do not bring them back`, async (t) => {
    const { to, run, prune, clock, rows } = await workplace(t, format);
    await run();
    const old = rows.filter(({ at }) => at < limit).length;
    assert.ok(old > 10);
    const { turns, parts } = await prune(limit + 5 * 3_600_000);
    assert.equal(turns, old);
    clock.leap(2 * day);
    const again = await run();
    assert.equal(again.inserted, 0);
    if (format === 'sqlite') {
      const database = new DatabaseSync(to);
      const [count] = database.prepare('SELECT count(*) AS turns FROM turns').all();
      const [orphans] = database
        .prepare('SELECT count(*) AS sources FROM sources WHERE turn_key NOT IN (SELECT turn_key FROM turns)')
        .all();
      database.close();
      assert.deepEqual([count?.['turns'], orphans?.['sources']], [rows.length - old, 0]);
      assert.ok(!readFileSync(to, 'latin1').includes('2026-11-12'), 'free pages hold old turns');
      return;
    }
    assert.ok(parts > 2);
    for (const name of readdirSync(to)) assert.ok(!/2026-11-(?:0|1[0-4])/.test(name), name);
  });
}

test('a partition that a killed run was writing goes with its day', async (t) => {
  const { to, run, prune } = await workplace(t, 'parquet');
  await run();
  const day = readdirSync(to).find((name) => name === 'day=2026-11-12') ?? assert.fail('no such day');
  writeFileSync(join(to, day, '.turns.parquet.partial'), 'words of a visitor');
  await prune(limit);
  assert.ok(!existsSync(join(to, day)));
});

test('parts that this state did not write stay', async (t) => {
  const { to, run, prune } = await workplace(t, 'ndjson');
  await run();
  writeFileSync(join(to, 'turns-2020-01-01.ndjson'), 'mine');
  mkdirSync(join(to, 'turns-2020-01-02.ndjson'));
  await prune(limit);
  assert.ok(
    existsSync(join(to, 'turns-2020-01-01.ndjson')) && existsSync(join(to, 'turns-2020-01-02.ndjson')),
  );
});

for (const [format, to] of [
  ['ndjson', 'turns.ndjson'],
  ['csv', 'turns.csv'],
  ['ndjson', '-'],
  ['ndjson', 's3://bucket/prefix'],
  ['singer', '-'],
] as const) {
  test(`${format} to ${to} is not pruned`, () =>
    assert.match(checkPrunable(format, to) ?? '', /can be pruned/));
}
