// A clock that runs ten times as fast as the machine's: a minute between two checks takes six seconds. Its wall clock runs
// fast from the start of the test file, too, because the operator compares it with instants that it wrote into status. So
// the scripted vendor has the same clock. A deadline keeps ten real seconds: what it ends is real work.

import { type Clock, systemClock } from '#platform/runtime/clock.ts';

export const speed = 10;
const shortestDeadlineMs = 10_000;

/** The variable by which a program gets the origin of the clock of its test. */
export const originVariable = 'FAST_CLOCK_ORIGIN';

/** @param origin where both wall clocks agree */
export function createFastClock(origin: number): Clock {
  return {
    now: () => Math.round(origin + (systemClock.now() - origin) * speed),
    monotonic: () => systemClock.monotonic() * speed,
    after: (ms, signal) => systemClock.after(ms / speed, signal),
    deadline: (ms, parent) =>
      systemClock.deadline(Math.max(ms / speed, Math.min(ms, shortestDeadlineMs)), parent),
  };
}

const origin = Date.now();

/** Of this test file and the programs that it starts with this environment. */
export const fastClock = createFastClock(origin);
export const fastEnvironment = { [originVariable]: String(origin) };
