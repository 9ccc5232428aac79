// The plan of a target's edit, from its object as found and what is wanted of it. Pure. A new type of target is a member
// of these unions and a case of `planTarget`; its object is read and written by a case of `findTarget` in the loop, and
// the planner's thread gets its task from `target-planner.ts`. Refuses: reading or writing an object.

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

export type TargetPlan = ValuesPlan;

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
    one.wanted.version === other.wanted.version &&
    one.wanted.bundleUrl?.reveal() === other.wanted.bundleUrl?.reveal()
  );
}
