// The gate that all resources with one key share: a refusal or a `Retry-After` given to one of them holds for all.
// Kept in memory only; each resource keeps in status what it was told itself.

import { gateTime } from '../reconcile/access.ts';
import type { GateChange } from '../reconcile/result.ts';
import type { Gate, ProcessMemory } from './memory.ts';

/** Applies what a pass learnt, and returns the gate as it is now. */
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
      // What was said by a clock that ran ahead holds no longer, and must not be dated anew.
      return { ...gate, closedUntil: Math.max(change.until, gateTime({ gate, now }) ?? 0), closedAt: now };
    default:
      return change satisfies never;
  }
}
