// Estimates of a real run over listings of several shapes: each number that a run names is within a tenth of what it needed
// in the end, and steady listings get one early.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openBudget } from '#conversations/budget.ts';
import { createEstimator, type Estimate } from '#conversations/estimate.ts';
import { createPacedListing } from '#conversations/paced-listing.ts';
import { exportTurns } from '#conversations/run.ts';
import type { Sink } from '#conversations/sink.ts';
import { openState } from '#conversations/state.ts';
import { ExportApiError } from '#export-api/answers.ts';
import { type ConversationQuery, readConversationPage } from '#export-api/conversation-answers.ts';
import { leapingClock, seededRandom } from '../../support/conversation-model.ts';

const hour = 3_600_000;
const day = 24 * hour;
const since = Date.UTC(2026, 5, 1);
const { signal } = new AbortController();
const sink: Sink = {
  write: async () => {},
  isFull: () => false,
  flush: async () => new Map(),
  close: async () => {},
};

interface Listing {
  readonly days: number;
  readonly turns: number;
  readonly limit: number;
  /** How much is asked, in days from the start. */
  readonly weight: (at: number, random: () => number) => number;
  /** Share of requests that fail. */
  readonly failures?: number;
  /** The service gives no more rows in a page. */
  readonly mostRows?: number;
}

/** Times of turns, in order. */
function timesOf({ days, turns, weight }: Listing, random: () => number): Float64Array {
  let sum = 0;
  const until = Array.from({ length: days * 24 }, (_, at) => {
    sum += weight(at / 24, random);
    return sum;
  });
  const times = Float64Array.from({ length: turns }, () => {
    const wanted = random() * sum;
    const at = firstAtOrAfter(until, wanted);
    return since + Math.floor((at + random()) * hour);
  });
  return times.sort();
}

