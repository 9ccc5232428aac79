// A condition before it is dated: type, status, reason and a bounded message. Owns the bound of messages. Refuses text that
// cannot be shown.

import type {
  ConditionType,
  ExportedReason,
  LinkReason,
  MirrorReason,
  ReadyReason,
  TargetReason,
} from '#operator/staticexport/reasons.ts';
import type { Condition } from '#operator/staticexport/status-schema.ts';
import { printable } from '#platform/wire/printable-text.ts';

/** A condition before it is dated. */
export interface UndatedCondition {
  readonly type: ConditionType;
  readonly status: Condition['status'];
  readonly reason: ReadyReason | ExportedReason | LinkReason | MirrorReason | TargetReason;
  readonly message: string;
}

/** The limit of every condition's message. */
export const longestConditionMessage = 1024;

export function undatedCondition(
  type: ConditionType,
  status: Condition['status'],
  reason: UndatedCondition['reason'],
  message: string,
): UndatedCondition {
  return { type, status, reason, message: printable(message, longestConditionMessage) };
}
