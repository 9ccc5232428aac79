// What the loop knows of a target's object: its plan or the task of one, what follows from its values, and how an edit is
// written. Owns types, and the rule for objects that may not be read.

import type { PublishedBundle } from '#bundle/published-bundle.ts';
import { clusterPolicies } from '#operator/reconcile/failure-policy.ts';
import type { WantedTarget } from '#operator/staticexport/wanted.ts';
import type { ObjectPlan, Rollout, TargetTask, WantedKeys } from '#operator/targets/target-plan.ts';
import type { ObjectMeta } from '#platform/wire/cluster.ts';
import { ClusterError } from '#platform/wire/cluster-error.ts';

export interface FoundTarget {
  readonly metadata: ObjectMeta;
  /** A task for the planner's thread, or the plan of what needs none. */
  readonly work:
    | { readonly kind: 'document'; readonly task: TargetTask }
    | { readonly kind: 'planned'; readonly plan: ObjectPlan };
  readonly rollout: Rollout;
  /** The version that it holds, printable. */
  readonly held: string | undefined;
  /**
   * @param text the planned document, for a task
   * @returns `released` if the operator only let go of keys that it shared
   * @throws {ClusterError} `FieldConflict`, `Conflict` when the object changed since it was read, and others
   */
  write(text: string, signal: AbortSignal): Promise<'written' | 'released'>;
  /** The values need a sync that only a request starts. */
  readonly sync?: {
    /** The last one failed, so this one waits for its back-off. */
    readonly isRepeated: boolean;
    /** @throws {ClusterError} `Invalid` if another sync may have started since the object was read */
    request(signal: AbortSignal): Promise<void>;
  };
  /** What to do where the apply found another manager. */
  readonly remedyOf?: (managers: readonly string[]) => string;
}

export function wantedKeys(
  { writesVersion, writesDigest, writesRef }: WantedTarget,
  { version, digest, ref }: PublishedBundle,
): WantedKeys {
  return {
    version: writesVersion ? version : undefined,
    digest: writesDigest ? digest : undefined,
    ref: writesRef ? ref : undefined,
  };
}

/** @returns `undefined` for an object that does not exist or is forbidden to read */
export async function unlessHidden<T>(read: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ClusterError && clusterPolicies[error.code].hidesTarget) return undefined;
    throw error;
  }
}
