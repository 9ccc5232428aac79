// The starts of each key in the last hour, and those that wait: of this process, and of what the status of every known
// resource holds, so that a new leader counts on. Taking a start is one synchronous step: two reconciles never take the
// last one both. Invariant: a resource that misses its turn delays the next one by two minutes at most.

import {
  delayOfStart,
  recentStarts,
  type StartDelay,
  type WaitingStart,
} from '#operator/reconcile/start-budget.ts';
import { mostStartsPerHour } from '#operator/staticexport/names.ts';
import type { ExportCause } from '#operator/staticexport/status-schema.ts';
import type { Wanted } from '#operator/staticexport/wanted.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';

/** Times of starts by resource, epoch ms in whole seconds. */
export type StartTimes = ReadonlyMap<string, readonly number[]>;

interface BudgetInMemory {
  readonly taken: Map<string, readonly number[]>;
  readonly waiting: Map<string, WaitingStart & { readonly until: number }>;
  lastScheduledAt: number | undefined;
}

/** By {@link startBudgetId}: the starts of this process. */
export type StartsInMemory = Map<string, BudgetInMemory>;

export interface StartOrder {
  readonly budget: string;
  readonly resource: string;
  /** Of the resource, as its status holds them. */
  readonly own: readonly number[];
  /** Of resources with the same key, as their status holds them. */
  readonly known: StartTimes;
  /** 0: no limit. */
  readonly perHour: number;
  readonly cause: ExportCause;
  readonly now: number;
}

export type TakenStart =
  | { readonly kind: 'delayed'; readonly delay: StartDelay }
  /** `own`: what the status of the resource holds from now on. */
  | { readonly kind: 'taken'; readonly own: readonly number[] };

/** A resource may be deleted, suspended or busy when its turn comes. */
const turnMs = 2 * 60_000;

/** One key of one Secret: the plan of an organization counts starts for all projects together. */
export function startBudgetId(
  { namespace }: Pick<ObjectKey, 'namespace'>,
  { keySecret }: Pick<Wanted, 'keySecret'>,
): string {
  return `${namespace}/${keySecret.name}/${keySecret.key}`;
}

/** Of a start that was not sent, or that the export API refused. */
export function returnStart(
  memory: StartsInMemory,
  { budget, resource, now }: Pick<StartOrder, 'budget' | 'resource' | 'now'>,
): void {
  const taken = memory.get(budget)?.taken;
  taken?.set(resource, taken.get(resource)?.filter((at) => at !== now) ?? []);
}

/** Counts a start, unless the budget delays it. */
export function takeStart(memory: StartsInMemory, order: StartOrder): TakenStart {
  const { budget, resource, known, perHour, cause, now } = order;
  forgetOld(memory, now);
  const kept = memory.get(budget) ?? { taken: new Map(), waiting: new Map(), lastScheduledAt: undefined };
  const { taken, waiting, lastScheduledAt } = kept;
  const of = (id: string): readonly number[] => [
    ...new Set([...(id === resource ? order.own : []), ...(known.get(id) ?? []), ...(taken.get(id) ?? [])]),
  ];
  const times = [...new Set([resource, ...known.keys(), ...taken.keys()])].flatMap(of);
  const start = { resource, cause, since: waiting.get(resource)?.since ?? now };
  waiting.delete(resource);
  const line = { times, waiting: [...waiting.values()], lastScheduledAt, perHour };
  const delay = delayOfStart(line, start, now);
  memory.set(budget, kept);
  if (delay !== undefined) {
    waiting.set(resource, { ...start, until: delay.until });
    return { kind: 'delayed', delay };
  }
  const own = recentStarts([...of(resource), now], now).slice(-mostStartsPerHour);
  taken.set(resource, own);
  if (cause === 'Schedule') kept.lastScheduledAt = now;
  return { kind: 'taken', own };
}

function forgetOld(memory: StartsInMemory, now: number): void {
  for (const [budget, { taken, waiting }] of memory) {
    for (const [id, { until }] of waiting) if (until + turnMs < now) waiting.delete(id);
    for (const [id, times] of taken) {
      const recent = recentStarts(times, now);
      if (recent.length === 0) taken.delete(id);
      else taken.set(id, recent);
    }
    if (taken.size === 0 && waiting.size === 0) memory.delete(budget);
  }
}
