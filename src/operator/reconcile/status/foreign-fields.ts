// Keeps status fields that a newer version wrote and this version does not know, at any depth, while the object
// that they describe is unchanged. Refuses: inventing fields, or moving a field to another job or version. Pure.

import { failureSchema, refusedKeySchema } from '#operator/staticexport/failure-schema.ts';
import {
  activeSchema,
  candidateSchema,
  conditionSchema,
  jobSchema,
  startSchema,
  statusSchema,
  versionSchema,
} from '#operator/staticexport/status-schema.ts';
import { targetStatusSchema } from '#operator/staticexport/target-status-schema.ts';
import { isRecord } from '#platform/wire/json-text.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The known fields of a group, and the field that identifies its subject. */
interface Group {
  readonly known: ReadonlySet<string>;
  readonly identity: string;
}

function groupOf({ shape }: { readonly shape: object }, identity: string): Group {
  return { known: new Set(Object.keys(shape)), identity };
}

const groups: Readonly<Record<string, Group>> = {
  job: groupOf(jobSchema, 'id'),
  start: groupOf(startSchema, 'key'),
  candidate: groupOf(candidateSchema, 'version'),
  active: groupOf(activeSchema, 'version'),
  refusedKey: groupOf(refusedKeySchema, 'secretVersion'),
};
const lists: Readonly<Record<string, Group>> = {
  conditions: groupOf(conditionSchema, 'type'),
  history: groupOf(versionSchema, 'version'),
  targets: groupOf(targetStatusSchema, 'name'),
};
const failure: Group = groupOf(failureSchema, 'lastFailureTime');
const operations = new Set(Object.keys(statusSchema.shape.failures.unwrap().shape));
const fields = new Set(Object.keys(statusSchema.shape));

/** @param stored the whole status as read; `next` the known fields to store */
export function keepForeign(stored: unknown, next: Fields): Fields {
  if (!isRecord(stored)) return next;
  const kept: Record<string, unknown> = { ...foreignOf(stored, fields) };
  for (const [name, value] of Object.entries(next)) kept[name] = keepIn(name, stored[name], value);
  return kept;
}

function keepIn(name: string, stored: unknown, next: unknown): unknown {
  const group = groups[name];
  if (group !== undefined) return keepInGroup(group, stored, next);
  const list = lists[name];
  if (list !== undefined) return keepInList(list, stored, next);
  return name === 'failures' ? keepInFailures(stored, next) : next;
}

function keepInGroup({ known, identity }: Group, stored: unknown, next: unknown): unknown {
  if (!isRecord(stored) || !isRecord(next) || stored[identity] !== next[identity]) return next;
  const foreign = foreignOf(stored, known);
  return foreign === undefined ? next : { ...foreign, ...next };
}

function keepInList(group: Group, stored: unknown, next: unknown): unknown {
  if (!Array.isArray(stored) || !Array.isArray(next)) return next;
  return next.map((one: unknown) => {
    const id = isRecord(one) ? one[group.identity] : undefined;
    const before: unknown = stored.find((other: unknown) => isRecord(other) && other[group.identity] === id);
    return keepInGroup(group, before, one);
  });
}

/** The back-off of an operation that only another version knows. */
function keepInFailures(stored: unknown, next: unknown): unknown {
  if (!isRecord(stored)) return next;
  const known = isRecord(next) ? next : {};
  const kept = Object.entries(known).map(([operation, value]): [string, unknown] => [
    operation,
    keepInGroup(failure, stored[operation], value),
  ]);
  const all = { ...foreignOf(stored, operations), ...Object.fromEntries(kept) };
  return Object.keys(all).length === 0 ? undefined : all;
}

/** `undefined` if there are none, the usual case. */
function foreignOf(stored: Fields, known: ReadonlySet<string>): Fields | undefined {
  const foreign = Object.entries(stored).filter(([name]) => !known.has(name));
  return foreign.length === 0 ? undefined : Object.fromEntries(foreign);
}
