// Other owners' objects, as far as targets depend on real ones: managed fields with conflicts, uids, generations, JSON
// Patch with `test`. Keeps every write for oracles. Lists are replaced whole, and only plain maps have owners below them.

import { isDeepStrictEqual } from 'node:util';
import { annotations as names } from '#operator/staticexport/names.ts';
import type {
  FieldsEdit,
  ForeignKind,
  ForeignObject,
  ForeignObjects,
  ForeignPatch,
  JsonPatchOperation,
  ObjectKey,
} from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { isRecord } from '#platform/wire/json-text.ts';

type Fields = Record<string, unknown>;

interface Stored {
  readonly kind: ForeignKind;
  readonly key: ObjectKey;
  readonly uid: string;
  version: number;
  generation: number;
  annotations: Record<string, string>;
  labels: Record<string, string>;
  ownerReferences: ForeignObject['metadata']['ownerReferences'];
  content: Fields;
  /** Paths of values, joined by a NUL, by the managers that own them. */
  readonly owners: Map<string, Set<string>>;
}

export interface ObjectMetadata {
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly ownerReferences?: ForeignObject['metadata']['ownerReferences'];
}

const own = 'static-export-operator';
const separator = '\0';

/** A write by the operator. */
export interface ObjectWrite {
  readonly kind: ForeignKind;
  readonly name: string;
  /** Of the content, or of the managers. */
  readonly isChange: boolean;
  /** `allow-from` of the object when it was written. */
  readonly consent: string | undefined;
  readonly before: ForeignObject['content'];
  readonly after: ForeignObject['content'];
  /** Other managers that applied a changed field. */
  readonly overruled: readonly string[];
}

export class FakeObjects implements ForeignObjects {
  readonly writes: ObjectWrite[] = [];
  reads = 0;
  /** What happens before a call is answered; a test sets it. */
  meanwhile: (call: 'read' | 'write') => void | Promise<void> = () => {};
  /** Server-side apply takes fields of other managers, as `force` does; for broken operators only. */
  isForcing = false;
  readonly #stored = new Map<string, Stored>();
  #uids = 0;

