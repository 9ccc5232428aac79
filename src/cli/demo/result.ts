// What the demo answers: its claims, and whether all of them hold. Pure. Refuses to call a demo without a claim a
// success.

import type { DemoClaim } from './claims.ts';
import type { DemoAnswer } from './documents.ts';

/** @param ms how long it took */
export function demoResult(
  claims: readonly DemoClaim[],
  ms: number,
  fields: { readonly version?: string; readonly digest?: string | undefined; readonly url?: string },
): DemoAnswer {
  const seconds = Math.round(ms / 100) / 10;
  const broken = claims.find(({ holds }) => !holds);
  return {
    outcome: broken === undefined && claims.length > 0 ? 'done' : 'no',
    kind: 'DemoResult',
    fields: { claims, seconds, ...fields },
    lines: [
      broken === undefined
        ? `All ${claims.length} claims hold, after ${seconds.toFixed(1)} s.`
        : `This claim does not hold: ${broken.claim}`,
    ],
  };
}
