// What a status keeps of failed calls: the back-off of each operation, and the key that was refused. Invariant: no key and
// no link; of an answer only an excerpt without secrets.

import * as z from 'zod';
import { statusCount, statusInstant, statusText } from './status-fields.ts';

const saidText = statusText(240).describe("Excerpt of the export API's own words, without secrets.");
const requestIdText = statusText(128).describe(
  "Request id of the export API's answer. Quote it to the export API's support.",
);

export const failureSchema = z.object({
  count: statusCount.describe('Number of failures in a row.'),
  lastFailureTime: statusInstant.describe('Time of the last failure.'),
  retryTime: statusInstant.describe('No retry before this time.'),
  reason: statusText(64).describe('Code of the last failure.'),
  message: statusText(512)
    .describe('Detail of the last failure, where the code alone is not enough.')
    .optional(),
  said: saidText.optional(),
  requestId: requestIdText.optional(),
  subject: statusText(512).describe('What failed: inputs of an export, or a job id.').optional(),
  request: statusText(256).describe('requestedAt token that already bypassed the back-off once.').optional(),
  refreshRequest: statusText(256)
    .describe('refreshRequestedAt token for which no link was issued. Used in failures.link.')
    .optional(),
  secretVersion: statusText(128)
    .describe('uid and resourceVersion of the Secret whose key got 403.')
    .optional(),
  inspectionFailures: statusCount
    .describe("Number of failed inspections of the job's archive. Used in failures.poll.")
    .optional(),
});

export const refusedKeySchema = z
  .object({
    secretVersion: statusText(128).describe('uid and resourceVersion of the Secret whose key was refused.'),
    reason: z
      .enum(['Unauthorized', 'Forbidden'])
      .describe('Answer of the export API: 401 Unauthorized or 403 Forbidden.'),
    refusalTime: statusInstant.describe('Time of the refusal.'),
    request: statusText(256)
      .describe('requestedAt token that already caused one attempt with this key.')
      .optional(),
    said: saidText.optional(),
    requestId: requestIdText.optional(),
  })
  .describe(
    'The key that the export API refused. After a 401 it is used again when its Secret changes, and with spec.api.projectId once a day; after a 403 also every 15m. A new requestedAt token causes one attempt.',
  );