  /** Creates it, or replaces its fields as its owner's manifest does. */
  put(
    kind: ForeignKind,
    key: ObjectKey,
    content: Fields,
    { annotations = {}, labels = {}, ownerReferences = [] }: ObjectMetadata = {},
    manager = 'owner',
  ): void {
    const id = idOf(kind, key);
    this.#uids += 1;
    const stored: Stored = this.#stored.get(id) ?? {
      ...{ kind, key, uid: `uid-${this.#uids}`, version: 0, generation: 0, annotations, labels },
      ...{ ownerReferences, content: {}, owners: new Map() },
    };
    Object.assign(stored, { annotations, labels, ownerReferences });
    apply(stored, content, manager, true);
    touch(stored);
    this.#stored.set(id, stored);
  }

  /** Replaces the spec as a person's edit does. */
  overwrite(kind: ForeignKind, key: ObjectKey, spec: unknown): void {
    const stored = this.#stored.get(idOf(kind, key));
    if (stored === undefined) return;
    const before = stored.content;
    stored.content = { ...before, spec: structuredClone(spec) };
    const now = new Map(leavesOf(stored.content));
    for (const path of changedPaths(before, stored.content)) {
      if (now.has(path)) stored.owners.set(path, new Set(['kubectl-edit']));
      else stored.owners.delete(path);
    }
    touch(stored);
  }

  dropField(kind: ForeignKind, key: ObjectKey, name: string): void {
    const stored = this.#stored.get(idOf(kind, key));
    if (stored !== undefined) delete stored.content[name];
  }

  /** Merges fields that have no owner, such as a status. */
  merge(kind: ForeignKind, key: ObjectKey, content: Fields): void {
    const stored = this.#stored.get(idOf(kind, key));
    if (stored === undefined) return;
    const before = stored.content;
    stored.content = merged(before, content);
    if (!isDeepStrictEqual(before, stored.content)) stored.version += 1;
  }

  remove(kind: ForeignKind, key: ObjectKey): void {
    this.#stored.delete(idOf(kind, key));
  }

  read(kind: ForeignKind, key: ObjectKey): ForeignObject | undefined {
    const stored = this.#stored.get(idOf(kind, key));
    return stored && foreignOf(stored);
  }

  /** Applies again as a controller does: only if the fields or what it owns alone differ from its manifest. */
  drift(...[kind, key, content, metadata, manager]: Parameters<FakeObjects['put']>): boolean {
    const stored = this.#stored.get(idOf(kind, key));
    if (stored !== undefined) {
      const draft = structuredClone(stored);
      apply(draft, content, manager ?? 'owner', true);
      if (isDeepStrictEqual(draft.content, stored.content)) return false;
    }
    this.put(kind, key, content, metadata, manager);
    return true;
  }

  async readForeign(kind: ForeignKind, key: ObjectKey): Promise<ForeignObject | undefined> {
    await this.meanwhile('read');
    this.reads += 1;
    return this.read(kind, key);
  }

  async applyFields({ kind, key, uid, fields }: FieldsEdit): Promise<void> {
    await this.meanwhile('write');
    const stored = this.#stored.get(idOf(kind, key));
    if (stored?.uid !== uid) throw new ClusterError('Conflict', 'it is another object');
    const conflicts = this.isForcing ? [] : conflictsOf(stored, fields);
    if (conflicts.length > 0) {
      throw new ClusterError('FieldConflict', 'another manager owns fields', { ownedFields: conflicts });
    }
    const before = structuredClone(stored);
    apply(stored, { ...fields }, own, this.isForcing);
    this.#record(stored, before);
  }

  async patchForeign({ kind, key, uid, operations }: ForeignPatch): Promise<void> {
    await this.meanwhile('write');
    const stored = this.#stored.get(idOf(kind, key));
    if (stored?.uid !== uid) throw new ClusterError('Invalid', 'a test failed');
    const before = structuredClone(stored);
    const draft: unknown = structuredClone(stored.content);
    for (const operation of operations) {
      const isOfMetadata = operation.path === '/metadata/resourceVersion';
      if (!isOfMetadata) operate(draft, operation);
      else if (operation.value !== String(stored.version)) throw new ClusterError('Invalid', 'a test failed');
    }
    stored.content = isRecord(draft) ? { ...draft } : {};
    for (const path of changedPaths(before.content, stored.content)) stored.owners.set(path, new Set([own]));
    this.#record(stored, before);
  }

  #record(stored: Stored, before: Stored): void {
    const changed = changedPaths(before.content, stored.content);
    const isChange = changed.length > 0 || !isDeepStrictEqual(before.owners, stored.owners);
    const overruled = changed.flatMap((path) => [...(before.owners.get(path) ?? [])]).filter(appliesAgain);
    const { kind, key, annotations, content: after } = stored;
    this.writes.push({
      ...{ kind, name: key.name, isChange, before: before.content, after: structuredClone(after) },
      ...{ consent: annotations[names.allowFrom], overruled },
    });
    if (changed.length > 0) touch(stored);
  }
}

/** A person edits once, and the operator may change its own fields. */
const appliesAgain = (manager: string): boolean => manager !== own && manager !== 'kubectl-edit';

function changedPaths(before: Fields, after: Fields): readonly string[] {
  const [old, now] = [new Map(leavesOf(before)), new Map(leavesOf(after))];
  const paths = new Set([...old.keys(), ...now.keys()]);
  return [...paths].filter((path) => !isDeepStrictEqual(old.get(path), now.get(path)));
}

const idOf = (kind: ForeignKind, { namespace, name }: ObjectKey): string => `${kind}/${namespace}/${name}`;

function touch(stored: Stored): void {
  stored.version += 1;
  stored.generation += 1;
}

