// Credentials that calls share: an exec plugin is a process each time, and files are read and decoded. What was asked
// for is good for a second, a failure too; calls that need some at the same time share the asking, which ends after a
// minute. What was refused, or could not be had, is read anew from its source, at most every ten seconds.
// Refuses: a plugin started for each of many calls that fail, and one that hangs for ever.

import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../runtime/clock.ts';
import { unlessAborted } from '../../runtime/flags/patience.ts';
import { withinLimit } from '../../runtime/time-limit.ts';
import { type Connection, ConnectionError, type Credentials } from './connection.ts';

export interface SharedCredentials {
  /**
   * Only while the signal has not aborted.
   *
   * @throws {ConnectionError} `CredentialsLate` where the signal is a limit that was reached; or the signal's reason
   */
  obtain(signal: AbortSignal): Promise<GivenCredentials>;
  /** A connection failed, maybe for what was given: the next call reads it anew. */
  doubt(): void;
  /**
   * The server did not accept them. True if there are others, or may be, so that the call is worth another try:
   * they were read again, or had been since these were given.
   */
  replace(refused: GivenCredentials): boolean;
}

export interface GivenCredentials extends Credentials {
  /** How often the source had been read again when they were asked for. */
  readonly round: number;
}

/** A token or an authority that is replaced is in use this much later; a plugin that fails runs this often. */
const freshMs = 1_000;
/** Plugins ask other servers, and people now and then. */
const patienceMs = 60_000;
/** The source is read anew this often at most, or a revoked account would run its exec plugin without end. */
const renewEveryMs = 10_000;

interface Kept {
  readonly answer: Promise<GivenCredentials>;
  readonly hasFailed: boolean;
  readonly until: number;
}

export function shareCredentials(
  connection: Pick<Connection, 'authenticate' | 'renew'>,
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
      // The source was read again in the meantime: others are being asked for.
      if (asked !== answer) return;
      asked = undefined;
      kept = { answer, hasFailed: given === undefined, until: clock.monotonic() + freshMs };
      if (given !== undefined) latest = given;
      // What is at fault may be in the source, or in what was remembered of it.
      else renew();
    };
    answer.then(keep, () => keep(undefined));
    return answer;
  };

  return {
    obtain: (signal) => {
      if (kept !== undefined && clock.monotonic() < kept.until) return kept.answer;
      return unlessAborted(asked ?? ask(), signal, reasonOf);
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

/** Ends after the patience, with whatever process it started. */
function authenticate(
  connection: Pick<Connection, 'authenticate'>,
  clock: Clock,
  round: number,
): Promise<GivenCredentials> {
  return withinLimit(clock, patienceMs, new AbortController().signal, async (limit) => {
    const credentials = await unlessAborted(connection.authenticate(limit), limit, reasonOf);
    return { ...credentials, round };
  });
}

/** An API server that is well must not be blamed for a plugin that hangs. */
function reasonOf({ reason }: AbortSignal): unknown {
  if (!(reason instanceof Error) || reason.name !== 'TimeoutError') return reason;
  return new ConnectionError(
    'CredentialsLate',
    'the credentials for the API server did not come in time; check the exec plugin of the kubeconfig',
    { cause: reason },
  );
}
