// The merge patch that turns one document into another (RFC 7396). Refuses to set null, which no status holds. Pure;
// nothing here throws.

import { isDeepStrictEqual } from 'node:util';
import type { JsonRecord } from '#platform/wire/json-fields.ts';
import { isRecord } from '#platform/wire/json-text.ts';

/**
 * The merge patch that makes `from` into `to` (RFC 7396): what is gone becomes null, arrays are replaced whole,
 * what is equal is left out. `undefined` in `to` counts as absent. Returns `{}` when there is nothing to do.
 */
export function mergePatch(from: unknown, to: object): JsonRecord {
  const before: JsonRecord = isRecord(from) ? from : {};
  const after: JsonRecord = { ...to };
  const patch: [string, unknown][] = [];
  for (const name of Object.keys(before)) {
    if (after[name] === undefined && before[name] !== undefined) patch.push([name, null]);
  }
  for (const [name, value] of Object.entries(after)) {
    if (value === undefined || isDeepStrictEqual(before[name], value)) continue;
    // A merge patch cannot set null, and no status holds one.
    if (isRecord(value)) {
      const inner = mergePatch(before[name], value);
      if (Object.keys(inner).length > 0 || !isRecord(before[name])) patch.push([name, inner]);
    } else patch.push([name, value]);
  }
  return Object.fromEntries(patch);
}