function firstAtOrAfter(sorted: ArrayLike<number>, wanted: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Named extends Estimate {
  /** Of the time to read, in percent. */
  readonly percent: number;
}

/** Runs an export. @returns what it named after each window, and what it needed */
async function exported(
  listing: Listing,
  seed: number,
): Promise<{ readonly named: readonly Named[]; readonly needed: number }> {
  const random = seededRandom(seed);
  const times = timesOf(listing, random);
  const until = since + listing.days * day;
  const clock = leapingClock(until + day);
  const client = {
    listConversations: async ({ dateFrom = 0, dateTo = 0, cursor, limit = 100 }: ConversationQuery) => {
      if (random() < (listing.failures ?? 0))
        throw new ExportApiError('ServerError', 'failed', { status: 500 });
      const start = cursor === undefined ? firstAtOrAfter(times, dateFrom) : Number(cursor);
      const last = firstAtOrAfter(times, dateTo);
      const end = Math.min(start + Math.min(limit, listing.mostRows ?? limit), last);
      const hasMore = end < last;
      const conversations = Array.from({ length: end - start }, (_, at) => ({
        id: `${start + at}`,
        timestamp: new Date(times[start + at] ?? 0).toISOString(),
        query: 'How?',
      }));
      const page = readConversationPage({ conversations, nextCursor: hasMore ? String(end) : null, hasMore });
      assert.ok(page);
      return page;
    },
  };
  // A file of its own that ends with the connection.
  const budget = await openBudget('', { requests: 100, periodMs: hour, reserve: 0, maxWaitMs: day }, clock);
  const state = await openState(undefined, { project: 'p' });
  const named: Named[] = [];
  try {
    const counts = await exportTurns(
      { project: 'p', since, until, lagMs: 900_000, lookBackMs: 7 * day, limit: listing.limit },
      {
        ...{ listing: createPacedListing({ client, budget, clock, onWait: () => {} }), state, sink, clock },
        ...{ dropsResponse: false, redact: (turn) => turn },
        onProgress: ({ estimate }) => named.push(estimate),
      },
      signal,
    );
    assert.equal(counts.inserted, listing.turns);
    return { named, needed: counts.requests };
  } finally {
    state.close();
    budget.close();
  }
}

/** Office hours, and little on weekends. */
const office = (at: number): number => {
  const hours = (at % 1) * 24;
  return (Math.floor(at) % 7 >= 5 ? 0.25 : 1) * (hours > 8 && hours < 18 ? 3 : 0.4);
};

const large = { days: 60, turns: 12_000, limit: 20 };
const month = { days: 30, turns: 6_000, limit: 20 };
const small = { days: 60, turns: 800, limit: 20 };

const shapes: Readonly<Record<string, readonly [listing: Listing, knownBy: number]>> = {
  'a regular listing': [{ ...large, weight: () => 1 }, 30],
  'a regular month': [{ ...month, weight: () => 1 }, 35],
  'a day and night rhythm': [{ ...large, weight: (at) => 1 + Math.sin(at * 2 * Math.PI) }, 50],
  'a weekly rhythm': [{ ...large, weight: office }, 60],
  'a growing listing': [{ ...large, weight: (at) => 1 + at / 30 }, 85],
  'a shrinking listing': [{ ...large, weight: (at) => 3 - at / 30 }, 85],
  'a listing that doubles each month': [{ ...large, weight: (at) => 2 ** (at / 30) }, 95],
  'short bursts in every week': [{ ...large, weight: (at) => (Math.floor(at * 2) % 7 === 3 ? 10 : 1) }, 75],
  'bursts at any time': [{ ...large, weight: (_, random) => (random() < 0.1 ? 20 * random() : 0.05) }, 95],
  'a small regular listing': [{ ...small, weight: () => 1 }, 100],
  'a small irregular listing': [{ ...small, weight: (_, random) => (random() < 0.03 ? 20 : 0.1) }, 100],
  'a very small listing': [{ ...small, turns: 40, weight: (_, random) => random() ** 4 }, 100],
  'requests that fail': [{ ...large, weight: () => 1, failures: 0.2 }, 50],
  'pages that are smaller than asked for': [{ ...large, limit: 100, mostRows: 20, weight: () => 1 }, 35],
};

/** Listings of each shape. More of them: `ESTIMATE_LISTINGS=2`. */
const seeds = Array.from({ length: Number(process.env['ESTIMATE_LISTINGS'] ?? 1) }, (_, at) => at + 1);

for (const [name, [listing, knownBy]] of Object.entries(shapes)) {
  test(`${name}: each number is within a tenth, and there is one when ${knownBy} % of the time is read`, async (t) => {
    for (const seed of seeds) {
      const { named, needed } = await exported(listing, seed);
      const numbers = named.flatMap(({ percent, requests }) =>
        requests === undefined ? [] : [{ percent, requests }],
      );
      const off = numbers.map(({ requests }) => requests - needed);
      const first = numbers[0];
      t.diagnostic(
        `${needed} requests, first estimate ${first?.requests} at ${first?.percent.toFixed(0)} %, ${Math.min(...off)} to ${Math.max(...off)} off`,
      );
      // Of a few requests, a tenth is less than one.
      const allowed = Math.max(1, needed / 10);
      assert.ok(
        off.every((one) => Math.abs(one) <= allowed),
        JSON.stringify(numbers),
      );
      assert.ok(first !== undefined && first.percent <= knownBy, `first at ${first?.percent} %`);
      assert.deepEqual(named.at(-1), { percent: 100, requests: needed });
    }
  });
}

test('before a quarter of the time is read it is too early, however steady the listing', () => {
  const estimator = createEstimator([{ from: 0, until: 100 * day }], 1000);
  for (let at = 0; at < 24; at += 1) {
    const window = { from: at * day, until: (at + 1) * day };
    const read = { rows: 10_000, requests: 10, sent: (at + 1) * 10, stepMs: day };
    assert.deepEqual(estimator.windowRead(window, read), { percent: at + 1, requests: undefined });
  }
});

test('a listing without turns is never foreseen to stay so', () => {
  const estimator = createEstimator([{ from: 0, until: 10 * day }], 1000);
  const read = { rows: 0, requests: 1, sent: 1, stepMs: day };
  assert.equal(estimator.windowRead({ from: 0, until: 9 * day }, read).requests, undefined);
});

test('a thousand windows of two spans are estimated as few are', () => {
  const spans = [
    { from: 50 * day, until: 100 * day },
    { from: 0, until: 50 * day },
  ];
  const estimator = createEstimator(spans, 100);
  const step = day / 20;
  let last: Estimate | undefined;
  for (let at = 0; at < 1400; at += 1) {
    const from = at < 1000 ? 50 * day + at * step : (at - 1000) * step;
    last = estimator.windowRead(
      { from, until: from + step },
      { rows: 950, requests: 10, sent: (at + 1) * 10, stepMs: step },
    );
  }
  assert.equal(last?.percent, 70);
  assert.ok(last?.requests !== undefined && Math.abs(last.requests - 20_000) < 400, `${last?.requests}`);
});
