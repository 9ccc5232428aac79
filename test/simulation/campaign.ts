// The campaign: lives of a year each, one seed after the other, until the seeds or the minutes are used up. Prints
// progress, a table at the end and every breach with its seed; exits 1 if there was one. Ranges of seeds can be
// spread over processes and taken up again: `node campaign.ts --from 1 --lives 100 --days 365 --minutes 30`.

import process from 'node:process';
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/runtime/clock.ts';
import { type LifeFacts, playLife } from './life.ts';

const { values } = parseArgs({
  options: {
    from: { type: 'string', default: '1' },
    lives: { type: 'string', default: '20' },
    days: { type: 'string', default: '365' },
    minutes: { type: 'string', default: '60' },
  },
});
const [from, lives, days, minutes] = [values.from, values.lives, values.days, values.minutes].map(Number);

const total: LifeFacts = {
  days: 0,
  turns: 0,
  faults: 0,
  crashes: 0,
  starts: 0,
  mints: 0,
  versions: 0,
  idleDays: 0,
  idleTurns: 0,
  excusedDeaths: 0,
};
const breaches: string[] = [];
const startedAt = systemClock.monotonic();
const spentMs = (): number => systemClock.monotonic() - startedAt;

let seed = from ?? 1;
for (; seed < (from ?? 1) + (lives ?? 0) && spentMs() < (minutes ?? 0) * 60_000; seed += 1) {
  try {
    add(await playLife(seed, days ?? 365));
  } catch (error) {
    breaches.push(error instanceof Error ? error.message : String(error));
    process.stdout.write(`BREACH ${breaches.at(-1)}\n`);
  }
  const rate = (total.days / spentMs()) * 1000;
  process.stdout.write(`life ${seed}: ${total.days} resource-days, ${rate.toFixed(0)} a second\n`);
}
process.stdout.write(`next seed: ${seed}\nlives with a breach: ${breaches.length}\n`);
for (const [name, count] of Object.entries(total)) {
  process.stdout.write(`${name.padEnd(14)} ${String(count).padStart(10)}\n`);
}
process.exitCode = breaches.length === 0 ? 0 : 1;

function add(facts: LifeFacts): void {
  total.days += facts.days;
  total.turns += facts.turns;
  total.faults += facts.faults;
  total.crashes += facts.crashes;
  total.starts += facts.starts;
  total.mints += facts.mints;
  total.versions += facts.versions;
  total.idleDays += facts.idleDays;
  total.idleTurns += facts.idleTurns;
  total.excusedDeaths += facts.excusedDeaths;
}
