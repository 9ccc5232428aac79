// What keeps a reflector from its work right now, in three kinds: a watch that cannot be had, watches that open and
// bring nothing, and an audit that cannot list. The first of these that stands is the one that counts.
// Invariant: told when it begins, when it becomes another one, and when it is over; never for each try.

import { ClusterError } from '../../wire/cluster-error.ts';

/** The gravest first. */
const kinds = ['watch', 'heldBack', 'audit'] as const;
export type OutageKind = (typeof kinds)[number];

const over = 'over';

export class Outage {
  readonly #report: (trouble: ClusterError | undefined) => void;
  readonly #standing = new Map<OutageKind, ClusterError>();
  #told: string | undefined;

  /** @param report told `undefined` when all is well again, and when the first watch opens */
  constructor(report: (trouble: ClusterError | undefined) => void) {
    this.#report = report;
  }

  begin(kind: OutageKind, trouble: ClusterError): void {
    this.#standing.set(kind, trouble);
    this.#tell();
  }

  end(kind: OutageKind): void {
    const isFirst = kind === 'watch' && this.#told === undefined;
    if (this.#standing.delete(kind) || isFirst) this.#tell();
  }

  of(kind: OutageKind): ClusterError | undefined {
    return this.#standing.get(kind);
  }

  current(): ClusterError | undefined {
    const kind = this.#kind();
    return kind === undefined ? undefined : this.#standing.get(kind);
  }

  #kind(): OutageKind | undefined {
    return kinds.find((kind) => this.#standing.has(kind));
  }

  /** Other words for the same refusal are no news: they differ by what was tried last. */
  #tell(): void {
    const current = this.current();
    const news = current === undefined ? over : `${this.#kind()} ${current.code}`;
    if (news === this.#told) return;
    this.#told = news;
    this.#report(current);
  }
}

/** What was thrown, as something to tell. */
export function troubleOf(error: unknown): ClusterError {
  return error instanceof ClusterError
    ? error
    : new ClusterError('Unavailable', 'a watch failed unexpectedly', { cause: error });
}
