// A cluster in a folder: the objects that a reconcile reads and writes, a file each, with resourceVersions, generations,
// conflicts and a separate status, as from a Kubernetes API server. Owns the folder's files, which are whole or as before
// and readable by their owner alone. Refuses: objects of other owners, and so their targets. Invariant: one process has
// the folder (its caller holds the lock), so that memory and files agree.

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import * as z from 'zod/mini';
import { apiVersion, resourceKind } from '#operator/staticexport/names.ts';
import type { Random } from '#platform/runtime/random.ts';
import type {
  AppliedObject,
  Cluster,
  ConfigMapObject,
  ForeignObjects,
  ObjectKey,
  ObjectMeta,
  SecretObject,
  StaticExportObject,
} from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';
import { readJson } from '#platform/wire/json-text.ts';
import { CliError } from '../cli-error.ts';
import { writeWhole } from '../output/destination.ts';

const texts = z.record(z.string(), z.string());
const metaSchema = z.object({
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  resourceVersion: z.string(),
  generation: z.exactOptional(z.int()),
  creationTimestamp: z.exactOptional(z.string()),
  annotations: texts,
  labels: texts,
  ownerReferences: z.array(
    z.object({
      apiVersion: z.string(),
      kind: z.string(),
      name: z.string(),
      uid: z.string(),
      controller: z.exactOptional(z.boolean()),
    }),
  ),
});
const storedSchema = z.object({
  apiVersion: z.string(),
  kind: z.enum([resourceKind, 'Secret', 'ConfigMap']),
  metadata: metaSchema,
  spec: z.optional(z.unknown()),
  status: z.optional(z.unknown()),
  data: z.optional(texts),
});
type StoredKind = z.infer<typeof storedSchema>['kind'];
type Stored = Omit<z.infer<typeof storedSchema>, 'metadata'> & { readonly metadata: ObjectMeta };

export interface FolderCluster extends Cluster {
  /** Stores a manifest as a user's `kubectl apply` does: a new spec is a new generation. */
  applyManifest(manifest: {
    readonly key: ObjectKey;
    readonly spec: unknown;
    readonly annotations: Readonly<Record<string, string>>;
    readonly labels: Readonly<Record<string, string>>;
  }): Promise<StaticExportObject>;
  /** A Secret of the user's, such as the API key. It stays in memory. */
  holdSecret(key: ObjectKey, data: Readonly<Record<string, Uint8Array>>): void;
}

/**
 * @param path created if absent, for its owner alone
 * @param write of one file; the default leaves it whole or as before
 * @throws {CliError} `StateInvalid`
 */
export async function openFolderCluster(
  path: string,
  random: Random,
  write = writeWhole,
): Promise<FolderCluster> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const objects = await readObjects(path);
  const held = new Map<string, SecretObject>();
  let version = Math.max(0, ...[...objects.values()].map(({ metadata }) => Number(metadata.resourceVersion)));

  const nextVersion = (): string => {
    version += 1;
    return String(version);
  };
  const store = async (object: Stored): Promise<Stored> => {
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: nextVersion() } };
    const file = join(path, fileNameOf(stored.kind, stored.metadata));
    await write(file, `${JSON.stringify(stored, undefined, 2)}\n`, 0o600).catch((cause: unknown) => {
      throw new ClusterError(
        'Unavailable',
        'the state folder cannot be written; check its permissions and space',
        {
          cause,
        },
      );
    });
    objects.set(idOf(stored.kind, stored.metadata), stored);
    return stored;
  };
  const find = (of: StoredKind, key: ObjectKey): Stored | undefined => objects.get(idOf(of, key));
  const apply = (of: 'Secret' | 'ConfigMap', object: AppliedObject): Promise<Stored> => {
    const { metadata, data, readVersion } = object;
    const before = find(of, metadata);
    if (readVersion !== before?.metadata.resourceVersion) throw conflict(of, metadata);
    const { labels, annotations, ownerReferences, namespace, name } = metadata;
    const base = before?.metadata ?? newMeta({ namespace, name }, random);
    // The reconcile alone writes here, so that what it no longer applies is removed, as by server-side apply.
    const next = { ...base, labels, annotations, ownerReferences };
    const isSame = before !== undefined && isDeepStrictEqual([before.data, before.metadata], [data, next]);
    return isSame ? Promise.resolve(before) : store({ apiVersion: 'v1', kind: of, metadata: next, data });
  };

  return {
    applyManifest: async ({ key, spec, annotations, labels }) => {
      const before = find(resourceKind, key);
      const base = before?.metadata ?? { ...newMeta(key, random), generation: 0 };
      const isSameSpec = isDeepStrictEqual(before?.spec, spec);
      const generation = (base.generation ?? 0) + (isSameSpec ? 0 : 1);
      const metadata = { ...base, generation, annotations, labels };
      if (before !== undefined && isDeepStrictEqual(before.metadata, metadata)) return exportOf(before);
      const status = before?.status ?? { observedGeneration: -1 };
      return exportOf(await store({ apiVersion, kind: resourceKind, metadata, spec, status }));
    },
    holdSecret: (key, data) => {
      held.set(idOf('Secret', key), { metadata: { ...newMeta(key, random), resourceVersion: 'held' }, data });
    },
    readStaticExport: async (key) => {
      const found = find(resourceKind, key);
      return found && exportOf(found);
    },
    readSecret: async (key) => {
      const found = find('Secret', key);
      return held.get(idOf('Secret', key)) ?? (found && secretOf(found));
    },
    readConfigMap: async (key) => {
      const found = find('ConfigMap', key);
      return found && configMapOf(found);
    },
    applySecret: async (object) => {
      if (held.has(idOf('Secret', object.metadata))) throw conflict('Secret', object.metadata);
      return secretOf(await apply('Secret', object));
    },
    applyConfigMap: async (object) => {
      await apply('ConfigMap', object);
    },
    editDocument: async ({ kind: of, key }) => {
      throw new ClusterError(
        'NotFound',
        `${of} ${key.namespace}/${key.name} does not exist without a cluster`,
      );
    },
    writeStatus: async (object, status) => {
      const before = find(resourceKind, object.metadata);
      if (before === undefined)
        throw new ClusterError('NotFound', `${resourceKind} ${object.metadata.name} does not exist`);
      if (before.metadata.resourceVersion !== object.metadata.resourceVersion) {
        throw conflict(resourceKind, object.metadata);
      }
      // What JSON leaves out, such as undefined, is left out here too: a restart must read the same.
      const stored: unknown = JSON.parse(JSON.stringify(status));
      if (isDeepStrictEqual(before.status, stored)) return exportOf(before);
      return exportOf(await store({ ...before, status: stored }));
    },
  };
}

