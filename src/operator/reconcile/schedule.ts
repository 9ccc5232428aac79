// When the schedule requires the next export. A missed tick runs once; a tick during a job is skipped. Owns the one
// place that parses cron text; the schema only checks its shape.

import { Cron } from 'croner';

export type Schedule =
  | { readonly kind: 'none' }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'cron'; readonly next: (after: number) => number | undefined };

/**
 * Parsing a pattern costs more than the rest of a decision, and every decision needs it, so each text is parsed
 * once.
 */
const known = new Map<string, Schedule>();
const maxKnown = 1000;

/** @param pattern five fields or a nickname; `timeZone` an IANA name */
export function readSchedule(pattern: string | undefined, timeZone: string): Schedule {
  if (pattern === undefined) return { kind: 'none' };
  const text = `${timeZone}\n${pattern}`;
  const schedule = known.get(text) ?? parseSchedule(pattern, timeZone);
  if (known.size >= maxKnown) known.clear();
  known.set(text, schedule);
  return schedule;
}

function parseSchedule(pattern: string, timeZone: string): Schedule {
  const cron = parseCron(pattern, timeZone);
  if (cron === undefined) return { kind: 'invalid' };
  // The answer between two ticks is constant, and nearly all calls fall between the same two ticks.
  let last: { readonly after: number; readonly next: number } | undefined;
  const next = (after: number): number | undefined => {
    if (last !== undefined && last.after <= after && after < last.next) return last.next;
    const tick = cron.nextRun(new Date(after))?.getTime();
    if (tick !== undefined) last = { after, next: tick };
    return tick;
  };
  return { kind: 'cron', next };
}

const fields = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day', 1, 31],
  ['month', 1, 12],
  ['weekday', 0, 7],
] as const;

/** What is wrong with the schedule, as text; `undefined` if no field can be named. */
export function scheduleProblem(pattern: string, timeZone: string): string | undefined {
  if (!isTimeZone(timeZone)) return `there is no time zone "${timeZone}"`;
  const parts = pattern.trim().split(/\s+/);
  if (!pattern.trim().startsWith('@') && parts.length !== fields.length)
    return `it has ${parts.length} of five fields (minute, hour, day, month, weekday)`;
  for (const [index, [name, least, most]] of fields.entries()) {
    const wrong = parts[index]
      ?.match(/\d+/g)
      ?.map(Number)
      .find((number) => number < least || number > most);
    const isStep = parts[index]?.includes('/') ?? false;
    if (wrong !== undefined && !isStep) return `${name} ${wrong} is not ${least}-${most}`;
  }
  return undefined;
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone });
    return true;
  } catch {
    return false;
  }
}

function parseCron(pattern: string, timezone: string): Cron | undefined {
  try {
    const cron = new Cron(pattern, { timezone, paused: true, mode: '5-part' });
    // The library checks the time zone only when it computes a time, and 30 February never comes.
    return inEveryKindOfYear(pattern, timezone).nextRun(new Date(0)) === null ? undefined : cron;
  } catch {
    return undefined;
  }
}

/** One year of each kind: with and without 29 February, beginning on each of the seven weekdays. */
const everyKindOfYear = '1970-1978,1980,1984,1988,1992,1996';

/**
 * The same pattern in these years only: a tick that comes in none of them never comes. Otherwise the library
 * searches four hundred years, and a pattern can make that last a third of a second.
 */
function inEveryKindOfYear(pattern: string, timezone: string): Cron {
  const text = pattern.trim();
  return text.startsWith('@')
    ? new Cron(text, { timezone, paused: true })
    : new Cron(`0 ${text} ${everyKindOfYear}`, { timezone, paused: true, mode: '7-part' });
}

/**
 * The tick that comes next, or was missed, given the tick in status.
 *
 * @param stored epoch ms of `status.nextExportTime`; kept when it is past and still a tick of this schedule
 * @param isBusy a job is running: a tick that came meanwhile is skipped
 */
export function dueTick(
  schedule: Schedule,
  stored: number | undefined,
  now: number,
  isBusy: boolean,
): number | undefined {
  if (schedule.kind !== 'cron') return undefined;
  const isMissed = stored !== undefined && stored <= now && schedule.next(stored - 1000) === stored;
  return isMissed && !isBusy ? stored : schedule.next(now);
}