function foreignOf(stored: Stored): ForeignObject {
  const { key, uid, version, generation, annotations, labels, ownerReferences, content } = stored;
  const managers = [...new Set([...stored.owners.values()].flatMap((owners) => [...owners]))];
  const managedFields = managers.map((manager) => ({
    manager,
    // A person's edit, which no client repeats.
    operation: manager === 'kubectl-edit' ? 'Update' : 'Apply',
    fieldsV1: fieldsOf(stored, manager),
  }));
  const metadata = {
    ...{ ...key, uid, resourceVersion: String(version), generation, annotations, labels, ownerReferences },
  };
  return { metadata, content: { ...structuredClone(content), metadata: { ...metadata, managedFields } } };
}

function fieldsOf({ owners }: Stored, manager: string): Fields {
  const root: Fields = {};
  for (const [path, managers] of owners) {
    if (!managers.has(manager)) continue;
    let level = root;
    for (const step of path.split(separator)) {
      const next = level[`f:${step}`];
      const inner: Fields = isRecord(next) ? next : {};
      level[`f:${step}`] = inner;
      level = inner;
    }
  }
  return root;
}

function* leavesOf(fields: Fields, path: readonly string[] = []): Generator<[string, unknown]> {
  for (const [name, value] of Object.entries(fields)) {
    const at = [...path, name];
    if (isRecord(value) && Object.keys(value).length > 0) yield* leavesOf(value, at);
    else yield [at.join(separator), value];
  }
}

function conflictsOf(stored: Stored, fields: Readonly<Fields>) {
  const now = new Map(leavesOf(stored.content));
  return [...leavesOf({ ...fields })].flatMap(([path, value]) => {
    const owners = [...(stored.owners.get(path) ?? [])].filter((manager) => manager !== own);
    const isSame = JSON.stringify(now.get(path)) === JSON.stringify(value);
    const field = `.${path.replaceAll(separator, '.')}`;
    return isSame ? [] : owners.map((manager) => ({ manager, field }));
  });
}

/** Server-side apply: fields that the manager no longer applies are removed where it is their only owner. */
function apply(stored: Stored, fields: Fields, manager: string, isForced: boolean): void {
  const next = new Map(leavesOf(fields));
  for (const [path, owners] of stored.owners) {
    if (!owners.has(manager) || next.has(path)) continue;
    owners.delete(manager);
    if (owners.size > 0) continue;
    stored.owners.delete(path);
    removeAt(stored.content, path.split(separator));
  }
  const now = new Map(leavesOf(stored.content));
  for (const [path, value] of next) {
    const isSame = JSON.stringify(now.get(path)) === JSON.stringify(value);
    const owners = isForced && !isSame ? new Set<string>() : (stored.owners.get(path) ?? new Set<string>());
    stored.owners.set(path, owners.add(manager));
  }
  stored.content = merged(stored.content, fields);
}

function merged(into: Fields, from: Fields): Fields {
  const result: Fields = { ...into };
  for (const [name, value] of Object.entries(from)) {
    const before = result[name];
    result[name] =
      isRecord(value) && isRecord(before) ? merged({ ...before }, value) : structuredClone(value);
  }
  return result;
}

function removeAt(content: Fields, path: readonly string[]): void {
  const [first = '', ...rest] = path;
  const inner = content[first];
  if (rest.length === 0) delete content[first];
  else if (isRecord(inner)) {
    const copy: Fields = { ...inner };
    removeAt(copy, rest);
    content[first] = copy;
  }
}

/** Changes the draft in place (RFC 6902); lists are reached by index only. */
function operate(draft: unknown, { op, path, value }: JsonPatchOperation): void {
  const steps = path
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  const last = steps.pop() ?? '';
  let at: unknown = draft;
  for (const step of steps) at = Array.isArray(at) ? at[Number(step)] : isRecord(at) ? at[step] : undefined;
  if (op === 'test') {
    const found = isRecord(at) ? at[last] : undefined;
    if (JSON.stringify(found) !== JSON.stringify(value)) throw new ClusterError('Invalid', 'a test failed');
    return;
  }
  if (!isRecord(at)) throw new ClusterError('Invalid', 'there is no such path');
  if (op === 'remove') Reflect.deleteProperty(at, last);
  else Reflect.set(at, last, structuredClone(value));
}
