// A run against a model of the listing: whatever order, pages, late rows, late categories and kills, the parts hold what the
// model has, once, in its last form.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openBudget } from '#conversations/budget.ts';
import { createPacedListing } from '#conversations/paced-listing.ts';
import { exportTurns, type RunCounts } from '#conversations/run.ts';
import type { Sink } from '#conversations/sink.ts';
import { lineFolderSink, ndjson } from '#conversations/sinks/line-sink.ts';
import { type ConversationState, openState } from '#conversations/state.ts';
import { type Turn, turnSchema } from '#conversations/turn.ts';
import { readConversationPage } from '#export-api/conversation-answers.ts';
import {
  ConversationModel,
  type LeapingClock,
  leapingClock,
  type ModelOptions,
  modelRows,
  seededRandom,
  sentRow,
} from '../../support/conversation-model.ts';
import * as fc from '../../support/properties.ts';

const start = Date.UTC(2026, 10, 20, 12);
const day = 86_400_000;
const since = start - 5 * day;
/** A kill of the process needs no disk, and a disk that syncs takes a minute for these tests. */
const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const { signal } = new AbortController();

class Killed extends Error {}

/** Ends a run at its n-th step: before or after a request, in the middle of a write, around a flush and a commit. */
class Killer {
  steps = 0;
  readonly #at: number;
  constructor(at: number) {
    this.#at = at;
  }
  step(): void {
    this.steps += 1;
    if (this.steps === this.#at) throw new Killed();
  }
  sink(sink: Sink): Sink {
    return {
      ...sink,
      write: async (turns) => {
        this.step();
        const half = Math.ceil(turns.length / 2);
        await sink.write(turns.slice(0, half));
        this.step();
        await sink.write(turns.slice(half));
        this.step();
      },
      flush: async () => {
        this.step();
        const parts = await sink.flush();
        this.step();
        return parts;
      },
    };
  }
  state(state: ConversationState): ConversationState {
    const killer = this;
    return new Proxy(state, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== 'function') return value;
        return (...args: readonly unknown[]) => {
          killer.step();
          const result: unknown = Reflect.apply(value, target, args);
          killer.step();
          return result;
        };
      },
    });
  }
}

interface Workplace {
  readonly folder: string;
  readonly clock: LeapingClock;
  readonly model: ConversationModel;
  run(killer?: Killer): Promise<RunCounts | undefined>;
  turns(): readonly Turn[];
  /** Requests so far, as the user hears of them. */
  readonly heard: number[];
}

