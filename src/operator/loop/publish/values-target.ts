// Reads and writes the object of a `Values` target: one key of a ConfigMap or Secret that holds a YAML document.
// Invariant: text that would not encode to the same bytes is never edited.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import type { WantedValuesTarget } from '#operator/staticexport/wanted.ts';
import { givenKeys } from '#operator/targets/target-plan.ts';
import type { ConfigMapObject, SecretObject } from '#platform/wire/cluster.ts';
import type { TargetContext } from '../context.ts';
import { entryOf } from '../gather.ts';
import { type FoundTarget, unlessHidden, wantedKeys } from './found-target.ts';

/** No replacement characters, no lost byte order mark. */
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** @returns `undefined` for an object that does not exist or is forbidden to read */
export async function findValuesTarget(
  target: WantedValuesTarget,
  published: PublishedBundle,
  { cluster }: TargetContext,
  signal: AbortSignal,
): Promise<FoundTarget | undefined> {
  const { namespace, name, objectKind, dataKey, writesLink } = target;
  const { link } = published;
  const key = { namespace, name };
  const found = await unlessHidden<ConfigMapObject | SecretObject>(
    objectKind === 'ConfigMap' ? cluster.readConfigMap(key, signal) : cluster.readSecret(key, signal),
  );
  if (found === undefined) return undefined;
  const { metadata } = found;
  const content = textOf(entryOf<string | Uint8Array>(found.data, dataKey), dataKey);
  const wanted = {
    enabled: true,
    ...givenKeys(wantedKeys(target, published)),
    ...(writesLink && link !== undefined && { bundleUrl: link.url }),
  } as const;
  return {
    metadata,
    work:
      'code' in content
        ? { kind: 'planned', plan: { outcome: 'refused', ...content } }
        : { kind: 'document', task: { type: 'Values', text: content.text, wanted } },
    rollout: { state: 'complete' },
    held: undefined,
    write: async (text, aborted) => {
      const { resourceVersion } = metadata;
      await cluster.editDocument({ kind: objectKind, key, dataKey, text, resourceVersion }, aborted);
      return 'written';
    },
  };
}

function textOf(
  value: string | Uint8Array | undefined,
  dataKey: string,
): { readonly text: string } | { readonly code: string; readonly message: string } {
  if (value === undefined) return { code: 'NoSuchKey', message: `it has no key ${dataKey}` };
  if (typeof value === 'string') return { text: value };
  try {
    return { text: strictUtf8.decode(value) };
  } catch {
    return { code: 'NotUtf8', message: `the value of ${dataKey} is not UTF-8 text` };
  }
}
