// Reads the object of a target, by the target's type, and writes those of `HelmRelease` and `Workload` by server-side apply
// of their own keys. Invariants: never forced, and never applied to an object other than the one that was read.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import type {
  WantedHelmReleaseTarget,
  WantedObjectTarget,
  WantedWorkloadTarget,
} from '#operator/staticexport/wanted.ts';
import { helmReleaseFields, ownedBy, readHelmRelease } from '#operator/targets/helm-release.ts';
import { readWorkload, workloadFields } from '#operator/targets/workload.ts';
import type { TargetContext } from '../context.ts';
import { findApplicationTarget } from './application-target.ts';
import { type FoundTarget, unlessHidden, wantedKeys } from './found-target.ts';
import { findValuesTarget } from './values-target.ts';

/** @returns `undefined` for an object that does not exist or is forbidden to read */
export function findTarget(
  target: WantedObjectTarget,
  published: PublishedBundle,
  context: TargetContext,
  signal: AbortSignal,
): Promise<FoundTarget | undefined> {
  switch (target.type) {
    case 'Values':
      return findValuesTarget(target, published, context, signal);
    case 'HelmRelease':
      return findHelmReleaseTarget(target, published, context, signal);
    case 'Application':
      return findApplicationTarget(target, published, context, signal);
    case 'Workload':
      return findWorkloadTarget(target, published, context, signal);
    default:
      return target satisfies never;
  }
}

async function findHelmReleaseTarget(
  target: WantedHelmReleaseTarget,
  published: PublishedBundle,
  { objects }: TargetContext,
  signal: AbortSignal,
): Promise<FoundTarget | undefined> {
  const { namespace, name } = target;
  const key = { namespace, name };
  const found = await unlessHidden(objects.readForeign('HelmRelease', key, signal));
  if (found === undefined) return undefined;
  const { metadata, content } = found;
  const wanted = wantedKeys(target, published);
  const { plan, rollout, held, isShared } = readHelmRelease(content, wanted);
  const edit = { kind: 'HelmRelease', key, uid: metadata.uid } as const;
  return {
    ...{ metadata, work: { kind: 'planned', plan }, rollout, held },
    remedyOf: (managers) => {
      const owned = ownedBy(content, managers, wanted);
      return owned.outcome === 'owned' ? owned.message : '';
    },
    write: async (_text, aborted) => {
      await objects.applyFields({ ...edit, fields: isShared ? {} : helmReleaseFields(wanted) }, aborted);
      return isShared ? 'released' : 'written';
    },
  };
}

async function findWorkloadTarget(
  target: WantedWorkloadTarget,
  published: PublishedBundle,
  { objects }: TargetContext,
  signal: AbortSignal,
): Promise<FoundTarget | undefined> {
  const { namespace, name, objectKind: kind } = target;
  const key = { namespace, name };
  const found = await unlessHidden(objects.readForeign(kind, key, signal));
  if (found === undefined) return undefined;
  const { metadata, content } = found;
  const wanted = wantedKeys(target, published);
  const { plan, rollout, held } = readWorkload(kind, content, wanted);
  return {
    ...{ metadata, work: { kind: 'planned', plan }, rollout, held },
    write: async (_text, aborted) => {
      await objects.applyFields({ kind, key, uid: metadata.uid, fields: workloadFields(wanted) }, aborted);
      return 'written';
    },
  };
}
