// Credentials that calls share: an exec plugin is a process each time, and files are read and decoded. What was given
// is good for a second; calls that need some at the same time share the asking, and a plugin that hangs is replaced.
// Refuses: keeping what could not be had; the next call asks anew.

import type { Clock } from '../runtime/clock.ts';
import type { Connection, Credentials } from './connection.ts';

export interface SharedCredentials {
  /** @throws {ConnectionError}, or the signal's reason. Only while the signal has not aborted. */
  obtain(signal: AbortSignal): Promise<Credentials>;
  /** A connection failed, maybe for what was given: the next call reads it anew. */
  doubt(): void;
  /** What is being asked for is of no use either. */
  forget(): void;
}

/** A token or an authority that is replaced is in use this much later. */
const freshMs = 1_000;
/** Plugins ask other servers, and people now and then. */
const patienceMs = 60_000;

interface Asked {
  readonly at: number;
  readonly answer: Promise<Credentials>;
}

export function shareCredentials(
  connection: Pick<Connection, 'authenticate'>,
  clock: Clock,
): SharedCredentials {
  let asked: Asked | undefined;
  let given: { readonly until: number; readonly credentials: Credentials } | undefined;

  const ask = (now: number): Promise<Credentials> => {
    const mine: Asked = { answer: connection.authenticate(), at: now };
    asked = mine;
    mine.answer.then(
      (credentials) => {
        if (asked !== mine) return;
        asked = undefined;
        given = { credentials, until: clock.monotonic() + freshMs };
      },
      () => {
        if (asked === mine) asked = undefined;
      },
    );
    return mine.answer;
  };

  return {
    obtain: async (signal) => {
      const now = clock.monotonic();
      if (given !== undefined && now < given.until) return given.credentials;
      const shared = asked !== undefined && now - asked.at < patienceMs ? asked.answer : ask(now);
      return unlessAborted(shared, signal);
    },
    doubt: () => {
      given = undefined;
    },
    forget: () => {
      asked = undefined;
      given = undefined;
    },
  };
}

/** What is awaited here may have no limit of its own. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
