// What keeps a reflector from working, in three kinds: a watch cannot be opened, watches open and bring nothing, an audit
// cannot list. The gravest counts. Invariant: reported when it begins, changes or ends; never for each attempt.

import { ClusterError } from '#platform/wire/cluster-error.ts';

/** The gravest first. */
const kinds = ['watch', 'heldBack', 'audit'] as const;
export type OutageKind = (typeof kinds)[number];

const over = 'over';

export class Outage {
  readonly #report: (trouble: ClusterError | undefined) => void;
  readonly #standing = new Map<OutageKind, ClusterError>();
  #reported: string | undefined;

  /** @param report receives `undefined` when the outage ends, and when the first watch opens */
  constructor(report: (trouble: ClusterError | undefined) => void) {
    this.#report = report;
  }

  begin(kind: OutageKind, trouble: ClusterError): void {
    this.#standing.set(kind, trouble);
    this.#reportChange();
  }

  end(kind: OutageKind): void {
    const isFirst = kind === 'watch' && this.#reported === undefined;
    if (this.#standing.delete(kind) || isFirst) this.#reportChange();
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

  /** The same code with another message is not reported: the message names the last call. */
  #reportChange(): void {
    const current = this.current();
    const summary = current === undefined ? over : `${this.#kind()} ${current.code}`;
    if (summary === this.#reported) return;
    this.#reported = summary;
    this.#report(current);
  }
}

/** What was thrown, as an outage. */
export function troubleOf(error: unknown): ClusterError {
  return error instanceof ClusterError
    ? error
    : new ClusterError('Unavailable', 'a watch failed unexpectedly', { cause: error });
}
