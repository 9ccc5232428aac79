// Who owns the fields of a foreign object, and what its owner declared last. Text of another owner is made printable.
// Pure; nothing here throws.

import { type JsonRecord, recordsAt, textAt, valueAt } from '#platform/wire/json-fields.ts';
import { isRecord, readJson } from '#platform/wire/json-text.ts';
import { printable } from '#platform/wire/printable-text.ts';

/** The condition of this type, or an empty record. */
export function conditionOf(object: JsonRecord, type: string): JsonRecord {
  return recordsAt(object, 'status', 'conditions').find((one) => one['type'] === type) ?? {};
}

/** For status: text of another owner, short and printable. */
export const shownInStatus = (text: string | undefined): string | undefined =>
  text === undefined ? undefined : printable(text, 63);

export interface FieldOwner {
  readonly manager: string;
  /** `Apply` is a client that applies its manifests again. `Update` may be one edit by a person. */
  readonly operation: string;
}

/** @returns every manager of the field (`metadata.managedFields`, Kubernetes structured merge) */
export function ownersOf(object: JsonRecord, path: readonly string[]): readonly FieldOwner[] {
  const steps = path.map((name) => `f:${name}`);
  return recordsAt(object, 'metadata', 'managedFields').flatMap((entry) => {
    const manager = textAt(entry, 'manager');
    const isOwner = manager !== undefined && valueAt(entry['fieldsV1'], steps) !== undefined;
    return isOwner ? [{ manager: printable(manager, 128), operation: textAt(entry, 'operation') ?? '' }] : [];
  });
}

/** What a client-side apply declared last, such as Argo CD's; empty if there is none. */
export function lastAppliedOf(object: JsonRecord): JsonRecord {
  const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
  const read = readJson(textAt(object, 'metadata', 'annotations', annotation));
  return isRecord(read) ? read : {};
}
