// What a condition means to a person: fine, in need of somebody, or retried. Pure. The list of reasons that need manual
// action is the operator's own.

import { exportedReasons, stalledReasons } from '../../staticexport/reasons.ts';
import type { Paint } from '../output/paint.ts';

/** Of a condition, or of the parts of one that a view shows. */
interface Verdict {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

/** @returns `undefined` for a state that is neither good nor bad, such as an export that has not finished yet */
export function paintOf({ type, status, reason }: Verdict): Paint | undefined {
  if (type === 'Stalled') return status === 'True' ? 'bad' : undefined;
  if (type === 'Reconciling') return status === 'True' ? 'unsure' : undefined;
  if (status === 'True') return 'good';
  if (status !== 'False') return 'unsure';
  if (isWaiting.has(reason)) return undefined;
  return type === 'Ready' || needsAction(reason) ? 'bad' : 'unsure';
}

/** The reason of the condition Exported, where its status is not shown. */
export function paintOfExported(reason: string | undefined): Paint | undefined {
  if (reason === undefined || !(reason in exportedReasons)) return undefined;
  const isDone = reason === 'Promoted' || reason === 'Unchanged';
  return paintOf({ type: 'Exported', status: isDone ? 'True' : 'False', reason });
}

const isWaiting: ReadonlySet<string> = new Set(['Pending', 'NotPublished', 'Copying']);

const needsAction = (reason: string): boolean => reason in stalledReasons || actionReasons.has(reason);

/** Of other conditions than Stalled. */
const actionReasons: ReadonlySet<string> = new Set([
  'KeyMissing',
  'Expired',
  'Denied',
  'QuotaExceeded',
  'RepositoryMissing',
  'SecretMissing',
  'OwnedElsewhere',
  'RolloutFailed',
  'NotGranted',
  'Refused',
  'Contested',
  'Paused',
]);
