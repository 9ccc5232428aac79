// A tap that starts from the STATE of its target alone: it sends no more requests than one with a folder, and a look-back that
// was interrupted goes on.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { openSingerState } from '#conversations/commands/singer-state.ts';
import { exportTurns } from '#conversations/run.ts';
import { singerSink } from '#conversations/sinks/singer-sink.ts';
import { longestStepMs, shortestStepMs } from '#conversations/windows.ts';
import {
  ConversationModel,
  leapingClock,
  modelRows,
  seededRandom,
} from '../../../support/conversation-model.ts';

const day = 86_400_000;
const start = Date.UTC(2026, 10, 20, 12);
const since = start - 60 * day;
const count = 600;

class BudgetSpent extends Error {}

interface RunEnd {
  readonly requests: number;
  readonly isCut: boolean;
}

/** Runs of one tap over a project with ten turns a day, each from a file with the last STATE. */
function tapOf(t: TestContext, change: (bookmark: object) => object = (bookmark) => bookmark, limit = 2) {
  const folder = mkdtempSync(join(tmpdir(), 'singer-state-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'state.json');
  const clock = leapingClock(start);
  const random = seededRandom(1);
  const model = new ConversationModel(modelRows(random, { from: since, until: start }, count), clock, {
    random,
  });
  const keys = new Set<string>();
  const take = async (text: string): Promise<void> => {
    for (const line of text.split('\n').slice(0, -1)) {
      const { type, value, record } = JSON.parse(line);
      if (type === 'RECORD') keys.add(record.turn_key);
      if (type !== 'STATE') continue;
      writeFileSync(file, JSON.stringify({ bookmarks: { turns: change(value.bookmarks.turns) } }));
    }
  };
  let hasState = false;
  const run = async (budget = Number.POSITIVE_INFINITY): Promise<RunEnd> => {
    const state = await openSingerState({ state: hasState ? file : undefined, project: 'p' });
    hasState = true;
    let requests = 0;
    const listing = {
      get requests() {
        return requests;
      },
      listConversations: (...args: Parameters<ConversationModel['listConversations']>) => {
        if (requests >= budget) throw new BudgetSpent();
        requests += 1;
        return model.listConversations(...args);
      },
    };
    let isCut = false;
    try {
      await exportTurns(
        { project: 'p', since, until: undefined, lagMs: 900_000, lookBackMs: 7 * day, limit },
        {
          ...{ listing, state, sink: singerSink('p', take), clock, dropsResponse: false },
          redact: (turn) => turn,
          onProgress: () => {},
        },
        new AbortController().signal,
      );
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error;
      isCut = true;
    } finally {
      state.close();
    }
    return { requests, isCut };
  };
  return { run, clock, file, keys };
}

/** @returns how many requests it takes until a run is not cut any more */
async function requestsOfAll({ run }: ReturnType<typeof tapOf>, budget: number): Promise<number> {
  let sum = 0;
  for (let runs = 0; runs < 50; runs += 1) {
    const { requests, isCut } = await run(budget);
    sum += requests;
    if (!isCut) return sum;
  }
  return Number.POSITIVE_INFINITY;
}

test('a run of the next day goes on with the step that the last one had', async (t) => {
  const nextDay = async (change?: (bookmark: object) => object): Promise<number> => {
    const tap = tapOf(t, change, 100);
    await tap.run();
    tap.clock.leap(day);
    return (await tap.run()).requests;
  };
  const carried = await nextDay();
  const withoutStep = await nextDay((bookmark) => ({ ...bookmark, stepMs: undefined }));
  t.diagnostic(`${carried} requests, and ${withoutStep} without the step`);
  assert.ok(carried + 2 <= withoutStep, `${carried} requests, and ${withoutStep} without the step`);
});

test('a window that takes more requests than a run may send is not read from its start for ever', async (t) => {
  const tap = tapOf(t);
  await tap.run();
  const found = tap.keys.size;
  const { bookmarks } = JSON.parse(readFileSync(tap.file, 'utf8'));
  const { project } = bookmarks.turns;
  writeFileSync(
    tap.file,
    JSON.stringify({ bookmarks: { turns: { project, windows: [], stepMs: 60 * day } } }),
  );
  tap.keys.clear();
  assert.ok(Number.isFinite(await requestsOfAll(tap, 30)));
  // A turn that comes late may be there by then.
  assert.ok(tap.keys.size >= found, `${tap.keys.size} of ${found} turns`);
});

/** What runs find in a look-back of a day later, each with less than half of the requests that it takes. */
async function lookBackInParts({ run, clock, keys }: ReturnType<typeof tapOf>): Promise<readonly string[]> {
  await run();
  clock.leap(day);
  keys.clear();
  for (let runs = 0; runs < 4; runs += 1) await run(12);
  return [...keys].sort();
}

test('a look-back that the budget cuts goes on where it was', async (t) => {
  const { run, clock, keys } = tapOf(t);
  await run();
  clock.leap(day);
  keys.clear();
  const { requests } = await run();
  assert.ok(requests > 20 && requests < 40, `${requests} requests`);
  const whole = [...keys].sort();
  assert.deepEqual(await lookBackInParts(tapOf(t)), whole);
  const withoutCycle = await lookBackInParts(tapOf(t, (bookmark) => ({ ...bookmark, cycle: undefined })));
  assert.ok(withoutCycle.length < whole.length, 'without its cycle it begins again and again');
});

for (const stepMs of [0.001, -5, 1e300])
  test(`a step of ${stepMs} ms is brought into its bounds`, async (t) => {
    const { file, run } = tapOf(t, (bookmark) => ({ ...bookmark, stepMs }));
    await run();
    const state = await openSingerState({ state: file, project: 'p' });
    t.after(() => state.close());
    assert.ok(state.stepMs !== undefined && state.stepMs >= shortestStepMs && state.stepMs <= longestStepMs);
  });

const folder = mkdtempSync(join(tmpdir(), 'singer-files-'));
after(() => rmSync(folder, { recursive: true }));
const bookmark = { project: 'p', windows: [{ from: 0, until: 60_000, readAt: null }] };

for (const [name, text] of [
  ['the state of a target', { bookmarks: { turns: bookmark } }],
  ['the message of the tap itself', { type: 'STATE', value: { bookmarks: { turns: bookmark } } }],
] as const) {
  test(`${name} is read`, async (t) => {
    const path = join(folder, 'state.json');
    writeFileSync(path, `{"type":"RECORD"}\n${JSON.stringify(text)}\n`);
    const state = await openSingerState({ state: path, project: 'p' });
    t.after(() => state.close());
    assert.deepEqual(state.windows, bookmark.windows);
  });
}

for (const [name, text, code, message] of [
  ['absent', undefined, 'StateUnusable', /does not exist; leave it out for the first run/],
  ['empty', '', 'StateInvalid', /is empty; .* or leave it out/],
  ['foreign', '{"bookmarks":{"orders":{}}}', 'StateInvalid', /is not a STATE of this tap/],
] as const) {
  test(`a file of state that is ${name} is refused with what to do`, async () => {
    const path = join(folder, `${name}.json`);
    if (text !== undefined) writeFileSync(path, text);
    await assert.rejects(openSingerState({ state: path, project: 'p' }), { code, message });
  });
}
