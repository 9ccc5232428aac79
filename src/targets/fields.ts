// Reads of a foreign object's fields, and of who owns them. Tolerant: a field of another type than expected counts as
// absent. Pure; nothing here throws.

import { isRecord, readJson } from '../wire/json-text.ts';
import { printable } from '../wire/printable-text.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** @returns what is at the path, or `undefined` */
export function valueAt(root: unknown, path: readonly (string | number)[]): unknown {
  let value = root;
  for (const step of path) {
    if (typeof step === 'number') value = Array.isArray(value) ? value[step] : undefined;
    else value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

export function recordAt(root: unknown, ...path: readonly (string | number)[]): Fields {
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

export function recordsAt(root: unknown, ...path: readonly (string | number)[]): readonly Fields[] {
  const value = valueAt(root, path);
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

/** The condition of this type, or an empty record. */
export function conditionOf(object: Fields, type: string): Fields {
  return recordsAt(object, 'status', 'conditions').find((one) => one['type'] === type) ?? {};
}

/** For status: text of another owner, short and printable. */
export const shown = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : printable(text, 63);

export interface FieldOwner {
  readonly manager: string;
  /** `Apply` is a client that applies its manifests again. `Update` may be one edit by a person. */
  readonly operation: string;
}

/** @returns every manager of the field (`metadata.managedFields`, Kubernetes structured merge) */
export function ownersOf(object: Fields, path: readonly string[]): readonly FieldOwner[] {
  const steps = path.map((name) => `f:${name}`);
  return recordsAt(object, 'metadata', 'managedFields').flatMap((entry) => {
    const manager = textAt(entry, 'manager');
    const isOwner = manager !== undefined && valueAt(entry['fieldsV1'], steps) !== undefined;
    return isOwner ? [{ manager: printable(manager, 128), operation: textAt(entry, 'operation') ?? '' }] : [];
  });
}

/** What a client-side apply declared last, such as Argo CD's; empty if there is none. */
export function lastAppliedOf(object: Fields): Fields {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const read = readJson(textAt(object, 'metadata', 'annotations', annotation));
  return isRecord(read) ? read : {};
}
