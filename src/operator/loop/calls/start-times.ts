// The starts of each key in the last hour: those of this process, and those that the status of every known resource holds,
// so that a new leader counts on. Taking a start is one synchronous step: two reconciles never take the last one both.

import { delayOfStart, recentStarts, type StartDelay } from '#operator/reconcile/start-budget.ts';
import { mostStartsPerHour } from '#operator/staticexport/names.ts';
import type { ExportCause } from '#operator/staticexport/status-schema.ts';
import type { Wanted } from '#operator/staticexport/wanted.ts';
import type { ObjectKey } from '#platform/wire/cluster.ts';

/** Times of starts by resource, epoch ms in whole seconds. */
export type StartTimes = ReadonlyMap<string, readonly number[]>;

/** By {@link startBudgetId}: the starts of this process. */
export type StartsInMemory = Map<string, Map<string, readonly number[]>>;

export interface StartOrder {
  readonly budget: string;
  readonly resource: string;
  /** Of the resource, as its status holds them. */
  readonly own: readonly number[];
  /** Of resources with the same key, as their status holds them. */
  readonly known: StartTimes;
  readonly perHour: number;
  readonly cause: ExportCause;
  readonly now: number;
}

export type TakenStart =
  | { readonly kind: 'delayed'; readonly delay: StartDelay }
  /** `own`: what the status of the resource holds from now on. */
  | { readonly kind: 'taken'; readonly own: readonly number[] };

/** One key of one Secret: the plan of an organization counts starts for all projects together. */
export function startBudgetId(
  { namespace }: Pick<ObjectKey, 'namespace'>,
  { keySecret }: Pick<Wanted, 'keySecret'>,
): string {
  return `${namespace}/${keySecret.name}/${keySecret.key}`;
}

/** Of a start that was not sent. */
export function returnStart(
  memory: StartsInMemory,
  { budget, resource, now }: Pick<StartOrder, 'budget' | 'resource' | 'now'>,
): void {
  const taken = memory.get(budget);
  taken?.set(resource, taken.get(resource)?.filter((at) => at !== now) ?? []);
}

/** Counts a start, unless the budget delays it. */
export function takeStart(memory: StartsInMemory, order: StartOrder): TakenStart {
  const { budget, resource, known, perHour, cause, now } = order;
  const taken = memory.get(budget) ?? new Map<string, readonly number[]>();
  const of = (id: string): readonly number[] => [
    ...new Set([...(id === resource ? order.own : []), ...(known.get(id) ?? []), ...(taken.get(id) ?? [])]),
  ];
  const all = [...new Set([resource, ...known.keys(), ...taken.keys()])].flatMap(of);
  const delay = delayOfStart(all, perHour, cause, now);
  if (delay !== undefined) return { kind: 'delayed', delay };
  const own = recentStarts([...of(resource), now], now).slice(-mostStartsPerHour);
  for (const [id, times] of taken) {
    const recent = recentStarts(times, now);
    if (recent.length === 0) taken.delete(id);
    else taken.set(id, recent);
  }
  memory.set(budget, taken.set(resource, own));
  return { kind: 'taken', own };
}
