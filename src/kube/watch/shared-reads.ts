// Reads of one Secret that are asked for at the same time share a request: the resources of a namespace have one key
// as a rule, and after a start thousands of them ask for it. Invariant: every answer is of a request that was sent
// after it was asked for, so that it is as live as one of its own. Refuses: keeping an answer, and letting one read
// that hangs hold up those that were asked for later.

import type { Clock } from '../../runtime/clock.ts';
import { unlessAborted } from '../../runtime/flags/patience.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import type { ObjectCluster } from '../cluster.ts';
import { describeAddress, secrets } from '../transport/resource-path.ts';

/** Longest wait for the request before, whose answer may be older than the asking. */
const patienceMs = 100;

/** The same cluster, whose Secrets are read once for all who ask while another read of the same one is under way. */
export function shareSecretReads(cluster: ObjectCluster, clock: Pick<Clock, 'after'>): ObjectCluster {
  const latest = new Map<string, SharedRead<SecretRead>>();
  return {
    ...cluster,
    readSecret: async (key, signal) => {
      const what = describeAddress({ resource: secrets, ...key });
      if (signal.aborted) throw stopped(what);
      const before = latest.get(what);
      if (before?.isOpen) return before.join(what, signal);
      const turn = before && settledOrLate(before.answer, clock);
      const next = new SharedRead((wanted) => cluster.readSecret(key, wanted), turn);
      latest.set(what, next);
      const forget = (): void => {
        if (latest.get(what) === next) latest.delete(what);
      };
      next.answer.then(forget, forget);
      return next.join(what, signal);
    },
  };
}

type SecretRead = Awaited<ReturnType<ObjectCluster['readSecret']>>;

/** One request, and those who wait for it. */
class SharedRead<T> {
  readonly answer: Promise<T>;
  readonly #unwanted = new AbortController();
  #isSent = false;
  #waiting = 0;

  /** @param turn when it may be sent; absent: now */
  constructor(read: (signal: AbortSignal) => Promise<T>, turn: Promise<void> | undefined) {
    const send = (): Promise<T> => {
      this.#isSent = true;
      return read(this.#unwanted.signal);
    };
    this.answer = turn === undefined ? send() : turn.then(send);
  }

  /** Who asks now gets an answer that is sent later. */
  get isOpen(): boolean {
    return !this.#isSent && !this.#unwanted.signal.aborted;
  }

  /** @throws {ClusterError} of the read, or `Aborted`; the request goes on while somebody else waits for it */
  async join(what: string, signal: AbortSignal): Promise<T> {
    this.#waiting += 1;
    try {
      return await unlessAborted(this.answer, signal, () => stopped(what));
    } finally {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#unwanted.abort('nobody waits for it');
    }
  }
}

function stopped(what: string): ClusterError {
  return new ClusterError('Aborted', `stopped while asking to get ${what}`);
}

async function settledOrLate(work: Promise<unknown>, clock: Pick<Clock, 'after'>): Promise<void> {
  const over = new AbortController();
  const ended = work.then(
    () => {},
    () => {},
  );
  await Promise.race([ended, clock.after(patienceMs, over.signal).catch(() => {})]);
  over.abort('over');
}
