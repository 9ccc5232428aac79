// Counts the file operations of a child and kills it with -9 at one of them: before it, amid it, or after it. Those of
// a pack are replaced in the platform's own module, for whoever calls them there from then on.
// Reads the last two arguments: steps to let through, and the moment of the kill.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const [steps = '', moment = ''] = process.argv.slice(-2);
let taken = 0;
const halves: number[] = [];

/** How many there were so far, and which of them, counted from 0, can be cut in the middle. As text, for the parent. */
export const stepsTaken = (): string => JSON.stringify({ steps: taken, halves });

/** A signal to oneself is delivered, but not always before the next line. */
function die(): never {
  process.kill(process.pid, 'SIGKILL');
  for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function begin(half: (() => void) | undefined): boolean {
  if (half !== undefined) halves.push(taken);
  taken += 1;
  const isLast = taken === Number(steps) + 1;
  if (isLast && moment === 'before') die();
  if (isLast && moment === 'amid' && half !== undefined) {
    half();
    die();
  }
  return isLast;
}

/** @param half of its effect, where it has halves */
export async function step<T>(work: () => Promise<T>, half?: () => void): Promise<T> {
  const isLast = begin(half);
  const result = await work();
  if (isLast) die();
  return result;
}

function stepNow<T>(work: () => T, half?: () => void): T {
  const isLast = begin(half);
  const result = work();
  if (isLast) die();
  return result;
}

const { writeSync, ftruncateSync, fsync } = fs;
type Written = [fd: number, bytes: Uint8Array, at: number, length: number, position: number | null];
Object.assign(fs, {
  writeSync: (...[fd, bytes, at, length, position]: Written) =>
    stepNow(
      () => writeSync(fd, bytes, at, length, position),
      () => writeSync(fd, bytes, at, Math.floor(length / 2), position),
    ),
  ftruncateSync: (fd: number, length: number) => stepNow(() => ftruncateSync(fd, length)),
  fsync: (fd: number, done: (error: Error | null) => void) => {
    const isLast = begin(undefined);
    fsync(fd, (error) => {
      if (isLast) die();
      done(error);
    });
  },
});

/** Also what goes through promises, for code that is given no disk of its own. */
export function countPromises(): void {
  const { rename, rm, open } = fs.promises;
  Object.assign(fs.promises, {
    rename: (from: string, to: string) => step(() => rename(from, to)),
    rm: (path: string, options: fs.RmOptions) => step(() => rm(path, options)),
    open: (path: string, flags: string) => step(() => open(path, flags)),
  });
  syncBuiltinESMExports();
}

syncBuiltinESMExports();
