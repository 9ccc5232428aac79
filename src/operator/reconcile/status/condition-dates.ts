// Dates the transitions of conditions, by comparing claims without times with the stored conditions. Invariant:
// claims that match the stored conditions change nothing.

import { conditionTypes } from '#operator/staticexport/reasons.ts';
import type { Condition } from '#operator/staticexport/status-schema.ts';
import { formatInstant, readInstant } from '#platform/wire/instant.ts';
import type { UndatedCondition } from './undated-condition.ts';

/**
 * Dates the claims: `lastTransitionTime` changes only when the status does. Conditions of unknown types stay.
 *
 * @param before as stored
 */
export function dateConditions(
  claims: readonly UndatedCondition[],
  before: readonly Condition[],
  generation: number,
  now: number,
): readonly Condition[] {
  const owned: readonly string[] = conditionTypes;
  const dated = claims.map((one): Condition => {
    const previous = before.find(({ type }) => type === one.type);
    const isSame = previous?.status === one.status && readInstant(previous.lastTransitionTime) !== undefined;
    return {
      ...one,
      observedGeneration: generation,
      lastTransitionTime: isSame ? previous.lastTransitionTime : formatInstant(now),
    };
  });
  return [...dated, ...before.filter(({ type }) => !owned.includes(type))];
}
