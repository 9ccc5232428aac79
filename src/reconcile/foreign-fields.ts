// What a newer version wrote into status and this one has no name for: kept, at any depth, as long as the thing it
// was said of is still the same one. Refuses: inventing, or carrying a field over to another job or version. Pure.

import {
  activeSchema,
  candidateSchema,
  conditionSchema,
  failureSchema,
  jobSchema,
  refusedKeySchema,
  startSchema,
  statusSchema,
  targetStatusSchema,
  versionSchema,
} from '../staticexport/status-schema.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A group, and the field that says which one it is. */
interface Group {
  readonly schema: { readonly shape: object };
  readonly identity: string;
}

const groups: Readonly<Record<string, Group>> = {
  job: { schema: jobSchema, identity: 'id' },
  start: { schema: startSchema, identity: 'key' },
  candidate: { schema: candidateSchema, identity: 'version' },
  active: { schema: activeSchema, identity: 'version' },
  refusedKey: { schema: refusedKeySchema, identity: 'secretVersion' },
};
const lists: Readonly<Record<string, Group>> = {
  conditions: { schema: conditionSchema, identity: 'type' },
  history: { schema: versionSchema, identity: 'version' },
  targets: { schema: targetStatusSchema, identity: 'target' },
};
const failure: Group = { schema: failureSchema, identity: 'at' };
const lanes = Object.keys(statusSchema.shape.failures.unwrap().shape);

/** @param stored the whole status as read; `next` what shall be stored of the fields that are known */
export function keepForeign(stored: unknown, next: Fields): Fields {
  if (!isRecord(stored)) return next;
  const kept = Object.entries(next).map(([name, value]): [string, unknown] => [
    name,
    keepIn(name, stored[name], value),
  ]);
  return { ...foreignOf(stored, Object.keys(statusSchema.shape)), ...Object.fromEntries(kept) };
}

function keepIn(name: string, stored: unknown, next: unknown): unknown {
  const group = groups[name];
  if (group !== undefined) return keepInGroup(group, stored, next);
  const list = lists[name];
  if (list !== undefined) return keepInList(list, stored, next);
  return name === 'failures' ? keepInFailures(stored, next) : next;
}

function keepInGroup({ schema, identity }: Group, stored: unknown, next: unknown): unknown {
  if (!isRecord(stored) || !isRecord(next) || stored[identity] !== next[identity]) return next;
  return { ...foreignOf(stored, Object.keys(schema.shape)), ...next };
}

function keepInList(group: Group, stored: unknown, next: unknown): unknown {
  if (!Array.isArray(stored) || !Array.isArray(next)) return next;
  return next.map((one: unknown) => {
    const id = isRecord(one) ? one[group.identity] : undefined;
    const before: unknown = stored.find((other: unknown) => isRecord(other) && other[group.identity] === id);
    return keepInGroup(group, before, one);
  });
}

/** A lane that this version does not know is another version's back-off. */
function keepInFailures(stored: unknown, next: unknown): unknown {
  if (!isRecord(stored)) return next;
  const known = isRecord(next) ? next : {};
  const kept = Object.entries(known).map(([lane, value]): [string, unknown] => [
    lane,
    keepInGroup(failure, stored[lane], value),
  ]);
  const all = { ...foreignOf(stored, lanes), ...Object.fromEntries(kept) };
  return Object.keys(all).length === 0 ? undefined : all;
}

function foreignOf(stored: Fields, known: readonly string[]): Fields {
  return Object.fromEntries(Object.entries(stored).filter(([name]) => !known.includes(name)));
}

function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
