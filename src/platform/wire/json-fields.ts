// Reads of foreign JSON at a path. Tolerant: a field of another type than expected counts as absent. Pure; nothing here
// throws.

import { isRecord } from './json-text.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** @returns what is at the path, or `undefined` */
export function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? value[step] : undefined;
    else value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

export function recordAt(root: unknown, ...path: readonly (string | number)[]): JsonRecord {
  const value = valueAt(root, path);
  return isRecord(value) ? value : {};
}

export function textAt(root: unknown, ...path: readonly (string | number)[]): string | undefined {
  const value = valueAt(root, path);
  return typeof value === 'string' ? value : undefined;
}

export function numberAt(root: unknown, ...path: readonly (string | number)[]): number | undefined {
  const value = valueAt(root, path);
  return typeof value === 'number' ? value : undefined;
}

export function recordsAt(root: unknown, ...path: readonly (string | number)[]): readonly JsonRecord[] {
  const value = valueAt(root, path);
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** Only the entries whose value is text. */
export function textsAt(root: unknown, name: string): Readonly<Record<string, string>> {
  const texts: [string, string][] = [];
  for (const [key, value] of Object.entries(recordAt(root, name))) {
    if (typeof value === 'string') texts.push([key, value]);
  }
  return Object.fromEntries(texts);
}
