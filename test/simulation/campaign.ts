// The campaign: lives of a year each, one seed after the other, shared out among processes, until the seeds or the
// minutes are used up. Prints where it is, a table at the end, and every breach with its seed; exits 1 if there was
// one. A range can be taken up again where it ended: the next seed is printed last.
// `node campaign.ts --from 1 --lives 100 --days 365 --minutes 30 --jobs 2`

import { type ChildProcess, fork } from 'node:child_process';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/runtime/clock.ts';
import type { LifeFacts } from './life.ts';

/** What a process is given, and what it answers. */
export interface LifeOrder {
  readonly seed: number;
  readonly days: number;
}
export interface LifeReport {
  readonly seed: number;
  readonly facts: LifeFacts | undefined;
  /** Words of the breach. */
  readonly breach: string | undefined;
}

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    lives: { type: 'string', default: '20' },
    days: { type: 'string', default: '365' },
    minutes: { type: 'string', default: '60' },
    jobs: { type: 'string', default: '1' },
  },
});
const from = Number(values.from);
const end = from + Number(values.lives);
const days = Number(values.days);
const endsAt = systemClock.monotonic() + Number(values.minutes) * 60_000;
const progressMs = 10_000;

const totals = new Map<string, number>();
const breaches: string[] = [];
const startedAt = systemClock.monotonic();
let nextSeed = from;
let lives = 0;
let toldAt = startedAt;
let isStopping = false;

process.once('SIGTERM', () => {
  isStopping = true;
});
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
tell();
process.stdout.write(`seeds ${from} to ${nextSeed - 1} are done, the next is ${nextSeed}\n`);
for (const [name, count] of [...totals].sort(([a], [b]) => (a < b ? -1 : 1))) {
  process.stdout.write(`${name.padEnd(40)} ${String(count).padStart(12)}\n`);
}
process.stdout.write(`${'lives'.padEnd(40)} ${String(lives).padStart(12)}\n`);
process.stdout.write(`${'lives with a breach'.padEnd(40)} ${String(breaches.length).padStart(12)}\n`);
for (const breach of breaches) process.stdout.write(`BREACH ${breach}\n`);
process.exitCode = breaches.length === 0 ? 0 : 1;

/** One process, given one seed after the other. What it is playing when the time is over is played to its end. */
async function work(): Promise<void> {
  const child = fork(new URL('./campaign-worker.ts', import.meta.url), {
    execArgv: ['--import', new URL('./memo/hooks.ts', import.meta.url).href],
  });
  while (nextSeed < end && !isStopping && systemClock.monotonic() < endsAt) {
    const seed = nextSeed;
    nextSeed += 1;
    take(await play(child, { seed, days }));
  }
  child.disconnect();
}

function play(child: ChildProcess, order: LifeOrder): Promise<LifeReport> {
  return new Promise((resolve, reject) => {
    const died = (code: number | null): void =>
      reject(new Error(`the process that played life ${order.seed} ended with ${code}`));
    child.once('exit', died);
    child.once('message', (report: LifeReport) => {
      child.off('exit', died);
      resolve(report);
    });
    child.send(order);
  });
}

function take({ facts, breach }: LifeReport): void {
  lives += 1;
  if (breach !== undefined) {
    breaches.push(breach);
    process.stdout.write(`BREACH ${breach}\n`);
  }
  for (const [name, count] of Object.entries(facts ?? {})) {
    totals.set(name, (totals.get(name) ?? 0) + count);
  }
  if (systemClock.monotonic() - toldAt > progressMs) tell();
}

function tell(): void {
  toldAt = systemClock.monotonic();
  const played = totals.get('days') ?? 0;
  const rate = (played / (toldAt - startedAt)) * 1000;
  process.stdout.write(
    `${lives} lives, ${played} resource-days, ${rate.toFixed(0)} a second, ${breaches.length} breaches\n`,
  );
}
