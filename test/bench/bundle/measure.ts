// Measuring by turns: every contestant once in each round, so that a machine that is busy for a while is so for all.
// Two times for each: by the clock, and of the processor (own threads and ended children), which a busy machine
// changes less.

import { readFileSync } from 'node:fs';

export interface Contestant {
  readonly name: string;
  /** One round. What is put in place for it beforehand does not count. */
  run(): Promise<Spent>;
}

export interface Spent {
  readonly clockMs: number;
  readonly processorMs: number;
}

export interface Measured extends Spent {
  readonly name: string;
  readonly leastMs: number;
}

/** Fewer would be no median. */
const fewestRounds = 3;

/**
 * Medians over the rounds.
 *
 * @param most rounds; fewer where the next one would not end within `budgetMs`, but three at least
 */
export async function measureByTurns(
  contestants: readonly Contestant[],
  most: number,
  budgetMs: number,
): Promise<readonly Measured[]> {
  const spent = new Map(contestants.map(({ name }): [string, Spent[]] => [name, []]));
  const start = performance.now();
  let rounds = 0;
  const hasTime = (): boolean => ((performance.now() - start) / rounds) * (rounds + 1) < budgetMs;
  for (; rounds < most && (rounds < fewestRounds || hasTime()); rounds += 1) {
    for (const { name, run } of contestants) spent.get(name)?.push(await run());
  }
  if (rounds < most) console.log(`  (${rounds} rounds in ${Math.round(budgetMs / 1000)} s)`);
  return [...spent].map(([name, list]) => {
    const clock = list.map(({ clockMs }) => clockMs);
    return {
      name,
      clockMs: median(clock),
      processorMs: median(list.map(({ processorMs }) => processorMs)),
      leastMs: Math.min(...clock),
    };
  });
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? Number.NaN;
}

export async function timed(work: () => unknown): Promise<Spent> {
  const processor = processorMs();
  const start = performance.now();
  await work();
  return { clockMs: performance.now() - start, processorMs: processorMs() - processor };
}

/** Of a process that still runs, with its threads. */
export function processorMsOf(pid: number): number {
  const fields = statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** proc(5), from the field behind the name on: those numbered 3 and up there. */
function statFields(pid: number | 'self'): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Of this process with its threads, and of the children that have ended (proc(5), fields 16 and 17, in 10 ms). */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  const fields = statFields('self');
  return (user + system) / 1000 + (Number(fields[13]) + Number(fields[14])) * 10;
}

/** A table of medians, and each one's ratio to the first's. */
export function printMeasured(title: string, all: readonly Measured[]): void {
  const [first] = all;
  if (first === undefined) return;
  console.log(
    `\n${title}\n${'clock'.padStart(48)}${'least'.padStart(10)}${'ratio'.padStart(8)}${'cpu'.padStart(12)}`,
  );
  for (const { name, clockMs, leastMs, processorMs } of all) {
    const ratio = (clockMs / first.clockMs).toFixed(2);
    const columns = [
      `${clockMs.toFixed(0)} ms`.padStart(10),
      `${leastMs.toFixed(0)} ms`.padStart(10),
      ratio.padStart(8),
    ];
    console.log(`  ${name.padEnd(36)}${columns.join('')}${`${processorMs.toFixed(0)} ms`.padStart(12)}`);
  }
}
