// What any user of the machine reads of a running program: the command lines of its processes. Linux only.

import { readdirSync, readFileSync } from 'node:fs';

/** @returns the command line of the process and of each below it, in which arguments end in a zero byte */
export function commandLinesOf(pid: number): readonly string[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)]),
  );
  const isBelow = (one: number | undefined): boolean =>
    one !== undefined && (one === pid || isBelow(parents.get(one)));
  return [...parents.keys()].filter(isBelow).map((one) => readQuietly(`/proc/${one}/cmdline`));
}

/** The name of a program may hold blanks and brackets; the last bracket ends it. */
function parentOf(pid: string): number | undefined {
  const fields = readQuietly(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return fields[1] === undefined ? undefined : Number(fields[1]);
}

/** A process may end in between. */
function readQuietly(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
