// The campaign: scenario runs of a year each, one seed after the other, divided among processes, until the seeds or
// the minutes are used up. Prints its progress, a table at the end, and every breach with its seed; exits 1 after a
// breach. A range can be continued where it ended: the next seed is printed last.
// `node campaign.ts --from 1 --lives 100 --days 365 --minutes 30 --jobs 2`; `--record FILE` keeps the totals, and the
// same command continues from there. `--form project` plays the project-scoped form of the export API.

import { type ChildProcess, fork } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { systemClock } from '#platform/runtime/clock.ts';
import { type ApiForm, apiForms, possibleCounts, type RunCounts } from './scenario-run.ts';

/** A scenario run that a process plays. */
export interface LifeOrder {
  readonly form: ApiForm;
  readonly seed: number;
  readonly days: number;
}
export interface LifeReport {
  readonly seed: number;
  readonly facts: RunCounts | undefined;
  /** The breach's message. */
  readonly breach: string | undefined;
}

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    lives: { type: 'string', default: '20' },
    days: { type: 'string', default: '365' },
    minutes: { type: 'string', default: '60' },
    jobs: { type: 'string', default: '1' },
    form: { type: 'string', default: 'domain' },
    record: { type: 'string' },
  },
});

/** The totals of a range of scenario runs, as kept between two commands. */
const recordSchema = z.object({
  /** Absent in older records. */
  form: z.enum(apiForms).default('domain'),
  days: z.number(),
  from: z.number(),
  next: z.number(),
  seconds: z.number(),
  totals: z.record(z.string(), z.number()),
  breaches: z.array(z.string()),
});
const kept =
  values.record !== undefined && existsSync(values.record)
    ? recordSchema.parse(JSON.parse(readFileSync(values.record, 'utf8')))
    : undefined;
const from = kept?.from ?? Number(values.from);
const end = from + Number(values.lives);
const form = kept?.form ?? z.enum(apiForms).parse(values.form);
const days = kept?.days ?? Number(values.days);
const endsAt = systemClock.monotonic() + Number(values.minutes) * 60_000;
const progressMs = 10_000;

const totals = new Map<string, number>(Object.entries(kept?.totals ?? {}));
const breaches: string[] = [...(kept?.breaches ?? [])];
const startedAt = systemClock.monotonic() - (kept?.seconds ?? 0) * 1000;
let nextSeed = kept?.next ?? from;
let printedAt = startedAt;
let isStopping = false;

process.on('SIGTERM', () => {
  isStopping = true;
});
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
printProgress();
keep();
summarise();
process.exitCode = breaches.length === 0 ? 0 : 1;

/** One process, given one seed after the other. A scenario run that has started is finished. */
async function work(): Promise<void> {
  const child = fork(new URL('./campaign-worker.ts', import.meta.url), {
    execArgv: ['--import', new URL('./memo/hooks.ts', import.meta.url).href],
  });
  while (nextSeed < end && !isStopping && systemClock.monotonic() < endsAt) {
    const seed = nextSeed;
    nextSeed += 1;
    take(await play(child, { seed, days, form }));
  }
  child.disconnect();
}

function play(child: ChildProcess, order: LifeOrder): Promise<LifeReport> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void =>
      reject(new Error(`the process that played seed ${order.seed} ended with ${code}`));
    child.once('exit', ended);
    child.once('message', (report: LifeReport) => {
      child.off('exit', ended);
      resolve(report);
    });
    child.send(order);
  });
}

function take({ facts, breach }: LifeReport): void {
  add('lives', 1);
  if (breach !== undefined) {
    breaches.push(breach);
    process.stdout.write(`BREACH ${breach}\n`);
  }
  for (const [name, count] of Object.entries(facts ?? {})) {
    add(name, count);
  }
  if (systemClock.monotonic() - printedAt > progressMs) printProgress();
}

function add(name: string, count: number): void {
  totals.set(name, (totals.get(name) ?? 0) + count);
}

/** Renamed when complete, so a killed command leaves the previous record. */
function keep(): void {
  if (values.record === undefined) return;
  const seconds = (systemClock.monotonic() - startedAt) / 1000;
  const record = { form, days, from, next: nextSeed, seconds, totals: Object.fromEntries(totals), breaches };
  writeFileSync(`${values.record}.new`, JSON.stringify(record));
  renameSync(`${values.record}.new`, values.record);
}

function printProgress(): void {
  printedAt = systemClock.monotonic();
  const played = totals.get('days') ?? 0;
  const rate = (played / (printedAt - startedAt)) * 1000;
  process.stdout.write(
    `${totals.get('lives') ?? 0} lives, ${played} resource-days, ${rate.toFixed(0)} a second, ${breaches.length} breaches\n`,
  );
}

function summarise(): void {
  process.stdout.write(`seeds ${from} to ${nextSeed - 1} are done, the next is ${nextSeed}\n`);
  const rows = [...totals].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, count] of rows.filter(([one]) => !one.includes('|'))) printRow(name, [count]);
  printRow('lives with a breach', [breaches.length]);
  for (const group of ['happening', 'trouble', 'fault']) printTable(group);
  const never = possibleCounts.filter((name) => (totals.get(name) ?? 0) === 0);
  for (const name of never) process.stdout.write(`NEVER ${name}\n`);
  for (const breach of breaches) process.stdout.write(`BREACH ${breach}\n`);
}

/** Counts named `group|row|column`, as a table. */
function printTable(group: string): void {
  const cells = possibleCounts.map((name) => name.split('|')).filter(([first]) => first === group);
  const columns = [...new Set(cells.map(([, , column = '']) => column))];
  process.stdout.write(`\n${group}: ${columns.join(', ')}\n`);
  for (const row of new Set(cells.map(([, name = '']) => name))) {
    printRow(
      row,
      columns.map((column) => totals.get(`${group}|${row}|${column}`)),
    );
  }
}

function printRow(name: string, counts: readonly (number | undefined)[]): void {
  const figures = counts.map((count) => String(count ?? '-').padStart(10)).join('');
  process.stdout.write(`${name.padEnd(48)}${figures}\n`);
}
