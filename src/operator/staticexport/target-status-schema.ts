// The status of one target: what the operator wrote, what it found, and when it may write again. Invariant: it holds no
// link, and of values only versions, digests and references.

import * as z from 'zod';
import { statusCount, statusInstant, statusText, versionText } from './status-fields.ts';

export const writtenSchema = z
  .object({
    branch: statusText(100).describe('Branch that was pushed to: pullRequestBranch if the target has one.'),
    keyPath: z
      .array(statusText(100).describe('A key.'))
      .max(8)
      .describe('Keys that lead to the map which has version, digest and ref.'),
    keys: z
      .array(z.enum(['version', 'digest', 'ref']).describe('A key.'))
      .max(3)
      .describe('Keys that were written.'),
  })
  .describe(
    'Of Git: where the operator last wrote the version, or found it. A change of the spec or a push of another version ends it.',
  );

export const targetStatusSchema = z
  .object({
    name: statusText(63).describe('Name of the target in spec.targets.'),
    type: statusText(32).describe('Type of the target in spec.targets.').optional(),
    object: statusText(640).describe(
      'The object that it names: <kind>/<namespace>/<name>, and the key of Values. Of Git: Git/<repository>@<branch>:<path>.',
    ),
    synced: z
      .boolean()
      .describe('Whether the target holds the published version and its rollout is complete.'),
    reason: statusText(64).describe('Reason in CamelCase.'),
    message: statusText(1024).describe('What to do about it.').optional(),
    lastTransitionTime: statusInstant.describe('Time of the last change of the reason.').optional(),
    heldVersion: statusText(63).describe('Version that the target held when it was last read.').optional(),
    changes: z
      .array(
        z
          .object({
            key: statusText(64).describe('Key that the operator would write.'),
            value: statusText(1024)
              .describe('Its value, if it is a version, digest or reference.')
              .optional(),
          })
          .describe('One key.'),
      )
      .max(5)
      .describe('In mode DryRun: what the operator would write.')
      .optional(),
    version: versionText.describe('Version that the operator last wrote.').optional(),
    ref: statusText(1024)
      .describe('Reference that the operator last wrote, for targets that ask for it.')
      .optional(),
    writeTime: statusInstant.describe('Time when the operator last wrote it.').optional(),
    written: writtenSchema.optional(),
    linkIssueTime: statusInstant
      .describe('Issue time of the link that the operator last wrote, for targets that ask for the link.')
      .optional(),
    revertTimes: z
      .array(statusInstant.describe('Time of a revert.'))
      .max(3)
      .describe('Times when another client reverted the write.')
      .optional(),
    contestedGeneration: statusCount
      .describe('Generation at which writing stopped because the target is contested.')
      .optional(),
    failures: statusCount.describe('Number of failed writes in a row.').optional(),
    retryTime: statusInstant.describe('No write before this time.').optional(),
  })
  .describe('State of one entry of spec.targets.');
