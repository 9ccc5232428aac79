// How many requests an API key may still send within an hour. One file for each host and key, shared by all projects and
// processes of a user. Refuses bursts over the edge of an hour: it counts any period of that length. Invariant: a request
// counts from before it is sent until a period after its answer, also if the process is killed meanwhile.

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '#platform/runtime/clock.ts';
import { makeFolder } from '#platform/runtime/folder.ts';
import { formatInstant } from '#platform/wire/instant.ts';
import { PublishableError, publishableCode } from '#platform/wire/publishable-error.ts';
import { inTransaction, isDiskFull, numberIn, openDatabase } from './sqlite.ts';

export interface BudgetRule {
  /** Requests in any period. */
  readonly requests: number;
  readonly periodMs: number;
  /** Requests of these that are left to other programs. */
  readonly reserve: number;
  /** The longest wait for one request. */
  readonly maxWaitMs: number;
}

/** @param isPaused whether the export API asked for the wait, or else the budget needs it */
export type OnWait = (ms: number, isPaused: boolean) => void;

export interface Budget {
  /**
   * Waits until a request may be sent, and counts it.
   * @param onWait is called before a wait
   * @returns to be called when it is answered
   * @throws {PublishableError} `BudgetSpent`, `RateLimited` when the wait is longer than the rule allows; `BudgetFull`
   */
  take(signal: AbortSignal, onWait?: OnWait): Promise<() => void>;
  /** The export API asks for a pause, which all processes keep. */
  pause(ms: number): void;
  close(): void;
}

/** A pause of a clock that was wrong. */
const longestPauseMs = 86_400_000;

/** @param folder of the user. @param host of the export API */
export function budgetPath(folder: string, host: string, key: string): string {
  const name = createHash('sha256')
    .update(JSON.stringify([host, key]))
    .digest('hex')
    .slice(0, 32);
  return join(folder, `${name}.sqlite`);
}

/** @throws {PublishableError} `BudgetUnusable`, `BudgetFull`, `BudgetBusy` */
export async function openBudget(path: string, rule: BudgetRule, clock: Clock): Promise<Budget> {
  try {
    await makeFolder(join(path, '..'), 0o700);
    const database = await openLog(path);
    return budgetOver(database, rule, clock);
  } catch (cause) {
    throw budgetFault(cause);
  }
}

function budgetFault(cause: unknown): PublishableError {
  if (isDiskFull(cause)) {
    const message =
      'the folder of request budgets cannot be written: its disk is full. Free space, or set XDG_STATE_HOME to a folder on another disk';
    return new PublishableError('BudgetFull', message, { cause });
  }
  if (cause instanceof Error && /database is locked/.test(cause.message)) {
    const message = 'another program keeps the file of request budgets locked. Run the command again';
    return new PublishableError('BudgetBusy', message, { kind: 'retry', cause });
  }
  const message = `the folder of request budgets cannot be used (${publishableCode(cause)}); set XDG_STATE_HOME to a folder that can be written`;
  return new PublishableError('BudgetUnusable', message, { cause });
}

/** A loss of power may damage the file. Its content is worth an hour. */
async function openLog(path: string): Promise<DatabaseSync> {
  try {
    return await openTables(path);
  } catch (error) {
    if (!(error instanceof Error && /not a database|malformed/.test(error.message))) throw error;
    await rm(path, { force: true });
    return await openTables(path);
  }
}

async function openTables(path: string): Promise<DatabaseSync> {
  const database = await openDatabase(path, { isDurable: false, busyMs: 10_000 });
  database.exec(
    'CREATE TABLE IF NOT EXISTS request (id INTEGER PRIMARY KEY, at INTEGER NOT NULL); CREATE INDEX IF NOT EXISTS request_at ON request (at); CREATE TABLE IF NOT EXISTS pause (id INTEGER PRIMARY KEY CHECK (id = 1), until INTEGER NOT NULL)',
  );
  return database;
}

type Answer =
  | { readonly kind: 'taken'; readonly id: number }
  | { readonly kind: 'wait'; readonly until: number; readonly isPaused: boolean };

function budgetOver(database: DatabaseSync, rule: BudgetRule, clock: Clock): Budget {
  const allowed = Math.max(1, rule.requests - rule.reserve);
  const insert = database.prepare('INSERT INTO request (at) VALUES (?)');
  const move = database.prepare('UPDATE request SET at = ? WHERE id = ?');
  const clamp = database.prepare('UPDATE request SET at = ? WHERE at > ?');
  const forget = database.prepare('DELETE FROM request WHERE at <= ?');
  const decisive = database.prepare('SELECT at FROM request WHERE at > ? ORDER BY at DESC LIMIT 1 OFFSET ?');
  const paused = database.prepare('SELECT until FROM pause');
  const pause = database.prepare('INSERT OR REPLACE INTO pause (id, until) VALUES (1, ?)');

  const attempt = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw budgetFault(error);
    }
  };
  const decide = (): Answer =>
    inTransaction(database, () => {
      const now = clock.now();
      // A clock that was set back must not make old requests young for ever.
      clamp.run(now, now);
      forget.run(now - Math.max(rule.periodMs, longestPauseMs));
      const pauseEnd = numberIn(paused.get(), 'until');
      if (pauseEnd > now && pauseEnd - now <= longestPauseMs)
        return { kind: 'wait', until: pauseEnd, isPaused: true };
      const last = decisive.get(now - rule.periodMs, allowed - 1);
      if (last !== undefined)
        return { kind: 'wait', until: numberIn(last, 'at') + rule.periodMs, isPaused: false };
      return { kind: 'taken', id: Number(insert.run(now).lastInsertRowid) };
    });

  return {
    take: async (signal, onWait) => {
      for (;;) {
        signal.throwIfAborted();
        const answer = attempt(decide);
        if (answer.kind === 'taken') return () => attempt(() => void move.run(clock.now(), answer.id));
        const ms = answer.until - clock.now();
        if (ms > rule.maxWaitMs) throw spent(answer.isPaused, answer.until, ms, rule);
        onWait?.(ms, answer.isPaused);
        await clock.after(ms, signal);
      }
    },
    pause: (ms) => attempt(() => void pause.run(clock.now() + Math.min(ms, longestPauseMs))),
    close: () => database.close(),
  };
}

function spent(
  isPaused: boolean,
  until: number,
  waitMs: number,
  { requests, reserve }: BudgetRule,
): PublishableError {
  // Rounded up, so that a run at that second finds a request.
  const time = formatInstant(until + 999);
  const again = `Run the command again from ${time}; it goes on where it stopped`;
  if (isPaused) {
    const message = `the export API limits the rate of requests. ${again}`;
    return new PublishableError('RateLimited', message, { kind: 'wait', retryAfterMs: waitMs });
  }
  const kept = reserve > 0 ? `, of which ${reserve} are reserved` : '';
  const message = `the budget of ${requests} requests${kept} is spent. ${again}`;
  return new PublishableError('BudgetSpent', message, { kind: 'wait', retryAfterMs: waitMs });
}
