// A cluster of a few objects, as far as a reconcile depends on a real one: resourceVersions with conflicts, generations
// that change with the spec only, a separate status, server-side apply that creates. Keeps every write for oracles.

import { isDeepStrictEqual } from 'node:util';
import type {
  AppliedObject,
  Cluster,
  ConfigMapObject,
  DocumentEdit,
  ObjectKey,
  ObjectMeta,
  SecretObject,
  StaticExportObject,
} from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { FakeObjects } from './fake-objects.ts';

export interface Write {
  readonly kind: 'Secret' | 'ConfigMap' | 'Status' | 'Document';
  readonly name: string;
  /** False when the object was the same before. */
  readonly isChange: boolean;
  /** Applied over a foreign object, which has no owner reference. */
  readonly isTakeover?: boolean;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** The decoded content of stored data. */
const decoded = new WeakMap<object, Readonly<Record<string, string>>>();

const idOf = ({ namespace, name }: ObjectKey): string => `${namespace}/${name}`;

export class FakeCluster implements Cluster {
  readonly exports = new Map<string, StaticExportObject>();
  readonly secrets = new Map<string, SecretObject>();
  readonly configMaps = new Map<string, ConfigMapObject>();
  readonly writes: Write[] = [];
  readonly objects = new FakeObjects();
  /** The recent states of each object, for stale reads. */
  readonly past = new Map<string, StaticExportObject[]>();
  readonly pastSecrets = new Map<string, SecretObject[]>();
  readonly pastConfigMaps = new Map<string, ConfigMapObject[]>();
  #version = 100;

  create(key: ObjectKey, spec: unknown): StaticExportObject {
    this.#collectGarbage();
    const object = {
      metadata: { ...this.#meta(key), generation: 1 },
      spec,
      status: { observedGeneration: -1 },
    };
    return this.#put(object);
  }

  /** A user's edit: the generation changes with the spec. */
  edit(
    key: ObjectKey,
    change: (object: StaticExportObject) => {
      readonly spec?: unknown;
      readonly annotations?: Record<string, string>;
    },
  ): void {
    const before = this.exports.get(idOf(key));
    if (before === undefined) return;
    const { spec, annotations } = change(before);
    this.#put({
      ...before,
      spec: spec ?? before.spec,
      metadata: {
        ...before.metadata,
        resourceVersion: this.#next(),
        generation: (before.metadata.generation ?? 0) + (spec === undefined ? 0 : 1),
        annotations: { ...before.metadata.annotations, ...annotations },
      },
    });
  }

  /** Deletes the resource, and as the garbage collector does the objects that it owned. */
  remove(key: ObjectKey): void {
    this.exports.delete(idOf(key));
    this.past.delete(idOf(key));
    this.#collectGarbage();
  }

