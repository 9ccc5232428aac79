// For each rule of conditions a status that breaks it, whole enough for the CRD: what shows that a judge of statuses
// judges. All are of generation 2.

import type { JudgedCondition, StoredStatus } from './kstatus-rules.ts';

export const condition = (type: string, more: Partial<JudgedCondition> = {}) => ({
  type,
  status: 'True',
  reason: 'Because',
  message: 'Because of it.',
  lastTransitionTime: '2026-01-05T12:00:00Z',
  observedGeneration: 2,
  ...more,
});
export const ready = condition('Ready');
export const notReady = condition('Ready', { status: 'False' });
const unknown = condition('Ready', { status: 'Unknown' });
export const status = (...conditions: readonly JudgedCondition[]): StoredStatus => ({
  observedGeneration: 2,
  conditions,
});

/** For each rule a status of generation 2 that breaks it, and what else cannot hold then. */
export const brokenStatuses: Readonly<Record<string, readonly [StoredStatus, ...(readonly string[])]>> = {
  'a resource that is Ready has no condition of trouble or work that is True': [
    status(ready, condition('Stalled')),
    'Ready is False while Stalled',
  ],
  'Ready is always there': [status(condition('Exported'))],
  'Ready is False while Reconciling': [status(unknown, condition('Reconciling'))],
  'Ready is False while Stalled': [status(unknown, condition('Stalled'))],
  'Reconciling and Stalled are never there together': [
    status(notReady, condition('Stalled'), condition('Reconciling')),
  ],
  'no generation is observed before it exists': [{ ...status(notReady), observedGeneration: 3 }],
  'Ready is not True for a generation that nobody has observed': [
    { observedGeneration: 1, conditions: [ready] },
    'while Ready, every condition is about the generation that the status is about',
  ],
  'while Ready, no condition is about an earlier generation': [
    status(ready, condition('Exported', { observedGeneration: 1 })),
    'while Ready, every condition is about the generation that the status is about',
  ],
  'while Ready, every condition is about the generation that the status is about': [
    status(ready, condition('Exported', { observedGeneration: 3 })),
  ],
  'Reconciling is not about an earlier generation than the status': [
    status(notReady, condition('Reconciling', { observedGeneration: 1 })),
  ],
  'Reconciling and Stalled are there only while they are True': [
    status(ready, condition('Stalled', { status: 'False' })),
  ],
  'a condition is there once': [status(ready, condition('Exported'), condition('Exported'))],
  'every condition has a reason in one CamelCase word': [
    status(ready, condition('Exported', { reason: 'not one word' })),
  ],
};
