// Reads of a cluster that may be refused: the value, or why there is none. A command that shows a whole cluster goes on
// with what it can read. Owns how many reads run at once. Refuses: hiding a signal that stops the command, and errors that are not the cluster's.

import { ClusterError, type ClusterErrorCode } from '#platform/wire/cluster-error.ts';

export type Reading<T> = { readonly value: T } | Unreadable;

export interface Unreadable {
  readonly code: ClusterErrorCode;
  /** Safe to print: names the call, the object and what to do. */
  readonly unreadable: string;
}

/** @throws any error that is not a refusal of the Kubernetes API server, and `Aborted` */
export async function attempt<T>(read: Promise<T>): Promise<Reading<T>> {
  try {
    return { value: await read };
  } catch (error) {
    if (!(error instanceof ClusterError) || error.code === 'Aborted') throw error;
    return { code: error.code, unreadable: error.message };
  }
}

export function isReadable<T>(reading: Reading<T>): reading is { readonly value: T } {
  return 'value' in reading;
}

/** @returns `undefined` where it could not be read */
export function knownValue<T>(reading: Reading<T>): T | undefined {
  return isReadable(reading) ? reading.value : undefined;
}

/** Runs a read as soon as fewer than the limit run. */
export type ReadLimit = <T>(read: () => Promise<T>) => Promise<T>;

export function createReadLimit(most: number): ReadLimit {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async (read) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await read();
    } finally {
      // A read that waits takes over the place.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