  /** Deletes objects whose owner no longer exists, including late writes for a deleted owner. */
  #collectGarbage(): void {
    const living = new Set([...this.exports.values()].map(({ metadata }) => metadata.uid));
    for (const objects of [this.secrets, this.configMaps]) {
      for (const [id, { metadata }] of objects) {
        const { ownerReferences } = metadata;
        const isOrphan = ownerReferences.length > 0 && !ownerReferences.some(({ uid }) => living.has(uid));
        if (isOrphan) objects.delete(id);
      }
    }
  }

  putSecret(
    key: ObjectKey,
    data: Readonly<Record<string, string>>,
    annotations?: Record<string, string>,
  ): void {
    const before = this.secrets.get(idOf(key))?.metadata;
    const metadata = before === undefined ? this.#meta(key) : { ...before, resourceVersion: this.#next() };
    this.#putSecret(key, {
      metadata: { ...metadata, annotations: annotations ?? metadata.annotations },
      data: encode(data),
    });
  }

  putConfigMap(
    key: ObjectKey,
    data: Readonly<Record<string, string>>,
    annotations: Record<string, string> = {},
  ): void {
    this.#putConfigMap(key, { metadata: { ...this.#meta(key), annotations }, data });
  }

  /** Whether a watch knows the object; a deletion is seen at once. */
  isWatched(key: ObjectKey): boolean {
    const object = this.exports.get(idOf(key));
    return object !== undefined && object.metadata.deletionTimestamp === undefined;
  }

  async readStaticExport(key: ObjectKey): Promise<StaticExportObject | undefined> {
    return this.exports.get(idOf(key));
  }

  async readSecret(key: ObjectKey): Promise<SecretObject | undefined> {
    return this.secrets.get(idOf(key));
  }

  async readConfigMap(key: ObjectKey): Promise<ConfigMapObject | undefined> {
    return this.configMaps.get(idOf(key));
  }

  async applySecret(object: AppliedObject): Promise<SecretObject> {
    const id = idOf(object.metadata);
    const before = this.secrets.get(id);
    refuseMoved(object, before);
    const data = encode(object.data);
    const isChange = before === undefined || !isDeepStrictEqual(decode(before.data), object.data);
    const isTakeover = before?.metadata.ownerReferences.length === 0;
    this.writes.push({ kind: 'Secret', name: object.metadata.name, isChange, isTakeover });
    const stored = { metadata: this.#applied(object, before?.metadata), data };
    this.#putSecret(object.metadata, stored);
    return stored;
  }

  async applyConfigMap(object: AppliedObject): Promise<void> {
    const id = idOf(object.metadata);
    const before = this.configMaps.get(id);
    refuseMoved(object, before);
    const isChange = before === undefined || !isDeepStrictEqual(before.data, object.data);
    const isTakeover = before?.metadata.ownerReferences.length === 0;
    this.writes.push({ kind: 'ConfigMap', name: object.metadata.name, isChange, isTakeover });
    this.#putConfigMap(object.metadata, {
      metadata: this.#applied(object, before?.metadata),
      data: object.data,
    });
  }

  async editDocument({ kind, key, dataKey, text, resourceVersion }: DocumentEdit): Promise<void> {
    const found = kind === 'Secret' ? this.secrets.get(idOf(key)) : this.configMaps.get(idOf(key));
    if (found === undefined) throw new ClusterError('NotFound', 'no such object');
    if (found.metadata.resourceVersion !== resourceVersion) throw new ClusterError('Conflict', 'it moved');
    const metadata = { ...found.metadata, resourceVersion: this.#next() };
    const secret = this.secrets.get(idOf(key));
    const configMap = this.configMaps.get(idOf(key));
    if (kind === 'Secret' && secret !== undefined) {
      const isChange = decode(secret.data)[dataKey] !== text;
      this.writes.push({ kind: 'Document', name: key.name, isChange });
      this.#putSecret(key, { metadata, data: { ...secret.data, ...encode({ [dataKey]: text }) } });
    } else if (configMap !== undefined) {
      this.writes.push({ kind: 'Document', name: key.name, isChange: configMap.data[dataKey] !== text });
      this.#putConfigMap(key, { metadata, data: { ...configMap.data, [dataKey]: text } });
    }
  }

  async writeStatus(object: StaticExportObject, next: object): Promise<StaticExportObject> {
    const stored = this.exports.get(idOf(object.metadata));
    if (stored === undefined) throw new ClusterError('NotFound', 'no such object');
    if (stored.metadata.resourceVersion !== object.metadata.resourceVersion) {
      throw new ClusterError('Conflict', 'it moved');
    }
    const isChange = !isDeepStrictEqual(stored.status, next);
    this.writes.push({ kind: 'Status', name: object.metadata.name, isChange });
    return this.#put({
      ...stored,
      status: frozen(next),
      metadata: { ...stored.metadata, resourceVersion: this.#next() },
    });
  }

  #put(object: StaticExportObject): StaticExportObject {
    const id = idOf(object.metadata);
    this.exports.set(id, object);
    remember(this.past, id, object);
    return object;
  }

  #putSecret(key: ObjectKey, secret: SecretObject): void {
    this.secrets.set(idOf(key), secret);
    remember(this.pastSecrets, idOf(key), secret);
  }

  #putConfigMap(key: ObjectKey, configMap: ConfigMapObject): void {
    this.configMaps.set(idOf(key), configMap);
    remember(this.pastConfigMaps, idOf(key), configMap);
  }

  #applied(object: AppliedObject, before: ObjectMeta | undefined): ObjectMeta {
    return {
      ...(before ?? this.#meta(object.metadata)),
      ...object.metadata,
      labels: { ...before?.labels, ...object.metadata.labels },
      resourceVersion: this.#next(),
    };
  }

  #meta({ namespace, name }: ObjectKey): ObjectMeta {
    const uid = `uid-${this.#next()}`;
    return {
      namespace,
      name,
      uid,
      resourceVersion: this.#next(),
      annotations: {},
      labels: {},
      ownerReferences: [],
    };
  }

  /** Changes with every change of any object. */
  version(): number {
    return this.#version;
  }

  #next(): string {
    this.#version += 1;
    return String(this.#version);
  }
}

function refuseMoved(
  { readVersion }: AppliedObject,
  stored: { readonly metadata: ObjectMeta } | undefined,
): void {
  if (readVersion !== stored?.metadata.resourceVersion) throw new ClusterError('Conflict', 'it moved');
}

export function encode(data: Readonly<Record<string, string>>): Readonly<Record<string, Uint8Array>> {
  const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, encoder.encode(text)]));
  decoded.set(encoded, data);
  return encoded;
}

function remember<T>(past: Map<string, T[]>, id: string, state: T): void {
  const states = past.get(id) ?? [];
  states.push(state);
  if (states.length > 4) states.shift();
  past.set(id, states);
}

/** Kept as given: stored objects must not change. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const one of Object.values(value)) frozen(one);
  return value;
}

/** Stored data never changes in place, so it is decoded once. */
export function decode(data: Readonly<Record<string, Uint8Array>>): Readonly<Record<string, string>> {
  const known = decoded.get(data);
  if (known !== undefined) return known;
  const texts = Object.fromEntries(Object.entries(data).map(([key, bytes]) => [key, decoder.decode(bytes)]));
  decoded.set(data, texts);
  return texts;
}
