// Reads and writes the Argo CD Application of a target by JSON Patch, and reads its owner first. Invariant: keys that an
// owner declares and does not ignore are never written, because the owner would revert them at its next sync.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { fieldManager } from '#operator/staticexport/names.ts';
import type { WantedApplicationTarget } from '#operator/staticexport/wanted.ts';
import {
  applicationRollout,
  applicationVersion,
  findApplicationValues,
  keyPaths,
  missingSync,
  patchValuesObject,
  patchValuesText,
  pointerAt,
  requestSync,
} from '#operator/targets/application.ts';
import {
  type ApplicationOwner,
  findApplicationOwner,
  isDeclared,
  isIgnored,
  ownerRemedy,
} from '#operator/targets/application-owner.ts';
import { givenKeys } from '#operator/targets/target-plan.ts';
import type { ForeignObject } from '#platform/wire/cluster.ts';
import type { TargetContext } from '../context.ts';
import { type FoundTarget, unlessHidden, wantedKeys } from './found-target.ts';

/** @returns `undefined` for an object that does not exist or is forbidden to read */
export async function findApplicationTarget(
  target: WantedApplicationTarget,
  published: PublishedBundle,
  { objects }: TargetContext,
  signal: AbortSignal,
): Promise<FoundTarget | undefined> {
  const { namespace, name } = target;
  const key = { namespace, name };
  const found = await unlessHidden(objects.readForeign('Application', key, signal));
  if (found === undefined) return undefined;
  const { metadata, content } = found;
  const wanted = wantedKeys(target, published);
  const values = findApplicationValues(content, target.source, wanted);
  if (values.kind === 'refused') {
    const { code, message } = values;
    return unwritable(found, { outcome: 'refused', code, message });
  }
  const { path } = values;
  const isText = values.kind === 'text';
  const keys = keyPaths(isText, wanted);
  const isInSync = values.kind === 'object' && values.plan.outcome === 'in-sync';
  const owner = findApplicationOwner(metadata);
  if (!isInSync && isDeclared(found, owner, path, keys)) {
    const pointers = keys.map((below) => pointerAt(path, below));
    if (owner === undefined || !(await isLeftToOthers(owner, found, pointers, objects, signal))) {
      return unwritable(found, { outcome: 'owned', message: ownerRemedy(owner, key, pointers) });
    }
  }
  const syncing = target.requestsSync ? requestSync(content, fieldManager) : [];
  const missing = syncing.length > 0 ? missingSync(content, path) : undefined;
  const edit = { kind: 'Application', key, uid: metadata.uid } as const;
  return {
    metadata,
    work:
      values.kind === 'text'
        ? { kind: 'document', task: { type: 'Values', text: values.text, wanted: givenKeys(wanted) } }
        : { kind: 'planned', plan: values.plan },
    rollout: applicationRollout(content, path),
    held: isText ? undefined : applicationVersion(content, path),
    write: async (text, aborted) => {
      const edits =
        values.kind === 'text'
          ? patchValuesText(content, path, values.text, text)
          : patchValuesObject(content, path, wanted);
      await objects.patchForeign({ ...edit, operations: [...edits, ...syncing] }, aborted);
      return 'written';
    },
    ...(missing !== undefined && {
      sync: {
        isRepeated: missing === 'repeated',
        request: (aborted: AbortSignal) => objects.patchForeign({ ...edit, operations: syncing }, aborted),
      },
    }),
  };
}

function unwritable(
  { metadata }: ForeignObject,
  plan: Extract<FoundTarget['work'], { kind: 'planned' }>['plan'],
): FoundTarget {
  return {
    ...{ metadata, work: { kind: 'planned', plan }, rollout: { state: 'complete' }, held: undefined },
    write: () => Promise.resolve('released'),
  };
}

/** An owner that may not be read is taken to keep its keys. */
async function isLeftToOthers(
  owner: ApplicationOwner,
  { metadata }: ForeignObject,
  pointers: readonly string[],
  objects: TargetContext['objects'],
  signal: AbortSignal,
): Promise<boolean> {
  const found = await unlessHidden(objects.readForeign(owner.kind, owner.key, signal));
  return isIgnored(owner, found, metadata, pointers);
}
