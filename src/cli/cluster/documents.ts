// What `-o json` and `-o yaml` print about StaticExports of a cluster: the fields of each kind, in addition to `apiVersion` and `kind`.
// Refuses use at run time, because a command's start would pay for zod.

import * as z from 'zod';
import { conditionSchema, versionSchema } from '#operator/staticexport/status-schema.ts';
import { targetKinds } from '#platform/wire/cluster.ts';
import type { ResultOf } from '../context.ts';
import { countSchema, digest, exportVersion, instantSchema, pages } from '../output/common-schemas.ts';

const exportItem = {
  namespace: z.string(),
  name: z.string(),
  domain: z.string().describe('Absent if the spec has only a project id, or is not valid.').optional(),
  projectId: z.string().describe('Of the project-scoped form of the export API.').optional(),
  ready: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition Ready.'),
  reason: z.string().describe('Reason of the condition Ready.'),
  exported: z.string().describe('Reason of the condition Exported.').optional(),
  message: z.string().describe('Message of the condition Ready.'),
  suspended: z.boolean(),
  pinned: z.string().describe('Version or job id that spec.pin names.').optional(),
  version: exportVersion.optional(),
  digest: digest.optional(),
  pages: pages.optional(),
  ref: z.string().describe('Of the copy in the mirror.').optional(),
  linkExpirationTime: instantSchema.optional(),
  job: z
    .strictObject({
      id: z.string(),
      state: z.string().describe('As the export API reports it.').optional(),
      progress: z.int().min(0).max(100).describe('In percent.').optional(),
    })
    .optional(),
  candidate: exportVersion.describe('Version that a promotion gate holds.').optional(),
  nextExportTime: instantSchema.optional(),
  nextRefreshTime: instantSchema.optional(),
};

const treePod = {
  namespace: z.string(),
  name: z.string(),
  ready: z.boolean(),
  state: z
    .enum(['InStep', 'Behind', 'Ended', 'Unknown'])
    .describe('Whether it serves the published version. Ended: evicted or completed.'),
  version: exportVersion.describe('Served now.').optional(),
  digest: digest.describe('Served now.').optional(),
  serverVersion: z.string().describe('Version of the bundle server.').optional(),
  message: z.string().describe('Why it is not in step.').optional(),
};

const treeObject = {
  role: z.enum(['Key', 'Output', 'Target']),
  kind: z.enum(['Secret', 'ConfigMap', ...targetKinds, 'Git']),
  namespace: z.string(),
  name: z.string().describe('Of the object; of Git its repository, branch and file.'),
  state: z
    .enum(['Present', 'Missing', 'NotReadable', 'Remote'])
    .describe('Remote: in a git repository, which the operator alone reads.'),
  target: z.string().describe('Name of the target in spec.targets.').optional(),
  synced: z.boolean().describe('Of a target, as status reports it.').optional(),
  reason: z.string().describe('Of a target, as status reports it.').optional(),
  version: exportVersion.describe('Written into the target.').optional(),
  message: z.string().optional(),
  pods: z.array(z.strictObject(treePod)).describe('Pods that use it.'),
};

export const clusterDocuments = {
  StaticExportList: { items: z.array(z.strictObject(exportItem)) },
  StaticExportStatus: {
    ...exportItem,
    conditions: z.array(conditionSchema.strict()),
    next: z.array(z.string()).describe('Commands that help in this state.'),
  },
  VersionHistory: {
    versions: z
      .array(z.strictObject({ ...versionSchema.shape, active: z.boolean() }))
      .describe('The newest first.'),
  },
  StaticExportTree: {
    namespace: z.string(),
    name: z.string(),
    ready: exportItem.ready,
    reason: exportItem.reason,
    message: exportItem.message,
    version: exportVersion.optional(),
    digest: digest.optional(),
    ref: z.string().describe('Of the copy in the mirror.').optional(),
    linkExpirationTime: instantSchema.optional(),
    objects: z.array(z.strictObject(treeObject)).describe('The key, the outputs, then the targets.'),
    notReadable: z
      .array(z.strictObject({ namespace: z.string(), message: z.string() }))
      .describe('Namespaces whose pods are not readable.'),
  },
  EventList: {
    events: z
      .array(
        z.strictObject({
          type: z.string().describe('Normal or Warning.'),
          reason: z.string(),
          message: z.string(),
          count: countSchema.describe('How often it was seen.'),
          firstTime: instantSchema.optional(),
          lastTime: instantSchema.optional(),
          reporter: z.string().describe('The controller that reported it.'),
        }),
      )
      .describe('The newest last.'),
  },
  LogLines: {
    lines: z
      .array(
        z.strictObject({
          time: instantSchema,
          level: z.string(),
          message: z.string(),
          object: z.string().describe('<namespace>/<name> of the StaticExport.'),
          fields: z.record(z.string(), z.unknown()).describe('The other fields of the line.'),
        }),
      )
      .describe('The newest last.'),
  },
  StaticExportChange: {
    namespace: z.string(),
    name: z.string(),
    version: exportVersion.optional(),
    reason: z.string().describe('Reason of the condition Ready.'),
    changed: z
      .boolean()
      .describe('False where nothing was stored, or where request --wait found the content unchanged.'),
    requestedVersion: exportVersion.describe('Version that readers get then.').optional(),
    rejectedVersion: exportVersion.describe('Version that is never published.').optional(),
    next: z.array(z.string()).describe('Commands that help in this state.').optional(),
    token: z.string().describe('Of the request, as status repeats it.').optional(),
    patch: z.record(z.string(), z.unknown()).describe('The change as a merge patch (RFC 7386).').optional(),
    manager: z.string().describe('What manages the object and would revert the change.').optional(),
  },
};

export type StaticExportAnswer<K extends keyof typeof clusterDocuments> = ResultOf<
  typeof clusterDocuments,
  K
>;