const withoutCluster = (): Promise<never> =>
  Promise.reject(new ClusterError('NotFound', 'targets need a cluster; remove spec.targets'));

/** The folder of the objects cannot be written: a command that ends does not wait for a person. */
export function stateUnusable(error: ClusterError): CliError {
  return new CliError('usage', 'StateUnusable', error.message, { cause: error });
}

/** A folder has no objects of other owners, and the manifest refuses targets. */
export const noObjects: ForeignObjects = {
  readForeign: () => Promise.resolve(undefined),
  applyFields: withoutCluster,
  patchForeign: withoutCluster,
};

async function readObjects(path: string): Promise<Map<string, Stored>> {
  const names = (await readdir(path)).filter((name) => name.endsWith('.json') && !name.startsWith('.'));
  const found = await Promise.all(
    names.map(async (name) => {
      const read = storedSchema.safeParse(readJson(await readFile(join(path, name), 'utf8')));
      if (read.success) return read.data;
      const message = `${name} in the state folder is not an object of this program; restore it, or remove the folder`;
      throw new CliError('usage', 'StateInvalid', message);
    }),
  );
  return new Map(found.map((object) => [idOf(object.kind, object.metadata), object]));
}

const idOf = (of: string, { namespace, name }: ObjectKey): string => `${of}/${namespace}/${name}`;

/** Room for what a writer puts around a name, which file systems allow 255 bytes. */
const longestFileName = 200;

/** A namespace has no dot, so that no two objects share a name. */
function fileNameOf(of: StoredKind, { namespace, name }: ObjectKey): string {
  const plain = `${of}.${namespace}.${name}.json`;
  if (plain.length <= longestFileName) return plain;
  return `${of}.${createHash('sha256').update(plain).digest('hex')}.json`;
}

function newMeta(key: ObjectKey, random: Random): ObjectMeta {
  const { namespace, name } = key;
  const empty = { annotations: {}, labels: {}, ownerReferences: [] };
  return { namespace, name, uid: random.uuid(), resourceVersion: '', ...empty };
}

function conflict(of: string, { namespace, name }: ObjectKey): ClusterError {
  return new ClusterError('Conflict', `${of} ${namespace}/${name} was changed since it was read`);
}

function exportOf({ metadata, spec, status }: Stored): StaticExportObject {
  return { metadata, spec, status };
}

function secretOf({ metadata, data = {} }: Stored): SecretObject {
  const entries = Object.entries(data).map(([name, text]) => [name, Buffer.from(text)]);
  return { metadata, data: Object.fromEntries(entries) };
}

function configMapOf({ metadata, data = {} }: Stored): ConfigMapObject {
  return { metadata, data };
}
