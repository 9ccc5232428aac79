// A visitor who never stops: a steady number of requests a second, each answer compared with what the origin
// published. Counts failures, and "mixed" answers: bytes that belong to no edition, or to the old edition in a
// request that began after the new one had already been seen.

import { createHash } from 'node:crypto';

/** Path → SHA-256 of the page, for one edition of the site. */
export type Edition = ReadonlyMap<string, string>;

export interface Tally {
  readonly requests: number;
  readonly failed: number;
  readonly mixed: number;
  /** A few descriptions of what went wrong. */
  readonly examples: readonly string[];
}

export interface SteadyRequests {
  /** From now on the new edition may be answered as well. */
  expect(edition: Edition): void;
  stop(): Promise<Tally>;
}

export function startSteadyRequests(baseUrl: string, perSecond: number, first: Edition): SteadyRequests {
  const paths = [...first.keys()];
  const editions: Edition[] = [first];
  const examples: string[] = [];
  const open = new Set<Promise<void>>();
  let newest = 0;
  let requests = 0;
  let failed = 0;
  let mixed = 0;

  const ask = async (path: string): Promise<void> => {
    const newestAtStart = newest;
    requests += 1;
    try {
      const response = await fetch(`${baseUrl}${path}`, { signal: AbortSignal.timeout(10_000) });
      const hash = hashOf(await response.arrayBuffer());
      if (response.status !== 200) {
        failed += 1;
        examples.push(`${path}: status ${response.status}`);
        return;
      }
      // A page that did not change belongs to both editions: it proves neither the new one nor the old.
      const earliest = editions.findIndex((one) => one.get(path) === hash);
      const latest = editions.findLastIndex((one) => one.get(path) === hash);
      newest = Math.max(newest, earliest);
      if (latest < newestAtStart) {
        mixed += 1;
        examples.push(`${path}: ${latest < 0 ? 'bytes of no edition' : 'the old edition after the new one'}`);
      }
    } catch (error) {
      failed += 1;
      examples.push(`${path}: ${error instanceof Error ? error.message : 'no answer'}`);
    }
  };
  let next = 0;
  const timer = setInterval(() => {
    const path = paths[next % paths.length] ?? '/';
    next += 1;
    const asked = ask(path).finally(() => open.delete(asked));
    open.add(asked);
  }, 1000 / perSecond);
  return {
    expect: (edition) => {
      editions.push(edition);
    },
    stop: async () => {
      clearInterval(timer);
      await Promise.all(open);
      return { requests, failed, mixed, examples: examples.slice(0, 5) };
    },
  };
}

export function hashOf(bytes: ArrayBuffer): string {
  return createHash('sha256').update(new Uint8Array(bytes)).digest('hex');
}
