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

/** Medians over the rounds. */
export async function measureByTurns(
  contestants: readonly Contestant[],
  rounds: number,
): Promise<readonly Measured[]> {
  const spent = new Map(contestants.map(({ name }): [string, Spent[]] => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const { name, run } of contestants) spent.get(name)?.push(await run());
  }
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

/** Of this process with its threads, and of the children that have ended (proc(5), fields 16 and 17, in 10 ms). */
function processorMs(): number {
  const { user, system } = process.cpuUsage();
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (user + system) / 1000 + (Number(fields[13]) + Number(fields[14])) * 10;
}

/** A table of medians, and each one's ratio to the first's. */
export function printMeasured(title: string, all: readonly Measured[]): void {
  const [first] = all;
  if (first === undefined) return;
  console.log(
    `\n${title}\n${'clock'.padStart(44)}${'least'.padStart(10)}${'ratio'.padStart(8)}${'cpu'.padStart(12)}`,
  );
  for (const { name, clockMs, leastMs, processorMs } of all) {
    const ratio = (clockMs / first.clockMs).toFixed(2);
    const columns = [
      `${clockMs.toFixed(0)} ms`.padStart(10),
      `${leastMs.toFixed(0)} ms`.padStart(10),
      ratio.padStart(8),
    ];
    console.log(`  ${name.padEnd(32)}${columns.join('')}${`${processorMs.toFixed(0)} ms`.padStart(12)}`);
  }
}
