// The kinds of fields that all parts of the status share. Invariant: each has a bound, so that a status stays far below
// the largest object that the Kubernetes API server stores.

import * as z from 'zod';

export const statusText = (maxLength: number) => z.string().max(maxLength);
export const statusCount = z.int().min(0);
export const statusInstant = z.string().max(40).meta({ format: 'date-time' });
export const versionText = statusText(63).describe(
  '<yyyymmdd>-<hhmmss>-<8 hex>, from the time when the operator observed the job complete.',
);

/** Path that the links of a job's pages begin with. */
export const basePathField = {
  basePath: statusText(256)
    .describe('Base path that the operator sent when it started the job. Absent if it sent none.')
    .optional(),
};
/** What was done to an archive after its check: see `wanted-transform.ts`. */
export const repairField = {
  repair: statusText(512)
    .describe(
      'Steps of spec.transform that were applied to the archive: rules of a repair, and search. Absent: none.',
    )
    .optional(),
  repairRevision: statusText(512)
    .describe('Revision of each of these steps in the operator that applied them. Absent: 1 of each.')
    .optional(),
};
/** Who made a job, and for which base path. */
export const issuerFields = {
  baseUrl: statusText(2048)
    .describe('Base URL of the export API that ran the job and issues its links.')
    .optional(),
  projectId: statusText(128)
    .describe('Project id of the job. Absent if the operator sent spec.domain.')
    .optional(),
  ...basePathField,
};
