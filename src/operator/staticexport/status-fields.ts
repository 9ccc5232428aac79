// The kinds of fields that all parts of the status share. Invariant: each has a bound, so that a status stays far below
// the largest object that the Kubernetes API server stores.

import * as z from 'zod';

export const statusText = (maxLength: number) => z.string().max(maxLength);
export const statusCount = z.int().min(0);
export const statusInstant = z.string().max(40).meta({ format: 'date-time' });
export const versionText = statusText(63).describe(
  '<yyyymmdd>-<hhmmss>-<8 hex>, from the time when the operator observed the job complete.',
);
