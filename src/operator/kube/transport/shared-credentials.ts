// Credentials that calls share, because an exec plugin is a process each time, and files are read and decoded. They are
// kept for a second, a failure too. Simultaneous calls share one request for them, which ends after a minute. Refused or
// unobtainable ones are read again from their source, at most every ten seconds.
// Refuses: a plugin process for each failing call, and one that hangs for ever.

import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#platform/runtime/clock.ts';
import { unlessAborted, withinLimit } from '#platform/runtime/time-limit.ts';
import { type Connection, ConnectionError, type Credentials } from './connection.ts';

export interface SharedCredentials {
  /**
   * Only while the signal has not aborted.
   *
   * @throws {ConnectionError} `CredentialsLate` where the signal is a limit that was reached; or the signal's reason
   */
  obtain(signal: AbortSignal): Promise<GivenCredentials>;
  /** A connection failed, maybe because of the credentials: the next call reads them again. */
  doubt(): void;
  /**
   * The server refused the credentials. True if they were read again since, or are now, so that a retry may succeed.
   */
  replace(refused: GivenCredentials): boolean;
}

export interface GivenCredentials extends Credentials {
  /** How often the source had been read again by then. */
  readonly round: number;
}

/** A replaced token or CA certificate is used after this time at the latest; a failing plugin runs this often. */
const freshMs = 1_000;
/** Plugins call other servers, and some prompt a user. */
const sourceTimeoutMs = 60_000;
/** A person who logs in sees the prompt, and can end the program. */
const loginTimeoutMs = 15 * 60_000;
/** The source is read again this often at most, or a revoked account would run its exec plugin without end. */
const renewEveryMs = 10_000;

interface Kept {
  readonly answer: Promise<GivenCredentials>;
  readonly hasFailed: boolean;
  readonly until: number;
}

export function shareCredentials(
  connection: Pick<Connection, 'authenticate' | 'renew' | 'mayPrompt'>,
  clock: Clock,
): SharedCredentials {
  let asked: Promise<GivenCredentials> | undefined;
  let kept: Kept | undefined;
  let latest: GivenCredentials | undefined;
  let round = 0;
  let renewedAt = Number.NEGATIVE_INFINITY;

  const renew = (): boolean => {
    const now = clock.monotonic();
    if (now - renewedAt < renewEveryMs) return false;
    renewedAt = now;
    round += 1;
    connection.renew();
    return true;
  };

  const ask = (): Promise<GivenCredentials> => {
    const answer = authenticate(connection, clock, round);
    asked = answer;
    const keep = (given: GivenCredentials | undefined): void => {
      // The source was read again in the meantime, and newer credentials are on their way.
      if (asked !== answer) return;
      asked = undefined;
      kept = { answer, hasFailed: given === undefined, until: clock.monotonic() + freshMs };
      if (given !== undefined) latest = given;
      // The fault may lie in the source, or in what was cached of it.
      else renew();
    };
    answer.then(keep, () => keep(undefined));
    return answer;
  };

  return {
    obtain: (signal) => {
      if (kept !== undefined && clock.monotonic() < kept.until) return kept.answer;
      return unlessAborted(asked ?? ask(), signal).catch(nameLate);
    },
    doubt: () => {
      if (kept?.hasFailed === false) kept = undefined;
    },
    replace: (refused) => {
      if (refused.round < round || !isDeepStrictEqual(latest, refused)) return true;
      if (!renew()) return false;
      asked = undefined;
      kept = undefined;
      return true;
    },
  };
}

/** Ends after the timeout, and ends the processes it started. */
function authenticate(
  connection: Pick<Connection, 'authenticate' | 'mayPrompt'>,
  clock: Clock,
  round: number,
): Promise<GivenCredentials> {
  const limitMs = connection.mayPrompt === true ? loginTimeoutMs : sourceTimeoutMs;
  return withinLimit(clock, limitMs, new AbortController().signal, async (limit) => {
    const credentials = await unlessAborted(connection.authenticate(limit, clock.now()), limit);
    return { ...credentials, round };
  }).catch(nameLate);
}

/** Names the plugin that hangs instead of the Kubernetes API server. */
function nameLate(error: unknown): never {
  if (!(error instanceof Error) || error.name !== 'TimeoutError') throw error;
  throw new ConnectionError(
    'CredentialsLate',
    'the credentials for the Kubernetes API server did not arrive in time; check the exec plugin of the kubeconfig',
    { cause: error },
  );
}