async function withWorkplace(
  seed: number,
  count: number,
  options: Partial<ModelOptions>,
  use: (workplace: Workplace) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(base, 'conversation-run-'));
  const random = seededRandom(seed);
  const clock = leapingClock(start);
  const rows = modelRows(random, { from: since - day, until: start + 2 * day }, count);
  const model = new ConversationModel(rows, clock, { random, ...options });
  const heard: number[] = [];
  const run: Workplace['run'] = async (killer = new Killer(0)) => {
    const budget = await openBudget(
      join(folder, 'budget.sqlite'),
      { requests: 100, periodMs: 3_600_000, reserve: 0, maxWaitMs: day },
      clock,
    );
    const state = await openState(join(folder, 'state'), { project: 'p' });
    const sink = lineFolderSink(join(folder, 'turns'), ndjson, state);
    const client: Pick<ConversationModel, 'listConversations'> = {
      listConversations: async (query, stop) => {
        killer.step();
        const page = await model.listConversations(query, stop);
        killer.step();
        return page;
      },
    };
    const listing = createPacedListing({ client, budget, clock, onWait: () => {} });
    try {
      return await exportTurns(
        { project: 'p', since, until: undefined, lagMs: 900_000, lookBackMs: 7 * day, limit: 10 },
        {
          listing,
          state: killer.state(state),
          sink: killer.sink(sink),
          clock,
          dropsResponse: false,
          redact: (turn) => turn,
          onProgress: () => {},
          onPage: ({ requests }) => void heard.push(requests),
        },
        signal,
      );
    } catch (error) {
      if (error instanceof Killed) return undefined;
      throw error;
    } finally {
      await sink.close();
      state.close();
      budget.close();
    }
  };
  const turns = (): readonly Turn[] => {
    const parts = join(folder, 'turns');
    return readdirSync(parts).flatMap((name) =>
      readFileSync(join(parts, name), 'utf8')
        .split('\n')
        .slice(0, -1)
        .map((line) => turnSchema.parse(JSON.parse(line))),
    );
  };
  try {
    await use({ folder, clock, model, run, turns, heard });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The last line of each key is the model's row; no line comes twice. */
function assertComplete({ turns, model, clock }: Workplace): void {
  const lines = turns();
  const seen = lines.map(({ turn_key, content_hash, change }) => `${turn_key} ${content_hash} ${change}`);
  assert.equal(new Set(seen).size, seen.length, 'a line came twice');
  const last = new Map<string, Turn>();
  for (const turn of lines) {
    const isFirst = !last.has(turn.turn_key);
    assert.equal(turn.change, isFirst ? 'insert' : 'update');
    last.set(turn.turn_key, turn);
  }
  const inSink = [...last.values()].map((turn) =>
    JSON.stringify([turn.conversation, turn.timestamp_raw, turn.query, turn.response, turn.category]),
  );
  const horizon = Math.floor((clock.now() - 900_000) / 1000) * 1000;
  const slackMs = 60_000;
  const expected = model.expected(since, horizon - slackMs).map((row) => {
    const sent = sentRow(row, clock.now());
    return JSON.stringify([row.id, row.timestamp, row.query, row.response, sent['queryCategory']]);
  });
  const found = new Set(inSink);
  assert.deepEqual(
    expected.filter((one) => !found.has(one)),
    [],
    'turns are lost, or have not their last form',
  );
  assert.ok(inSink.length <= model.expected(since, clock.now()).length, 'turns were invented');
}

const faults: Partial<ModelOptions> = {
  failures: 0.05,
  rateLimits: 0.05,
  emptyPages: 0.1,
  shortPages: 0.3,
  repeatedPages: 0.1,
};

test('any listing is complete in the parts, also with late rows and categories', async () => {
  await fc.assertAsync(
    fc.asyncProperty(fc.integer(), fc.boolean(), async (seed, isDateFromInclusive) => {
      await withWorkplace(seed, 60, { ...faults, isDateFromInclusive }, async (workplace) => {
        await workplace.run();
        for (const days of [0.1, 1, 3, 8]) {
          workplace.clock.leap(days * day);
          await workplace.run();
        }
        assertComplete(workplace);
      });
    }),
    { numRuns: 8 },
  );
});

test('a run that is killed at any step loses nothing and doubles nothing', async () => {
  for (let at = 1; ; at += 1) {
    let isOver = false;
    await withWorkplace(7, 30, { shortPages: 0.3 }, async (workplace) => {
      const killer = new Killer(at);
      isOver = (await workplace.run(killer)) !== undefined;
      workplace.clock.leap(10_000);
      await workplace.run();
      workplace.clock.leap(8 * day);
      await workplace.run();
      assertComplete(workplace);
    });
    if (isOver) {
      assert.ok(at > 60, `only ${at} steps`);
      return;
    }
  }
});

test('runs that are killed again and again come to an end', async () => {
  await fc.assertAsync(
    fc.asyncProperty(
      fc.integer(),
      fc.array(fc.integer({ min: 1, max: 80 }), { maxLength: 8 }),
      async (seed, kills) => {
        await withWorkplace(seed, 40, faults, async (workplace) => {
          for (const at of kills) {
            await workplace.run(new Killer(at));
            workplace.clock.leap(day / 4);
          }
          workplace.clock.leap(8 * day);
          await workplace.run();
          workplace.clock.leap(8 * day);
          await workplace.run();
          assertComplete(workplace);
        });
      },
    ),
    { numRuns: 6 },
  );
});

test('a late category comes once, as an update', async () => {
  await withWorkplace(3, 40, {}, async (workplace) => {
    await workplace.run();
    workplace.clock.leap(8 * day);
    await workplace.run();
    const updates = workplace.turns().filter(({ change }) => change === 'update').length;
    assert.ok(updates > 0);
    workplace.clock.leap(day);
    const counts = await workplace.run();
    assert.equal(counts?.updated, 0);
  });
});

test('a cursor that expires within a run makes shorter windows, and loses nothing', async () => {
  await withWorkplace(5, 200, { cursorLifetimeMs: 4_000, requestMs: 1_000 }, async (workplace) => {
    await workplace.run();
    workplace.clock.leap(8 * day);
    await workplace.run();
    assertComplete(workplace);
  });
});

test('the user hears of each page, also within a window of many', async () => {
  await withWorkplace(5, 200, {}, async ({ run, heard }) => {
    const counts = await run();
    assert.deepEqual(
      heard,
      Array.from({ length: counts?.requests ?? 0 }, (_, index) => index + 1),
    );
    assert.ok(heard.length > (counts?.windows ?? 0));
  });
});

test('rows that the sink has already are committed before a long window ends', async (t) => {
  const state = await openState(undefined, { project: 'p' });
  t.after(() => state.close());
  let pages = 0;
  let commits = 0;
  const pageAt = (page: number) => {
    const timestamp = new Date(since).toISOString();
    const conversations = Array.from({ length: 1000 }, (_, index) => ({
      id: `${page}-${index}`,
      timestamp,
      query: 'q',
    }));
    const next =
      page < 45 ? { nextCursor: String(page), hasMore: true } : { nextCursor: null, hasMore: false };
    const answer = readConversationPage({ conversations, ...next });
    assert.ok(answer !== undefined);
    return answer;
  };
  await exportTurns(
    { project: 'p', since, until: since + 1000, lagMs: 0, lookBackMs: 0, limit: 1000 },
    {
      listing: {
        requests: 0,
        listConversations: async () => {
          pages += 1;
          return pageAt(pages);
        },
      },
      state: {
        ...state,
        commit: () => {
          commits += 1;
        },
        windows: [],
        cycle: undefined,
        stepMs: undefined,
        prunedBefore: 0,
      },
      sink: {
        write: async () => {},
        isFull: () => false,
        flush: async () => new Map(),
        close: async () => {},
      },
      clock: leapingClock(start),
      dropsResponse: false,
      redact: (turn) => turn,
      onProgress: () => {},
    },
    signal,
  );
  assert.equal(commits, 3);
});

test('no period of an hour has more requests than the budget', async () => {
  await withWorkplace(11, 3000, { requestMs: 700 }, async (workplace) => {
    await workplace.run();
    const { requests } = workplace.model;
    assert.ok(requests.length > 150, `${requests.length} requests`);
    for (const [index, at] of requests.entries()) {
      const earlier = requests[index - 100];
      if (earlier !== undefined) assert.ok(at - earlier >= 3_600_000, `request ${index}`);
    }
  });
});
