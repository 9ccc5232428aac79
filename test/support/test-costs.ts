// What each test file costs: processor time of its process and of the children that it waited for, and time by the clock.
// A process writes its files' costs when it ends; the runner reads them. Without /proc the children are left out.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface FileCost {
  /** As given to the runner. */
  readonly file: string;
  readonly cpuMs: number;
  readonly wallMs: number;
}

/** Linux counts processor time in hundredths of a second, on every architecture. */
const tickMs = 10;

/** Of this process and of its children that have ended. */
function spentCpuMs(): number {
  try {
    // The name of a program may hold blanks and brackets; the last bracket ends it.
    const fields = readFileSync('/proc/self/stat', 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * tickMs, 0);
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  }
}

/**
 * Starts to measure this process.
 * @param folder where its costs are written when it ends
 * @returns to be called with the index of each file whose tests begin; what was spent before is the first file's
 */
export function recordCosts(folder: string, files: readonly string[]): (index: number) => void {
  const spent = files.map((file) => ({ file, cpuMs: 0, wallMs: 0 }));
  let current = 0;
  let cpuMs = 0;
  let wallMs = performance.now() - process.uptime() * 1_000;
  const begin = (index: number): void => {
    const now = { cpuMs: spentCpuMs(), wallMs: performance.now() };
    const cost = spent[current];
    if (cost !== undefined) {
      cost.cpuMs += now.cpuMs - cpuMs;
      cost.wallMs += now.wallMs - wallMs;
    }
    ({ cpuMs, wallMs } = now);
    current = index;
  };
  process.on('exit', () => {
    begin(current);
    writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(spent));
  });
  return begin;
}

/** @returns what all processes wrote so far, the costliest file first */
export function readCosts(folder: string): readonly FileCost[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name): FileCost[] => JSON.parse(readFileSync(join(folder, name), 'utf8')))
    .sort((one, other) => other.cpuMs - one.cpuMs);
}
