// Readers that never stop: a steady number of requests a second, each answer compared with what the origin published. Owns
// the count of failed answers, and of mixed ones: bytes of no edition, or of the old edition in a request that began after
// the new one was seen.

import { createHash } from 'node:crypto';
import { type Clock, hasWaited } from '#platform/runtime/clock.ts';
import { publishableCode } from '#platform/wire/publishable-error.ts';

/** Path → SHA-256 of the body, for one edition of the site. */
export type EditionHashes = ReadonlyMap<string, string>;

export interface RequestTally {
  readonly requests: number;
  readonly failed: number;
  readonly mixed: number;
  /** A few descriptions of what went wrong. */
  readonly examples: readonly string[];
}

export interface SteadyRequests {
  /** From now on the new edition may be answered as well. */
  expect(edition: EditionHashes): void;
  /** So far. */
  tally(): RequestTally;
  /** Resolves when the last answer is here. */
  stop(): Promise<RequestTally>;
}

/** The answer to a request for a path. */
export type OpenPath = (path: string) => Promise<{ readonly status: number; readonly body: Uint8Array }>;

const mostExamples = 5;

export function startSteadyRequests(
  open: OpenPath,
  perSecond: number,
  first: EditionHashes,
  clock: Clock,
): SteadyRequests {
  const paths = [...first.keys()];
  const editions: EditionHashes[] = [first];
  const examples: string[] = [];
  const stopping = new AbortController();
  const pending = new Set<Promise<void>>();
  let newest = 0;
  let requests = 0;
  let failed = 0;
  let mixed = 0;

  const ask = async (path: string): Promise<void> => {
    const newestAtStart = newest;
    requests += 1;
    try {
      const { status, body } = await open(path);
      if (status !== 200) {
        failed += 1;
        examples.push(`${path}: status ${status}`);
        return;
      }
      // A page that did not change belongs to both editions: it proves neither the new one nor the old.
      const hash = hashOf(body);
      const earliest = editions.findIndex((one) => one.get(path) === hash);
      const latest = editions.findLastIndex((one) => one.get(path) === hash);
      newest = Math.max(newest, earliest);
      if (latest < newestAtStart) {
        mixed += 1;
        examples.push(`${path}: ${latest < 0 ? 'bytes of no edition' : 'the old edition after the new one'}`);
      }
    } catch (error) {
      failed += 1;
      examples.push(`${path}: ${publishableCode(error)}`);
    }
  };
  const send = async (): Promise<void> => {
    for (let next = 0; await hasWaited(clock, 1000 / perSecond, stopping.signal); next += 1) {
      const asked = ask(paths[next % paths.length] ?? '/').finally(() => pending.delete(asked));
      pending.add(asked);
    }
  };
  const sending = send();
  const tally = (): RequestTally => ({ requests, failed, mixed, examples: examples.slice(0, mostExamples) });
  return {
    expect: (edition) => {
      editions.push(edition);
    },
    tally,
    stop: async () => {
      stopping.abort();
      await sending;
      await Promise.all(pending);
      return tally();
    },
  };
}

export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
