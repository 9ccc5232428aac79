// The plan of a target's edit, from its object as found and what is wanted of it. Pure. A YAML document is planned by
// `planTarget` in the planner's thread; an object of the cluster by the file of its kind, which also reads its rollout.
// A new type of target is a member of `WantedTarget` and a case of `findTarget` in the loop. Refuses: reading or writing
// an object.

import { planValuesEdit, type ValuesPlan, type WantedValues } from './values.ts';

/** The inputs of a plan; the same inputs give the same plan. */
export type TargetTask = {
  readonly type: 'Values';
  /** The YAML document. */
  readonly text: string;
  readonly wanted: WantedValues;
};

/** What is wanted, without the object's document: small enough to keep. */
export type TargetWish = Pick<TargetTask, 'type' | 'wanted'>;

/** The plan of a document. */
export type TargetPlan = ValuesPlan;

/** A key as messages and dry runs name it, and its value unless that is a link. */
export interface KeyChange {
  readonly key: string;
  readonly value?: string;
}

/** The plan of an object of the cluster, whose keys are read without a thread. */
export type ObjectPlan =
  | { readonly outcome: 'in-sync' }
  | { readonly outcome: 'edit'; readonly changes: readonly KeyChange[] }
  /** The object cannot be edited; the message has the remedy. */
  | { readonly outcome: 'refused'; readonly code: string; readonly message: string }
  /** Another owner declares the keys; the message has what to paste. */
  | { readonly outcome: 'owned'; readonly message: string };

/** What follows from the values that an object holds. */
export type Rollout =
  | { readonly state: 'complete' }
  | {
      readonly state: 'in-progress' | 'awaiting-sync' | 'awaiting-merge' | 'paused' | 'failed';
      readonly message: string;
    };

/** Keys that any target may get, in the order in which they are written. A link goes only into documents of a Secret. */
export const keyNames = ['version', 'digest', 'ref'] as const;
export type KeyName = (typeof keyNames)[number];

/** What a target gets. */
export type WantedKeys = { readonly [name in KeyName]?: string | undefined };

/** The keys that are wanted, without the others. */
export type GivenKeys = { readonly [name in KeyName]?: string };

/** An object as found: its plan, its rollout, and the version that it holds. */
export interface ObjectFindings {
  readonly plan: ObjectPlan;
  readonly rollout: Rollout;
  readonly held: string | undefined;
}

export function givenKeys(wanted: WantedKeys): GivenKeys {
  const { version, digest, ref } = wanted;
  return {
    ...(version !== undefined && { version }),
    ...(digest !== undefined && { digest }),
    ...(ref !== undefined && { ref }),
  };
}

/** Never throws. */
export function planTarget(task: TargetTask): TargetPlan {
  switch (task.type) {
    case 'Values':
      return planValuesEdit(task.text, task.wanted);
    default:
      return task.type satisfies never;
  }
}

/** True if both wish for the same result, whatever their objects hold. */
export function isSameWish(one: TargetWish, other: TargetWish): boolean {
  return (
    one.type === other.type &&
    one.wanted.enabled === other.wanted.enabled &&
    keyNames.every((name) => one.wanted[name] === other.wanted[name]) &&
    one.wanted.bundleUrl?.reveal() === other.wanted.bundleUrl?.reveal()
  );
}
