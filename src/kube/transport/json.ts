// Reads of foreign JSON: a record or not, a text or not. And the merge patch that turns one document into another
// (RFC 7396). Pure; nothing here throws.

import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../../wire/json-text.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

export function recordAt(record: JsonRecord, name: string): JsonRecord {
  const value = record[name];
  return isRecord(value) ? value : {};
}

export function textAt(record: JsonRecord, name: string): string | undefined {
  const value = record[name];
  return typeof value === 'string' ? value : undefined;
}

export function numberAt(record: JsonRecord, name: string): number | undefined {
  const value = record[name];
  return typeof value === 'number' ? value : undefined;
}

/** Only the entries whose value is text. */
export function textsAt(record: JsonRecord, name: string): Readonly<Record<string, string>> {
  const texts: [string, string][] = [];
  for (const [key, value] of Object.entries(recordAt(record, name))) {
    if (typeof value === 'string') texts.push([key, value]);
  }
  return Object.fromEntries(texts);
}

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
