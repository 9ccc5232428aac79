// The three real programs, each in a separate process, started by flags as a user would.
// All their output goes to a file, for the search for secrets at the end and for debugging.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChildProgram, startProgram } from '../support/child-program.ts';
import { eventually } from '../support/eventually.ts';

const bin = join(import.meta.dirname, '../../src/bin');

export interface RunningProgram extends ChildProgram {
  readonly name: string;
  readonly logFile: string;
}

export function startNode(name: string, flags: readonly string[], logFolder: string): RunningProgram {
  const logFile = join(logFolder, `${name}.log`);
  const program = startProgram(process.execPath, { args: [join(bin, `${name}.ts`), ...flags], logFile });
  return { ...program, name, logFile };
}

/** Resolves once `url` answers 200. Fails at once, with the program's last lines, if it has ended. */
export async function waitReady(program: RunningProgram, url: string, timeoutMs = 180_000): Promise<void> {
  await eventually(
    `${program.name} ready`,
    async () => {
      if (program.hasExited()) return true;
      return (await fetch(url)).ok || undefined;
    },
    { timeoutMs },
  ).catch((error: unknown) => {
    throw new Error(`${program.name} did not get ready; its last lines:\n${program.tail()}`, {
      cause: error,
    });
  });
  if (program.hasExited()) throw new Error(`${program.name} ended; its last lines:\n${program.tail()}`);
}

/** Resident memory now and at its highest, in MiB. Linux only; `undefined` elsewhere. */
export async function readMemoryMiB(
  pid: number,
): Promise<{ readonly now: number; readonly peak: number } | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kib = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? Number.NaN);
  const now = Math.round(kib('VmRSS') / 1024);
  return Number.isNaN(now) ? undefined : { now, peak: Math.round(kib('VmHWM') / 1024) };
}
