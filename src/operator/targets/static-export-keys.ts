// The keys that a target gets under `staticExport`, compared with those of an object. Pure. Refuses: a `staticExport`
// that is not a map.

import { type JsonRecord, textAt, valueAt } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';
import { shownInStatus } from './fields.ts';
import { type KeyChange, type KeyName, keyNames, type ObjectPlan, type WantedKeys } from './target-plan.ts';

/** The wanted keys in the order in which they are written. */
export function wantedKeysOf(wanted: WantedKeys): readonly (readonly [KeyName, string])[] {
  return keyNames.flatMap((name) => {
    const value = wanted[name];
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** @param values the Helm values that hold the group, or anything else */
export function planKeys(values: unknown, wanted: WantedKeys): ObjectPlan {
  const group = valueAt(values, ['staticExport']);
  if (values !== undefined && values !== null && !isRecord(values)) {
    return notAMap('the values are not a map; make them one');
  }
  if (group !== undefined && group !== null && !isRecord(group)) {
    return notAMap('staticExport is not a map; remove its value or make it a map');
  }
  return planOfChanges(
    wantedKeysOf(wanted)
      .filter(([name, value]) => textAt(group, name) !== value)
      .map(([name, value]) => ({ key: `staticExport.${name}`, value })),
  );
}

export function planOfChanges(changes: readonly KeyChange[]): ObjectPlan {
  return changes.length === 0 ? { outcome: 'in-sync' } : { outcome: 'edit', changes };
}

export const heldVersionOf = (values: unknown): string | undefined =>
  shownInStatus(textAt(values, 'staticExport', 'version'));

/** `{version, digest, ref}` as they are written. */
export function groupOf(wanted: WantedKeys): JsonRecord {
  return Object.fromEntries(wantedKeysOf(wanted));
}

function notAMap(message: string): ObjectPlan {
  return { outcome: 'refused', code: 'NotAMap', message };
}
