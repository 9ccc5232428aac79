// Reads and writes the object of a `Values` target: one key of a ConfigMap or Secret that holds a YAML document.
// Invariant: text that would not encode to the same bytes is never edited.

import type { PublishedBundle } from '../../bundle/published-bundle.ts';
import { clusterPolicies } from '../../reconcile/failure-policy.ts';
import type { WantedTarget } from '../../staticexport/wanted.ts';
import type { TargetTask } from '../../targets/target-plan.ts';
import type { ConfigMapObject, ObjectMeta, SecretObject } from '../../wire/cluster.ts';
import { ClusterError } from '../../wire/cluster-error.ts';
import type { TargetContext } from '../context.ts';
import { entryOf } from '../gather.ts';

/** The object of a target, what to plan for it, and how its edit is written. */
export interface FoundTarget {
  readonly metadata: ObjectMeta;
  readonly task: TargetTask | { readonly problem: string };
  /** @throws {ClusterError} `Conflict` when the object changed since it was read */
  write(text: string, signal: AbortSignal): Promise<void>;
}

/** No replacement characters, no lost byte order mark. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @returns `undefined` for an object that does not exist or is forbidden to read */
export async function findValuesTarget(
  { namespace, name, objectKind, dataKey, writesVersion, writesLink }: WantedTarget,
  { version, bundleUrl }: PublishedBundle,
  { cluster }: TargetContext,
  signal: AbortSignal,
): Promise<FoundTarget | undefined> {
  const key = { namespace, name };
  const found = await unlessHidden<ConfigMapObject | SecretObject>(
    objectKind === 'ConfigMap' ? cluster.readConfigMap(key, signal) : cluster.readSecret(key, signal),
  );
  if (found === undefined) return undefined;
  const { metadata } = found;
  const content = textOf(entryOf<string | Uint8Array>(found.data, dataKey), dataKey);
  const wanted = {
    enabled: true,
    ...(writesVersion && { version }),
    ...(writesLink && { bundleUrl }),
  } as const;
  return {
    metadata,
    task: 'problem' in content ? content : { type: 'Values', text: content.text, wanted },
    write: async (text, aborted) => {
      const { resourceVersion } = metadata;
      await cluster.editDocument({ kind: objectKind, key, dataKey, text, resourceVersion }, aborted);
    },
  };
}

async function unlessHidden<T>(read: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ClusterError && clusterPolicies[error.code].hidesTarget) return undefined;
    throw error;
  }
}

function textOf(
  value: string | Uint8Array | undefined,
  dataKey: string,
): { readonly text: string } | { readonly problem: string } {
  if (value === undefined) return { problem: `NoSuchKey: it has no key ${dataKey}` };
  if (typeof value === 'string') return { text: value };
  try {
    return { text: strictUtf8.decode(value) };
  } catch {
    return { problem: `NotUtf8: the value of ${dataKey} is not UTF-8 text` };
  }
}
