// A moment of a program's run, as one of its pieces of data on the network. Several runs at a time send the same bytes in
// fewer pieces than one run alone, so that a moment near the end may not come. Then the number of that run's own pieces says
// where the moment is, and another run is made.

export interface CountedRun {
  readonly isKilled: boolean;
  /** How many pieces passed. */
  readonly pieces: number;
}

const mostRuns = 5;

/**
 * Makes runs until one is killed, or `mostRuns` have ended by themselves.
 *
 * @param at the piece, counted from 0
 * @param pieces of the run that was counted
 * @param run makes one run that is killed at the piece; `runs` were made before it
 * @returns the last run
 */
export async function runUntilKilled<Run extends CountedRun>(
  at: number,
  pieces: number,
  run: (at: number, runs: number) => Promise<Run>,
): Promise<Run> {
  let last = await run(at, 0);
  for (let runs = 1; !last.isKilled && runs < mostRuns; runs += 1)
    last = await run(Math.floor((at / pieces) * last.pieces), runs);
  return last;
}
