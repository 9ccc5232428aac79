// The rate limit that all resources with one key share. A refusal or a `Retry-After` for one resource holds for
// all. Kept in memory only. Each resource stores in its status what the export API answered to it.

import { gateTime } from '../reconcile/access.ts';
import type { GateChange } from '../reconcile/result.ts';
import type { Gate, ProcessMemory } from './memory.ts';

/** Applies a reconcile's result to the gate, and returns the gate as it is now. */
export function changeGate(memory: ProcessMemory, id: string, change: GateChange, now: number): Gate {
  const gate = memory.gates.get(id) ?? { closedUntil: undefined, closedAt: undefined, refused: undefined };
  const next = changed(gate, change, now);
  if (next !== gate) memory.gates.set(id, next);
  return next;
}

function changed(gate: Gate, change: GateChange, now: number): Gate {
  switch (change.kind) {
    case 'keep':
      return gate;
    case 'open':
      return gate.refused === undefined ? gate : { ...gate, refused: undefined };
    case 'refuse':
      return { ...gate, refused: { secretVersion: change.secretVersion, reason: change.reason, at: now } };
    case 'close':
      // A time set while the clock ran ahead no longer holds, and must not get a new date.
      return { ...gate, closedUntil: Math.max(change.until, gateTime({ gate, now }) ?? 0), closedAt: now };
    default:
      return change satisfies never;
  }
}
