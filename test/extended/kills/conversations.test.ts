// `conversations export` that is killed again and again, at its pages and at moments of the commit that follows each: nothing
// is lost and nothing is doubled. `CLI_KILLS` is the number of kills. A few are in test/integration/cli/conversations.test.ts.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  expectedQueries,
  hour,
  queriesOf,
  usualRows,
  workplace,
} from '../../integration/cli/environment/conversation-workplace.ts';
import { startProgram } from '../../support/child-program.ts';

const kills = Number(process.env['CLI_KILLS'] ?? 40);

test('a program that is killed at pages and commits loses nothing and doubles nothing', async (t) => {
  const { listing, run, args, env, turns } = await workplace(t);
  listing.pageSize = 40;
  let kill = (): void => {};
  let killAt = 1;
  listing.before = async (request) => {
    if (request === killAt) kill();
    return undefined;
  };
  for (let round = 0; round < kills; round += 1) {
    listing.requests = 0;
    killAt = 1 + (round % 6);
    const child = startProgram(process.execPath, { args: args(), env });
    // At the request itself, and then at moments of the commit that follows it.
    kill = () =>
      void sleep((round % 12) * 3)
        .then(() => process.kill(child.pid, 'SIGKILL'))
        .catch(() => {});
    await child.exited;
  }
  kill = () => {};
  const last = await run();
  assert.equal(last.code, 0, last.stderr);
  assert.deepEqual(queriesOf(turns()), expectedQueries(usualRows, Date.now() - hour / 4));
});

test('SQLite that is killed at its commits has each turn once', async (t) => {
  const { folder, listing, run, args, env } = await workplace(t);
  listing.pageSize = 40;
  const to = join(folder, 'turns.sqlite');
  for (let round = 0; round < kills; round += 1) {
    listing.requests = 0;
    const child = startProgram(process.execPath, { args: args('--format', 'sqlite', '--to', to), env });
    listing.before = async (request) => {
      if (request === 2 + (round % 6))
        void sleep((round % 6) * 4)
          .then(() => process.kill(child.pid, 'SIGKILL'))
          .catch(() => {});
      return undefined;
    };
    await child.exited;
  }
  listing.before = async () => undefined;
  const last = await run('--format', 'sqlite', '--to', to);
  assert.equal(last.code, 0, last.stderr);
  const database = new DatabaseSync(to);
  const rows = database.prepare('SELECT query FROM turns').all();
  database.close();
  assert.deepEqual(queriesOf(rows), expectedQueries(usualRows, Date.now() - hour / 4));
});
