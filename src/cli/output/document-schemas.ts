// What `-o json` and `-o yaml` print, kind by kind: the published contract. `npm run generate` writes it as JSON Schema,
// and tests check each document that a command prints. Refuses: use at run time, because a command's start would pay for
// zod. Invariant: a later version adds fields and kinds, and changes none.

import * as z from 'zod';
import { reportFields } from '#conversations/gaps/report-schema.ts';
import { conditionSchema, versionSchema } from '#operator/staticexport/status-schema.ts';
import { archive, countSchema, digest, instantSchema, pages, pathSchema } from './common-schemas.ts';
import { conversationFields } from './conversation-schemas.ts';
import { outputApiVersion } from './format.ts';
import { kitFieldSchemas } from './kit-schemas.ts';

const version = z
  .string()
  .max(63)
  .describe('<yyyymmdd>-<hhmmss>-<8 hex>: names the export, and its content.');
const code = z.string().min(1).describe('In CamelCase. Scripts can match it.');
const printablePath = z.string().describe('Path within the archive. Hidden characters are escaped.');

const notes = z
  .array(
    z.strictObject({
      ...{ code, count: countSchema, example: z.string() },
      paths: z.array(z.string()).describe('Of NotServed: the first hidden paths.').optional(),
    }),
  )
  .describe('What readers of the archive had to adapt or leave out, and what visitors will miss.');
const hiddenFiles = countSchema.describe('Number of files that a server does not show.');

const exportItem = {
  namespace: z.string(),
  name: z.string(),
  domain: z.string().describe('Absent where the spec is not valid.').optional(),
  ready: z.enum(['True', 'False', 'Unknown']).describe('Status of the condition Ready.'),
  reason: z.string().describe('Reason of the condition Ready.'),
  exported: z.string().describe('Reason of the condition Exported.').optional(),
  message: z.string().describe('Message of the condition Ready.'),
  suspended: z.boolean(),
  pinned: z.string().describe('Version or job id that spec.pin names.').optional(),
  version: version.optional(),
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
  candidate: version.describe('Version that a promotion gate holds.').optional(),
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
  version: version.describe('Served now.').optional(),
  digest: digest.describe('Served now.').optional(),
  serverVersion: z.string().describe('Version of the bundle server.').optional(),
  message: z.string().describe('Why it is not in step.').optional(),
};

const treeObject = {
  role: z.enum(['Key', 'Output', 'Target']),
  kind: z.enum([
    'Secret',
    'ConfigMap',
    'HelmRelease',
    'Application',
    'Deployment',
    'StatefulSet',
    'DaemonSet',
    'Git',
  ]),
  namespace: z.string(),
  name: z.string().describe('Of the object; of Git its repository, branch and file.'),
  state: z
    .enum(['Present', 'Missing', 'NotReadable', 'Remote'])
    .describe('Remote: in a git repository, which the operator alone reads.'),
  target: z.string().describe('Name of the target in spec.targets.').optional(),
  synced: z.boolean().describe('Of a target, as status reports it.').optional(),
  reason: z.string().describe('Of a target, as status reports it.').optional(),
  version: version.describe('Written into the target.').optional(),
  message: z.string().optional(),
  pods: z.array(z.strictObject(treePod)).describe('Pods that use it.'),
};

const patch = z.record(z.string(), z.unknown()).describe('The change as a merge patch (RFC 7386).');

