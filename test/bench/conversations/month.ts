// A month of a million turns, exported by the command's own run in one process: its resident memory, its time, its requests
// in any hour against the budget, and its estimates against what was needed. Time is virtual, files are real.
//
//   node test/bench/conversations/month.ts [--turns 1000000] [--format ndjson|csv|parquet|sqlite|singer]

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openBudget } from '#conversations/budget.ts';
import { createPacedListing } from '#conversations/paced-listing.ts';
import { exportTurns } from '#conversations/run.ts';
import { openSink, sinkFormats } from '#conversations/sinks/open-sink.ts';
import { openState } from '#conversations/state.ts';
import { type ConversationQuery, readConversationPage } from '#export-api/conversation-answers.ts';
import { keepHeapSmall } from '#platform/runtime/v8/heap-growth.ts';
import { leapingClock } from '../../support/conversation-model.ts';

keepHeapSmall();

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '1000000' },
    format: { type: 'string', default: 'ndjson' },
  },
});
const count = Number(values.turns);
const format = sinkFormats.find((one) => one === values.format);
assert.ok(format !== undefined, `--format must be one of ${sinkFormats.join(', ')}`);

const day = 86_400_000;
const hour = 3_600_000;
const since = Date.UTC(2026, 9, 1);
const until = since + 30 * day;
const limit = Math.max(10, Math.round(count / 1000));
const answer = 'An answer of the usual length, with some words of its own. '.repeat(12);

/** More by day than by night: the time of each turn, in order, from a smooth curve. */
const timeOf = (index: number): number => {
  const share = index / count;
  const at = share * 30 * day;
  return Math.floor(since + at + Math.sin((at / day) * 2 * Math.PI) * 2.5 * hour);
};
const times = new Float64Array(count);
for (let index = 0; index < count; index += 1) times[index] = timeOf(index);
times.sort();

const firstAtOrAfter = (at: number): number => {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < at) low = middle + 1;
    else high = middle;
  }
  return low;
};

const clock = leapingClock(until + day);
const sent: number[] = [];
const client = {
  listConversations: async ({ dateFrom = 0, dateTo = 0, cursor, limit: most = 100 }: ConversationQuery) => {
    clock.leap(400);
    sent.push(clock.now());
    const start = cursor === undefined ? firstAtOrAfter(dateFrom) : Number(cursor);
    const end = Math.min(start + most, firstAtOrAfter(dateTo));
    const hasMore = end < firstAtOrAfter(dateTo);
    const conversations = Array.from({ length: end - start }, (_, offset) => {
      const index = start + offset;
      return {
        id: `c${index >> 1}`,
        timestamp: new Date(times[index] ?? 0).toISOString(),
        query: `How do I configure feature ${index}?`,
        response: `${answer}${index}`,
        sources: [{ title: 'Start', url: 'https://docs.example.com/start' }],
        queryCategory: index % 3 === 0 ? 'How-To' : null,
        pageUrl: 'https://docs.example.com/',
      };
    });
    // As it comes over the network: text, parsed.
    const body: unknown = JSON.parse(
      JSON.stringify({ conversations, nextCursor: hasMore ? String(end) : null, hasMore }),
    );
    const page = readConversationPage(body);
    assert.ok(page);
    return page;
  },
};

const folder = mkdtempSync(join(tmpdir(), 'conversation-month-'));
// Of Singer, the target has the state.
const state = await openState(format === 'singer' ? undefined : join(folder, 'state'), { project: 'p' });
const rule = { requests: 100, periodMs: hour, reserve: 0, maxWaitMs: hour };
const budget = await openBudget(join(folder, 'budget.sqlite'), rule, clock);
const to = format === 'singer' ? '-' : join(folder, format === 'sqlite' ? 'turns.sqlite' : 'turns');
const never = (): never => assert.fail('the bench opens no bucket and no webhook');
const { signal } = new AbortController();
let writtenBytes = 0;
const writeOut = async (text: string): Promise<void> => {
  writtenBytes += Buffer.byteLength(text);
};
const sink = await openSink(
  { format, to, project: 'p' },
  {
    ledger: state,
    writeOut,
    openBucket: never,
    openWebhook: never,
    scratch: join(folder, 'scratch'),
    signal,
  },
);
const listing = createPacedListing({ client, budget, clock, onWait: () => {} });
const atStart = process.memoryUsage().rss;
const estimates: (readonly [percent: number, requests: number])[] = [];
const startedAt = process.hrtime.bigint();
const counts = await exportTurns(
  { project: 'p', since, until, lagMs: 900_000, lookBackMs: 7 * day, limit },
  {
    ...{ listing, state, sink, clock, dropsResponse: false, redact: (turn) => turn },
    onProgress: ({ estimate: { percent, requests } }) => {
      if (requests !== undefined) estimates.push([percent, requests]);
    },
  },
  signal,
);
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
await sink.close();
state.close();
budget.close();
rmSync(folder, { recursive: true });

assert.equal(counts.inserted, count);
for (const [index, at] of sent.entries()) {
  const earlier = sent[index - rule.requests];
  assert.ok(earlier === undefined || at - earlier >= hour, `request ${index} is over the budget`);
}
const [early] = estimates;
const offBy = estimates.map(([, requests]) => (100 * (requests - counts.requests)) / counts.requests);
const mib = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`;
process.stdout.write(
  [
    `${count} turns as ${format}: ${seconds.toFixed(1)} s, ${Math.round((userCPUTime + systemCPUTime) / 1e6)} s of CPU time, ${counts.requests} requests in ${counts.windows} windows`,
    `never more than ${rule.requests} requests in any hour; ${((sent.at(-1) ?? 0) - (sent[0] ?? 0)) / hour} h of virtual time`,
    `first estimate after ${early?.[0].toFixed(0)} % of the time: ${early?.[1]} requests, ${offBy[0]?.toFixed(1)} % off`,
    `later ones: ${Math.min(...offBy).toFixed(1)} % to ${Math.max(...offBy).toFixed(1)} % off`,
    `resident memory: ${mib(atStart)} at the start, ${mib(maxRSS * 1024)} at most; ${mib(writtenBytes)} on standard output`,
    '',
  ].join('\n'),
);
