// A condition of a status, for the tests that compare two of them.

import type { Condition } from '#operator/staticexport/status-schema.ts';

export const condition = (type: string, status: Condition['status'], reason: string): Condition => ({
  type,
  status,
  reason,
  message: `${reason}.`,
  lastTransitionTime: '2026-01-05T12:00:00Z',
});
