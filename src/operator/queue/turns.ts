// Whose turn it is where several levels wait, each more urgent than the next: the most urgent one's, and after eight
// of it in a row one of those below, among whom it is the same again. Counts turns, knows no keys.
// Invariant: a level that waits has its turn after a bounded number of turns of others, however many wait above it, and
// however old these are.

/** After this many turns of one level those below it have one. */
export const fairAfter = 8;

export class Turns<Level> {
  readonly #levels: readonly Level[];
  /** By level: its turns since those below, of whom somebody waited, had one. */
  readonly #inARow: number[];

  /** @param levels most urgent first */
  constructor(levels: readonly Level[]) {
    this.#levels = levels;
    this.#inARow = levels.map(() => 0);
  }

  /** The level that has the next turn; `undefined` where none waits. */
  next(waits: (level: Level) => boolean): Level | undefined {
    const waiting = this.#levels.filter(waits);
    const last = waiting.length - 1;
    return waiting.find((level, index) => index === last || this.#turnsOf(level) < fairAfter);
  }

  /** Notes a turn, whoever gave it. @param waits as before the turn */
  note(taken: Level, waits: (level: Level) => boolean): void {
    const at = this.#levels.indexOf(taken);
    for (let above = 0; above < at; above += 1) this.#inARow[above] = 0;
    if (this.#levels.slice(at + 1).some(waits)) this.#inARow[at] = this.#turnsOf(taken) + 1;
  }

  #turnsOf(level: Level): number {
    return this.#inARow[this.#levels.indexOf(level)] ?? 0;
  }
}