/** The fields of each kind, in addition to `apiVersion` and `kind`. A new kind is one entry. */
const fields = {
  ExportResult: {
    domain: z.string(),
    jobId: z.string(),
    changed: z.boolean().describe('False where the content is the same as before.'),
    version,
    ...archive,
    path: pathSchema.optional(),
    written: z
      .array(z.string())
      .describe('Flags of the destinations that this run wrote. Others held the version.'),
  },
  RunResult: {
    version: version.optional(),
    digest: digest.optional(),
    pages: pages.optional(),
    paths: z.array(z.string()).describe('What --publish names.'),
    targets: z
      .array(
        z.strictObject({
          name: z.string(),
          object: z.string().describe('Git/<repository>@<branch>:<path>.'),
          synced: z.boolean(),
          reason: z.string(),
          message: z.string().describe('Such as the commit.').optional(),
        }),
      )
      .describe('The git targets of the manifest, if it has any.')
      .optional(),
  },
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
    version: version.optional(),
    digest: digest.optional(),
    ref: z.string().describe('Of the copy in the mirror.').optional(),
    linkExpirationTime: instantSchema.optional(),
    objects: z.array(z.strictObject(treeObject)).describe('The key, the outputs, then the targets.'),
    notReadable: z
      .array(z.strictObject({ namespace: z.string(), message: z.string() }))
      .describe('Namespaces whose pods are not readable.'),
  },
  DoctorReport: {
    passed: z.boolean().describe('False where a check has the state error.'),
    counts: z.strictObject({
      ok: countSchema,
      warning: countSchema,
      error: countSchema,
      skipped: countSchema,
    }),
    checks: z.array(
      z.strictObject({
        code: code.describe('Stable; src/cli/README.md lists all.'),
        state: z.enum(['ok', 'warning', 'error', 'skipped']),
        subject: z.string().describe('What is checked. Absent for the cluster as a whole.').optional(),
        message: z.string(),
        remedy: z.string().describe('What to do.').optional(),
        command: z.string().describe('The command at the end of the remedy.').optional(),
      }),
    ),
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
    version: version.optional(),
    reason: z.string().describe('Reason of the condition Ready.'),
    changed: z
      .boolean()
      .describe('False where nothing was stored, or where request --wait found the content unchanged.'),
    requestedVersion: version.describe('Version that readers get then.').optional(),
    rejectedVersion: version.describe('Version that is never published.').optional(),
    next: z.array(z.string()).describe('Commands that help in this state.').optional(),
    token: z.string().describe('Of the request, as status repeats it.').optional(),
    patch: patch.optional(),
    manager: z.string().describe('What manages the object and would revert the change.').optional(),
  },
  ArchiveSummary: {
    ...archive,
    hiddenFiles,
    notes,
    entries: z
      .array(
        z.strictObject({ path: printablePath, size: countSchema, sha256: digest.describe('Of the file.') }),
      )
      .optional(),
  },
  ArchiveVerdict: {
    valid: z.boolean(),
    ...z.strictObject(archive).partial().shape,
    notes: notes.optional(),
    code: code.optional(),
    message: z.string().optional(),
  },
  ArchiveDiff: {
    same: z.boolean(),
    old: z.strictObject(archive),
    new: z.strictObject(archive),
    added: z.array(printablePath),
    changed: z.array(printablePath),
    removed: z.array(printablePath),
  },
  ServedArchive: { ...archive, url: z.url() },
  PackedArchive: { ...archive, hiddenFiles, path: pathSchema },
  ...kitFieldSchemas,
  ...conversationFields,
  GapReport: reportFields,
  DemoResult: {
    claims: z
      .array(z.strictObject({ claim: z.string(), holds: z.boolean(), seconds: z.number().min(0) }))
      .describe('In their order. After one that does not hold, no other is checked.'),
    seconds: z.number().min(0).describe('Duration of all claims.'),
    version: version.optional(),
    digest: digest.optional(),
    url: z.url().describe('Address of the site while the demo ran.').optional(),
  },
  ProgramVersion: {
    version: z.string(),
    node: z.string().describe('Version of the Node that runs the program.'),
  },
  CompletionScript: { shell: z.enum(['bash', 'zsh', 'fish']), script: z.string() },
  Error: {
    code,
    message: z.string(),
    retryable: z.boolean().describe('True if the same command may succeed later, without a change.'),
    next: z.array(z.string()).describe('Commands or steps that help.'),
    version: version.describe('Version that the command would publish, where that is known.').optional(),
    written: z
      .array(z.string())
      .describe('Flags of the destinations that hold the version, where some do and others do not.')
      .optional(),
    lastFailure: z
      .strictObject({ code, message: z.string() })
      .describe('Why the last attempt before --timeout failed.')
      .optional(),
  },
} satisfies Readonly<Record<string, z.ZodRawShape>>;

/** By kind. Strict: a test finds a field that is not published. */
export const documentSchemas: ReadonlyMap<string, z.ZodObject> = new Map(
  Object.entries(fields).map(([kind, shape]) => [
    kind,
    z
      .strictObject({ apiVersion: z.literal(outputApiVersion), kind: z.literal(kind), ...shape })
      .meta({ id: kind }),
  ]),
);

/** JSON Schema (2020-12) of any document. It admits fields that a later version adds. */
export function documentsAsJsonSchema(): object {
  const { $schema, $defs, anyOf } = z.toJSONSchema(z.union([...documentSchemas.values()]), {
    override: ({ jsonSchema }) => {
      if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
  return {
    $schema,
    title: `Documents that static-export prints with -o json and -o yaml (${outputApiVersion})`,
    oneOf: anyOf,
    $defs,
  };
}
