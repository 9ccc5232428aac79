// The conversation listing over a file of a million turns: how long the file takes to be read, pages of 1000 at the start,
// middle and end of it, an appended turn, and the whole file replaced while pages are listed. The built program. For each
// step the most processor time that the main thread spent in one turn of its loop, and the most resident memory so far.
//
//   node test/bench/export-service/listing.ts [--programs FOLDER] [--turns COUNT] [--requests COUNT]

import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { startProgram } from '../../support/child-program.ts';
import { findFreePort } from '../../support/free-port.ts';
import { timeOfTurn as iso, writeTurns } from './made-turns.ts';

const { values } = parseArgs({
  options: {
    programs: { type: 'string', default: join(import.meta.dirname, '../../../dist') },
    turns: { type: 'string', default: '1000000' },
    requests: { type: 'string', default: '200' },
  },
});
const turns = Number(values.turns);
const requests = Number(values.requests);

const work = mkdtempSync(join(tmpdir(), 'listing-bench-'));
const path = join(work, 'turns.ndjson');
const meter = join(work, 'meter');
const [port, adminPort] = [await findFreePort(), await findFreePort()];
const base = `http://127.0.0.1:${port}/v1/analytics/default/assistant`;

const pageShape = z.object({
  conversations: z.array(z.looseObject({ id: z.string(), response: z.string(), timestamp: z.string() })),
  nextCursor: z.string().nullable(),
  hasMore: z.boolean(),
});
async function list(query: Readonly<Record<string, string>>): Promise<{ text: string; ms: number }> {
  const began = performance.now();
  const response = await fetch(`${base}?${new URLSearchParams(query)}`, {
    headers: { authorization: 'Bearer svc_bench' },
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  return { text, ms: performance.now() - began };
}
const read = async (query: Readonly<Record<string, string>>) =>
  pageShape.parse(JSON.parse((await list(query)).text));

const quantile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;

/** The main thread's longest turn since, and the highest resident memory so far. */
async function costs(pid: number | undefined, since: number): Promise<string> {
  await sleep(600);
  const longest = readFileSync(meter, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(' ').map(Number))
    .filter(([at = 0]) => at > since)
    .reduce((most, [, turnMs = 0]) => Math.max(most, turnMs), 0);
  const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return `${longest.toFixed(1)} | ${(Number(peak) / 1024).toFixed(0)}`;
}

const bytes = writeTurns(path, turns, 'first');
console.log(`${turns} turns, ${(bytes / 1e6).toFixed(0)} MB`);
writeFileSync(join(work, 'keys.txt'), 'svc_bench\n');
const startedAt = Date.now();
const program = startProgram(process.execPath, {
  args: [
    `--import=${join(import.meta.dirname, 'turn-meter.mjs')}`,
    join(values.programs, 'export-service.mjs'),
    `--listen=127.0.0.1:${port}`,
    `--admin-listen=127.0.0.1:${adminPort}`,
    `--data=${join(work, 'data')}`,
    `--keys-file=${join(work, 'keys.txt')}`,
    `--conversations=${path}`,
    '--log-level=warn',
  ],
  env: { NODE_ENV: 'production', MALLOC_ARENA_MAX: '1', TURN_METER: meter },
  onLine: (line) => console.log(line),
});

async function measure(
  name: string,
  queryOf: (round: number) => Readonly<Record<string, string>>,
): Promise<void> {
  const since = Date.now();
  const taken: number[] = [];
  for (let round = 0; round < requests; round += 1) taken.push((await list(queryOf(round))).ms);
  const sorted = taken.toSorted((a, b) => a - b);
  const row = [quantile(sorted, 0.5), quantile(sorted, 0.99), sorted.at(-1) ?? 0].map((ms) => ms.toFixed(1));
  console.log(`| ${name} | ${row.join(' | ')} | ${await costs(program.pid, since)} |`);
}

try {
  for (;;) {
    const isUp = await fetch(`http://127.0.0.1:${adminPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isUp) break;
    if (program.hasExited()) throw new Error('the program ended');
    await sleep(100);
  }
  console.log(
    `started in ${((Date.now() - startedAt) / 1000).toFixed(1)} s | ${await costs(program.pid, startedAt)}`,
  );
  console.log('| pages of 1000 | p50 ms | p99 ms | slowest ms | longest turn ms | resident at the peak MB |');
  console.log('|---|---|---|---|---|---|');
  const middle = await read({ limit: '1', dateFrom: iso(turns / 2) });
  const late = await read({ limit: '1', dateFrom: iso(turns - 1100) });
  const limit = '1000';
  await measure('start', () => ({ limit }));
  await measure('middle, by cursor', () => ({ limit, cursor: middle.nextCursor ?? '' }));
  await measure('end, by cursor', () => ({ limit, cursor: late.nextCursor ?? '' }));
  await measure('middle, dateFrom and dateTo', () => ({
    limit,
    dateFrom: iso(turns / 2),
    dateTo: iso(turns / 2 + 5000),
  }));
  await measure('end, dateFrom alone', () => ({ limit, dateFrom: iso(turns - 1100) }));
  await measure('middle, cursor and earlier dateFrom', () => ({
    limit,
    cursor: middle.nextCursor ?? '',
    dateFrom: iso(0),
  }));
  await measure('middle, cursor at the start and dateFrom', () => ({
    limit,
    cursor: '00000000000000000000000000',
    dateFrom: iso(turns / 2),
  }));
  await measure('anywhere, by cursor', (round) => ({ limit, dateFrom: iso((round * 7919 * 131) % turns) }));

  writeTurns(`${path}.new`, turns, 'second');
  renameSync(`${path}.new`, path);
  const replacedAt = Date.now();
  const during: number[] = [];
  for (;;) {
    const { text, ms } = await list({ limit, dateFrom: iso(turns / 2) });
    during.push(ms);
    if (text.includes('(second)')) break;
    await sleep(20);
  }
  const tookS = (Date.now() - replacedAt) / 1000;
  const ordered = during.toSorted((a, b) => a - b);
  console.log(
    `replaced: new turns after ${tookS.toFixed(1)} s; pages meanwhile p50 ${quantile(ordered, 0.5).toFixed(1)}, p99 ${quantile(ordered, 0.99).toFixed(1)} ms | ${await costs(program.pid, replacedAt)}`,
  );
} finally {
  await program.stop('SIGTERM', 3000);
  rmSync(work, { recursive: true, force: true });
}
