// What is known of the watches of one reflector by what came over them. That one opens proves little: a proxy may let
// the headers through and hold back every event. A server that was asked for bookmarks says something once a minute;
// where watches open and nothing comes for two minutes, only a list can be believed.

import type { Clock } from '../../runtime/clock.ts';

/** Two bookmarks. */
const heldBackLimitMs = 120_000;

export class WatchProof {
  readonly #clock: Clock;
  #heardAt: number | undefined;
  #spokenAt = Number.NEGATIVE_INFINITY;
  #opened = false;
  #spoke = false;
  #isProved = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Another watch is tried; what is said of the present one is said of it from here on. */
  begin(): void {
    this.#opened = false;
    this.#spoke = false;
    this.#isProved = false;
  }

  opened(): void {
    this.#opened = true;
  }

  /** An event or a bookmark came. */
  spoke(): void {
    this.#spoke = true;
    this.#heardAt = this.#spokenAt = this.#clock.monotonic();
  }

  /** What came could be read. */
  proved(): void {
    this.#isProved = true;
  }

  /** A list was answered: of the watch that says nothing, but all before it is known. */
  listed(): void {
    this.#heardAt = this.#clock.monotonic();
  }

  get hasOpened(): boolean {
    return this.#opened;
  }

  get isProved(): boolean {
    return this.#isProved;
  }

  /** The present watch was opened, and nothing has come over it. */
  get isEmpty(): boolean {
    return this.#opened && !this.#spoke;
  }

  /** The present watch is open, or was until now, and neither it nor those before it brought anything for long. */
  get isHeldBack(): boolean {
    return this.isEmpty && this.silenceMs() >= heldBackLimitMs;
  }

  /** Since an event, a bookmark or a list came; Infinity before that. */
  silenceMs(): number {
    return this.#heardAt === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonic() - this.#heardAt;
  }

  /** By the monotonic clock: when something last came over any watch. */
  get spokenAt(): number {
    return this.#spokenAt;
  }
}
